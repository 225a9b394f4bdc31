use std::sync::atomic::AtomicUsize;

use super::*;

#[test]
fn seeds_are_numbers_and_ranges() {
    let seeds = |text: &str| text.parse::<Seeds>().map(|seeds| (seeds.each(), seeds.count()));
    assert_eq!(seeds("7"), Ok((7..=7, 1)));
    assert_eq!(seeds("1..50"), Ok((1..=50, 50)));
    assert_eq!(seeds("3..3"), Ok((3..=3, 1)));
    let all = format!("0..{}", u64::MAX);
    assert_eq!(seeds(&all).map(|(_, count)| count), Ok(1 << 64));
    for wrong in ["", "x", "-1", "1.5", "1..", "..5", "..", "5..1", "1...5", "1..=5", "1..2..3"] {
        assert!(seeds(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn results_come_in_order_whatever_is_done_first() {
    let items: Vec<usize> = (0..200).collect();
    let has_done = items.iter().map(|_| AtomicBool::new(false)).collect::<Vec<_>>();
    let [begun, ends] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let mut taken = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    let ended = pool.install(|| {
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            // Of two consecutive items the second finishes first; items after the last one taken
            // finish only after it.
            let may_end = || match item {
                102.. => ends.load(Ordering::Acquire) > 0,
                _ => item % 2 == 1 || has_done[item + 1].load(Ordering::Acquire),
            };
            while !may_end() {
                std::thread::yield_now();
            }
            has_done[*item].store(true, Ordering::Release);
            *item
        };
        in_order(&items, work, |item| {
            taken.push(item);
            if item < 100 {
                return ControlFlow::Continue(());
            }
            ends.store(1, Ordering::Release);
            ControlFlow::Break(item)
        })
    });
    assert_eq!(ended, ControlFlow::Break(100));
    assert_eq!(taken, items[..=100]);
    // Each other thread was at work on one of the rest, at most, and one of them on two.
    assert!(begun.into_inner() <= 101 + 8, "work was begun that nobody wants");
}

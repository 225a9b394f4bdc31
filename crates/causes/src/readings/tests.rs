use proptest::prelude::*;

use super::*;
use ssdlab_filesystem::BlockKind;

use crate::tasks::Causer;

fn completion(time_ns: u64, bytes: u64) -> CompletedWrite {
    let key = LedgerKey { causer: Causer::FILESYSTEM, kind: BlockKind::Data.into(), inode: None };
    CompletedWrite { time_ns, bytes, parts: vec![(key, bytes)] }
}

fn reading(at_ns: u64, written_bytes: u64) -> WrittenReading {
    WrittenReading { began_ns: at_ns, ended_ns: at_ns + 1000, written_bytes }
}

#[test]
fn a_completion_that_was_reported_before_a_reading_and_counted_after_it_is_in() {
    let (mut counter, mut ledger) = (CompletionMatcher::default(), AttributedWrites::default());
    counter.begin(reading(1_000_000_000, 100));
    // It was reported a millisecond before the reading, which does not include it.
    counter.enter(completion(999_000_000, 7), &mut ledger);
    counter.enter(completion(1_100_000_000, 20), &mut ledger);
    counter.set_next(reading(2_000_000_000, 127));
    let balance = counter.settle(&mut ledger).unwrap();
    assert!(balance.is_exact(), "{balance:?}");
    assert_eq!((balance.counter_bytes, ledger.bytes()), (27, 27));
}

#[test]
fn a_difference_is_one_stretch_s_only() {
    let (mut counter, mut ledger) = (CompletionMatcher::default(), AttributedWrites::default());
    counter.begin(reading(0, 0));
    counter.enter(completion(100_000_000, 10), &mut ledger);
    counter.set_next(reading(1_000_000_000, 15));
    assert!(!counter.settle(&mut ledger).unwrap().is_exact());
    counter.resume(&mut ledger);
    counter.enter(completion(1_500_000_000, 10), &mut ledger);
    counter.set_next(reading(2_000_000_000, 25));
    assert!(counter.settle(&mut ledger).unwrap().is_exact());
}

proptest! {
    /// Completions are reported before they are counted, and counted while readings are taken.
    #[test]
    fn whatever_a_reading_includes_is_found(
        gaps in prop::collection::vec((1..3_000_000_u64, 0..4_000_000_u64, 1..9_u64), 1..200),
        first in 0..300_000_000_u64,
        distance in 20_000_000..300_000_000_u64,
    ) {
        let mut at = 1_000_000_000;
        let mut counted_last = 0;
        let completions: Vec<(u64, u64, u64)> = gaps.into_iter().map(|(gap, delay, size)| {
            at += gap;
            // One queue: it is counted in order.
            counted_last = (at + delay).max(counted_last);
            (at, counted_last, size * 512)
        }).collect();
        let readings: Vec<WrittenReading> = [first, first + distance].into_iter().map(|at| {
            let at_ns = 900_000_000 + at;
            let counted = completions.iter().filter(|(_, counted, _)| *counted <= at_ns);
            reading(at_ns, counted.map(|(.., bytes)| bytes).sum())
        }).collect();
        let (mut counter, mut ledger) = (CompletionMatcher::default(), AttributedWrites::default());
        counter.begin(readings[0]);
        let mut rest = completions.iter().peekable();
        let mut sum = 0;
        for (index, next) in readings.iter().enumerate().skip(1) {
            counter.set_next(*next);
            let is_last = index + 1 == readings.len();
            let is_due = |own: &&(u64, u64, u64)| is_last || own.0 <= next.ended_ns;
            while let Some((at, _, bytes)) = rest.next_if(is_due) {
                counter.enter(completion(*at, *bytes), &mut ledger);
            }
            let balance = counter.settle(&mut ledger).unwrap();
            prop_assert!(balance.is_exact(), "{:?}", balance);
            sum += balance.counter_bytes;
            // What came later is in the rows of the next stretch.
            prop_assert_eq!(ledger.bytes(), sum);
            counter.resume(&mut ledger);
        }
    }
}

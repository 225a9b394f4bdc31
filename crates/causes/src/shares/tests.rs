use proptest::prelude::*;

use super::*;
use crate::tasks::{RunningTask, Tasks};

fn causers(count: u32) -> Vec<Causer> {
    let mut tasks = Tasks::default();
    (1..=count)
        .map(|thread| {
            let program = format!("p{thread}");
            tasks.add(&RunningTask {
                thread,
                process: thread,
                program,
                cgroup: "/".to_owned(),
                is_kernel: false,
            });
            tasks.causer_of(thread)
        })
        .collect()
}

fn parts(shares: &CauseShares, total: u64) -> Vec<(Causer, u64)> {
    let mut parts = Vec::new();
    shares.split(total, |causer, bytes| parts.push((causer, bytes)));
    parts.sort_unstable();
    parts
}

#[test]
fn whole_bytes_go_by_largest_remainder() {
    let [a, b, c] = causers(3)[..] else { panic!() };
    let mut shares = CauseShares::default();
    for (causer, weight) in [(a, 1), (b, 1), (c, 4)] {
        shares.add(causer, weight);
    }
    // 1.33, 1.33 and 5.33: the byte that is left goes to one of equal remainders.
    assert_eq!(parts(&shares, 8), [(a, 2), (b, 1), (c, 5)]);
    assert_eq!(parts(&CauseShares::default(), 8), []);
    assert_eq!(shares.largest(), Some(c));
}

proptest! {
    #[test]
    fn parts_add_up_and_are_within_a_byte_of_their_share(
        weights in prop::collection::vec(1..u64::MAX / 16, 1..8),
        total in 0..1_u64 << 50,
    ) {
        let mut shares = CauseShares::default();
        for (causer, weight) in causers(8).into_iter().zip(&weights) {
            shares.add(causer, *weight);
        }
        let parts = parts(&shares, total);
        prop_assert_eq!(parts.iter().map(|(_, bytes)| bytes).sum::<u64>(), total);
        let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        for ((_, bytes), weight) in parts.iter().zip(&weights) {
            let exact = u128::from(total) * u128::from(*weight) / sum;
            prop_assert!(u128::from(*bytes).abs_diff(exact) <= 1);
        }
    }
}

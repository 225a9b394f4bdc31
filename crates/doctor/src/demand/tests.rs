use super::DemandOutcome::{Met, Missed, Unclear};
use super::*;

fn outcomes(speed: SyncedSpeed) -> Vec<DemandOutcome> {
    speed.verdicts().iter().map(|verdict| verdict.outcome).collect()
}

#[test]
fn fast_slow_and_unclear_drives_get_their_verdicts() {
    let fast = SyncedSpeed {
        flush_p99_ns: 2e6,
        flushes: 2000,
        synced_per_s: 1500.0,
        deep_per_s: 90_000.0,
    };
    assert_eq!(outcomes(fast), [Met, Met, Met, Met]);
    let slow =
        SyncedSpeed { flush_p99_ns: 3e7, flushes: 200, synced_per_s: 40.0, deep_per_s: 90.0 };
    assert_eq!(outcomes(slow), [Missed, Missed, Missed, Missed]);
    let few = SyncedSpeed { flushes: 20, synced_per_s: 600.0, ..fast };
    assert_eq!(outcomes(few), [Unclear, Unclear, Met, Met]);
}

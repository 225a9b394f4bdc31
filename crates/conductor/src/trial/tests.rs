//! When a device's count voids a trial.

use ssdlab_host::meter::block::Counters;

use super::*;

fn measured(application_bytes: u64, written_bytes: u64) -> results::PhaseRecord {
    results::PhaseRecord {
        application_bytes: Some(application_bytes),
        device: Some(Counters { written_bytes, ..Counters::default() }),
        ..results::PhaseRecord::default()
    }
}

fn phase(action: Action) -> Phase {
    Phase::new("", action, 0)
}

#[test]
fn a_device_that_counts_less_than_was_synced_voids_the_trial() {
    let steps = |sync_bytes: u64| {
        let mut tally = Tally::default();
        tally.check(&phase(Action::Unpack), &measured(1000, 300), false).unwrap();
        tally.check(&phase(Action::Sync), &measured(0, sync_bytes), false)
    };
    assert!(steps(700).is_ok());
    assert!(matches!(steps(699), Err(Failure::Void(_))));
}

#[test]
fn what_was_deleted_again_need_not_reach_the_device() {
    let mut tally = Tally::default();
    tally.check(&phase(Action::Unpack), &measured(1000, 0), false).unwrap();
    tally.check(&phase(Action::Delete), &measured(0, 0), false).unwrap();
    assert!(tally.check(&phase(Action::Sync), &measured(0, 8), false).is_ok());
}

#[test]
fn compression_may_write_less() {
    let mut tally = Tally::default();
    tally.check(&phase(Action::Unpack), &measured(1000, 0), true).unwrap();
    assert!(tally.check(&phase(Action::Sync), &measured(0, 8), true).is_ok());
}

//! Smaller workloads are few, and lead to the smallest.

use super::fewer;
use crate::schedule::{Action, Phase, Workload};
use crate::versions::{Append, Replace, Synced};

fn workload() -> Workload {
    let append = Append { records: 60, sync_every: Some(5), think_ns: 0 };
    let replace = Replace { files: 5, rounds: 8, sync: Synced::Both, think_ns: 0 };
    let phase = |action| Phase::new("phase", action, 1);
    let phases = vec![Action::Sync, Action::Append(append), Action::Replace(replace)];
    Workload { phases: phases.into_iter().map(phase).collect(), ..Workload::default() }
}

/// Goes on with the first workload that is as wanted until there is none.
fn smallest(is_wanted: impl Fn(&Workload) -> bool) -> (Workload, u32) {
    let (mut found, mut tried) = (workload(), 0);
    let mut is_tried_and_wanted = |smaller: &Workload| {
        tried += 1;
        is_wanted(smaller)
    };
    loop {
        let next = found.smaller().find(&mut is_tried_and_wanted);
        let Some(next) = next else { return (found, tried) };
        found = next;
    }
}

#[test]
fn fewer_are_tried_from_one_on() {
    assert_eq!(fewer(60).collect::<Vec<_>>(), [1, 31, 46, 53, 57, 59]);
    assert_eq!(fewer(2).collect::<Vec<_>>(), [1]);
    assert_eq!(fewer(1).count() + fewer(0).count(), 0);
}

#[test]
fn what_is_not_needed_goes() {
    let (found, _) = smallest(|_| true);
    let [phase] = &found.phases[..] else { panic!("{found:?}") };
    let Action::Append(append) = &phase.action else { panic!("{phase:?}") };
    assert_eq!((append.records, append.sync_every), (1, Some(1)));
}

#[test]
fn what_is_needed_stays() {
    let needs = |workload: &Workload| {
        workload.phases.iter().any(|phase| match &phase.action {
            Action::Replace(work) => work.files >= 3 && work.rounds >= 2,
            _ => false,
        })
    };
    let (found, tried) = smallest(needs);
    let [phase] = &found.phases[..] else { panic!("{found:?}") };
    let Action::Replace(work) = &phase.action else { panic!("{phase:?}") };
    assert_eq!((work.files, work.rounds), (3, 2));
    assert!(tried < 30, "{tried}");
}

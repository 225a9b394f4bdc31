//! Smaller workloads are few, and lead to the smallest.

use ssdlab_operations::cuts::database::{DatabaseShape, TornPages};

use super::fewer;
use crate::database::Database;
use crate::schedule::{Action, Phase, Workload};
use crate::sequences::Sequences;
use crate::versions::{Append, Replace, ReplaceSync};

fn workload() -> Workload {
    let append = Append { records: 60, record_bytes: 500, sync_every: Some(5), think_ns: 0 };
    let replace = Replace { files: 5, rounds: 8, sync: ReplaceSync::Both, think_ns: 0 };
    let phase = |action| Phase::new("phase", action, 1);
    let phases = vec![Action::Sync, Action::Append(append), Action::Replace(replace)];
    Workload { phases: phases.into_iter().map(phase).collect(), ..Workload::default() }
}

fn with_database() -> Workload {
    let shape = DatabaseShape {
        page_bytes: 8192,
        table_pages: 8192,
        pages: 4,
        checkpoint_every: 200,
        torn_pages: TornPages::DoubleWrite,
    };
    let database = Action::Database(Database { shape, commits: 1000, think_ns: 0 });
    Workload { phases: vec![Phase::new("phase", database, 1)], ..Workload::default() }
}

/// Goes on with the first workload that is as wanted until there is none.
fn smallest(mut found: Workload, is_wanted: impl Fn(&Workload) -> bool) -> (Workload, u32) {
    let mut tried = 0;
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
    let (found, _) = smallest(workload(), |_| true);
    let [phase] = &found.phases[..] else { panic!("{found:?}") };
    let Action::Append(append) = &phase.action else { panic!("{phase:?}") };
    assert_eq!((append.records, append.sync_every), (1, Some(1)));
}

#[test]
fn sequences_of_two_operations_may_become_those_of_one() {
    let sequences = |operations| Workload {
        phases: vec![Phase::new("phase", Action::Sequences(Sequences { operations }), 1)],
        ..Workload::default()
    };
    assert_eq!(smallest(sequences(2), |_| true).0, sequences(1));
}

#[test]
fn what_is_needed_stays() {
    let needs = |workload: &Workload| {
        workload.phases.iter().any(|phase| match &phase.action {
            Action::Replace(work) => work.files >= 3 && work.rounds >= 2,
            _ => false,
        })
    };
    let (found, tried) = smallest(workload(), needs);
    let [phase] = &found.phases[..] else { panic!("{found:?}") };
    let Action::Replace(work) = &phase.action else { panic!("{phase:?}") };
    assert_eq!((work.files, work.rounds), (3, 2));
    assert!(tried < 30, "{tried}");
}

#[test]
fn a_database_stays_possible() {
    let (found, _) = smallest(with_database(), |_| true);
    let Action::Database(database) = &found.phases[0].action else { panic!("{found:?}") };
    let DatabaseShape { table_pages, pages, checkpoint_every, torn_pages, .. } = database.shape;
    assert_eq!((database.commits, pages, checkpoint_every), (1, 1, 1));
    assert_eq!((table_pages, torn_pages), (4, TornPages::DoubleWrite));
}

#[test]
fn a_database_is_shown_as_plans_write_it() {
    assert_eq!(
        with_database().phases[0].work(),
        "do = \"database\", database = { size = 67108864, page = 8192, pages = 4, \
         commits = 1000, checkpoint_every = 200, torn_pages = \"double write\", think = \"0s\" }"
    );
}

//! What a server commits is found again, on a real filesystem; what is torn or lost is not.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::database::{DatabaseShape, LOG_BLOCK_BYTES, TornPages};
use ssdlab_operations::cuts::{Damage, FileOperationStep, FileState, WatchedFile, WatchedFiles};
use ssdlab_plan::database::Database;
use ssdlab_plan::schedule::{Action, Phase};

use super::run;
use crate::history::TrialReporter;
use crate::versions::{lay_out, look, verify};
use crate::{PhaseContext, TrialEvent, WorkloadError};

fn work(torn_pages: TornPages) -> Database {
    let shape = DatabaseShape {
        page_bytes: 8192,
        table_pages: 64,
        pages: 3,
        checkpoint_every: 7,
        torn_pages,
    };
    Database { shape, commits: 24, think_ns: 0 }
}

#[test]
fn what_is_committed_is_promised_found_and_verified() {
    let kinds = [TornPages::Nothing, TornPages::FullPages, TornPages::DoubleWrite];
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let folder = folder.path();
    let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
    let databases = kinds.map(|kind| work(kind).shape).to_vec();
    let subjects = &WatchedFiles { databases, ..WatchedFiles::default() };
    lay_out(subjects, 5, place).unwrap();
    assert_eq!(look(subjects, folder), [FileState::whole(0); 3]);

    let told: Rc<RefCell<Vec<(u32, FileOperationStep)>>> = Rc::default();
    let operations = Rc::clone(&told);
    let teller = TrialReporter::new(move |happened| {
        let TrialEvent::FileOperation(operation) = happened else { panic!("{happened:?}") };
        operations.borrow_mut().push((operation.version, operation.step));
    });
    assert_eq!(run(&work(kinds[0]), &teller, place).unwrap().application_bytes, None);
    let each = [FileOperationStep::Begun, FileOperationStep::Done, FileOperationStep::Place];
    let all: Vec<_> = (1..=24).flat_map(|commit| each.map(|step| (commit, step))).collect();
    assert_eq!(*told.borrow(), all);

    // At least a block of the log for each of 24 commits, and three pages for each of the 21 before
    // the last checkpoint, of which some are changed twice.
    let least = |pages: u64| 24 * LOG_BLOCK_BYTES as u64 + pages * 8192;
    let full = run(&work(kinds[1]), &TrialReporter::default(), place).unwrap();
    assert!(full.application_bytes.unwrap() > least(2 * 40));
    let double = run(&work(kinds[2]), &TrialReporter::default(), place).unwrap();
    assert!(double.application_bytes.unwrap() > least(2 * 40));
    assert_eq!(double.counted.unwrap().operations, 24);
    assert_eq!(look(subjects, folder), [FileState::whole(24); 3]);

    let phases = kinds.map(|kind| Phase::new("d", Action::Database(work(kind)), 1));
    verify(&phases, place).unwrap();
    let more = Database { commits: 25, ..work(kinds[0]) };
    let says = |phase| match verify(&[Phase::new("d", Action::Database(phase), 1)], place) {
        Err(WorkloadError::Differs { path, how }) => format!("{path} {how}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(says(more), "database-nothing is at version 24 instead of 25");

    let table = folder.join(WatchedFile::Database(kinds[0]).name()).join("table");
    let table = fs::File::options().write(true).open(table).unwrap();
    table.write_all_at(&work(kinds[0]).shape.page(9, 23)[4096..], 9 * 8192 + 4096).unwrap();
    let torn = FileState { version: Some(24), fault: Some(Damage::Torn) };
    assert_eq!(look(subjects, folder)[0], torn);
    assert_eq!(says(work(kinds[0])), "database-nothing is torn");
    fs::remove_file(folder.join("database-full-pages/log")).unwrap();
    assert_eq!(look(subjects, folder)[1], FileState::faulty(Damage::Missing));
}

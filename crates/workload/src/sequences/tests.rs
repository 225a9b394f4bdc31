//! Sequences are performed as they are modelled, and found again.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::{
    Damage, FileOperation, FileOperationStep, FileState, Sequence, WatchedFile, WatchedFiles,
};
use ssdlab_plan::sequences::Sequences;

use super::{lay_out, run};
use crate::history::TrialReporter;
use crate::versions::look;
use crate::{PhaseContext, TrialEvent};

#[test]
fn every_sequence_ends_in_the_version_that_its_sync_promises() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let folder = folder.path();
    let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
    let subjects = WatchedFiles { sequences: 2, ..WatchedFiles::default() };
    lay_out(2, place).unwrap();
    let all = Sequence::all(2);
    assert_eq!(look(&subjects, folder), vec![FileState::whole(0); all.len()]);

    let told: Rc<RefCell<Vec<FileOperation>>> = Rc::default();
    let operations = Rc::clone(&told);
    let teller = TrialReporter::new(move |happened| {
        let TrialEvent::FileOperation(operation) = happened else { panic!("{happened:?}") };
        operations.borrow_mut().push(operation);
    });
    let done = run(Sequences { operations: 2 }, &teller, place).unwrap();
    assert_eq!(done.counted.unwrap().operations, all.len() as u64);
    let told = told.borrow();
    let promised = told.iter().filter(|operation| operation.step == FileOperationStep::Place);
    let promised: Vec<(WatchedFile, FileState)> =
        promised.map(|operation| (operation.of, FileState::whole(operation.version))).collect();
    let found = all.into_iter().map(WatchedFile::Sequence).zip(look(&subjects, folder));
    assert_eq!(found.collect::<Vec<_>>(), promised);

    fs::remove_dir_all(folder.join("create b, fsync")).unwrap();
    let missing = |found: &&FileState| found.fault == Some(Damage::Missing);
    assert_eq!(look(&subjects, folder).iter().filter(missing).count(), 1);
}

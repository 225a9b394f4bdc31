//! Operations on files are reported step by step, and their results found again.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::{
    Damage, FileOperation, FileOperationStep, FileState, WatchedFile, WatchedFiles,
};
use ssdlab_plan::versions::{Append, Replace, ReplaceSync};

use super::{TrialReporter, append, lay_out, look, replace};
use crate::{PhaseContext, TrialEvent};

#[test]
fn files_are_replaced_and_appended_to_as_told() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let folder = folder.path();
    let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
    let subjects = &WatchedFiles { replaced: 2, log: Some(100), ..WatchedFiles::default() };
    lay_out(subjects, 1, place).unwrap();
    assert_eq!(look(subjects, folder), [FileState::whole(0); 3]);

    let told: Rc<RefCell<Vec<FileOperation>>> = Rc::default();
    let operations = Rc::clone(&told);
    let teller = TrialReporter::new(move |happened| {
        let TrialEvent::FileOperation(operation) = happened else { panic!("{happened:?}") };
        operations.borrow_mut().push(operation);
    });
    let work = Replace { files: 2, rounds: 3, sync: ReplaceSync::Both, think_ns: 0 };
    let done = replace(&work, &teller, place).unwrap();
    assert_eq!((done.application_bytes, done.counted.unwrap().operations), (None, 6));
    let work = Append { records: 3, record_bytes: 100, sync_every: Some(2), think_ns: 0 };
    append(&work, &teller, place).unwrap();
    assert_eq!(look(subjects, folder), [FileState::whole(3); 3]);
    let elsewhere = tempfile::tempdir().unwrap();
    let unheard = PhaseContext { directory: elsewhere.path(), ..place };
    lay_out(subjects, 1, unheard).unwrap();
    let done = append(&work, &TrialReporter::default(), unheard).unwrap();
    assert_eq!(done.application_bytes, Some(300));
    assert_eq!(look(&WatchedFiles::default(), folder), []);

    let steps = |of: WatchedFile| -> Vec<(u32, FileOperationStep)> {
        let told = told.borrow();
        let of = told.iter().filter(|operation| operation.of == of);
        of.map(|operation| (operation.version, operation.step)).collect()
    };
    let each = [
        FileOperationStep::Contents,
        FileOperationStep::Begun,
        FileOperationStep::Done,
        FileOperationStep::Place,
    ];
    let all: Vec<_> = (1..=3).flat_map(|version| each.map(|step| (version, step))).collect();
    assert_eq!(steps(WatchedFile::Replaced(1)), all);
    let [begun, done, placed] =
        [FileOperationStep::Begun, FileOperationStep::Done, FileOperationStep::Place];
    let log = [(1, begun), (1, done), (2, begun), (2, done), (2, placed), (3, begun), (3, done)];
    assert_eq!(steps(WatchedFile::Log), log);

    fs::remove_file(folder.join(WatchedFile::Replaced(0).name())).unwrap();
    fs::write(folder.join(WatchedFile::Replaced(1).name()), "").unwrap();
    let faults: Vec<_> = look(subjects, folder).iter().map(|found| found.fault).collect();
    assert_eq!(faults, [Some(Damage::Missing), Some(Damage::Empty), None]);
}

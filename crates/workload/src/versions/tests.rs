//! Operations on files are reported step by step, and their results found again.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::{Deed, Fault, Found, Step, Subject, Subjects};
use ssdlab_plan::versions::{Append, Replace, Synced};

use super::{Teller, append, lay_out, look, replace};
use crate::{Happened, Place};

#[test]
fn files_are_replaced_and_appended_to_as_told() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let folder = folder.path();
    let place = Place { directory: folder, mounted_at: folder, commit: &[], rules };
    let subjects = &Subjects { replaced: 2, log: Some(100), ..Subjects::default() };
    lay_out(subjects, 1, place).unwrap();
    assert_eq!(look(subjects, folder), [Found::whole(0); 3]);

    let told: Rc<RefCell<Vec<Deed>>> = Rc::default();
    let deeds = Rc::clone(&told);
    let teller = Teller::new(move |happened| {
        let Happened::Deed(deed) = happened else { panic!("{happened:?}") };
        deeds.borrow_mut().push(deed);
    });
    let work = Replace { files: 2, rounds: 3, sync: Synced::Both, think_ns: 0 };
    let done = replace(&work, &teller, place).unwrap();
    assert_eq!((done.application_bytes, done.counted.unwrap().operations), (None, 6));
    let work = Append { records: 3, record_bytes: 100, sync_every: Some(2), think_ns: 0 };
    append(&work, &teller, place).unwrap();
    assert_eq!(look(subjects, folder), [Found::whole(3); 3]);
    let elsewhere = tempfile::tempdir().unwrap();
    let unheard = Place { directory: elsewhere.path(), ..place };
    lay_out(subjects, 1, unheard).unwrap();
    let done = append(&work, &Teller::default(), unheard).unwrap();
    assert_eq!(done.application_bytes, Some(300));
    assert_eq!(look(&Subjects::default(), folder), []);

    let steps = |of: Subject| -> Vec<(u32, Step)> {
        let told = told.borrow();
        let of = told.iter().filter(|deed| deed.of == of);
        of.map(|deed| (deed.version, deed.step)).collect()
    };
    let each = [Step::Contents, Step::Begun, Step::Done, Step::Place];
    let all: Vec<_> = (1..=3).flat_map(|version| each.map(|step| (version, step))).collect();
    assert_eq!(steps(Subject::Replaced(1)), all);
    let [begun, done, placed] = [Step::Begun, Step::Done, Step::Place];
    let log = [(1, begun), (1, done), (2, begun), (2, done), (2, placed), (3, begun), (3, done)];
    assert_eq!(steps(Subject::Log), log);

    fs::remove_file(folder.join(Subject::Replaced(0).name())).unwrap();
    fs::write(folder.join(Subject::Replaced(1).name()), "").unwrap();
    let faults: Vec<_> = look(subjects, folder).iter().map(|found| found.fault).collect();
    assert_eq!(faults, [Some(Fault::Missing), Some(Fault::Empty), None]);
}

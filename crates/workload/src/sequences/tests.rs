//! Sequences are performed as they are modelled, and found again.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::{Deed, Fault, Found, Sequence, Step, Subject, Subjects};
use ssdlab_plan::sequences::Sequences;

use super::{lay_out, run};
use crate::history::Teller;
use crate::versions::look;
use crate::{Happened, Place};

#[test]
fn every_sequence_ends_in_the_version_that_its_sync_promises() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let folder = folder.path();
    let place = Place { directory: folder, mounted_at: folder, commit: &[], rules };
    let subjects = Subjects { sequences: 2, ..Subjects::default() };
    lay_out(2, place).unwrap();
    let all = Sequence::all(2);
    assert_eq!(look(&subjects, folder), vec![Found::whole(0); all.len()]);

    let told: Rc<RefCell<Vec<Deed>>> = Rc::default();
    let deeds = Rc::clone(&told);
    let teller = Teller::new(move |happened| {
        let Happened::Deed(deed) = happened else { panic!("{happened:?}") };
        deeds.borrow_mut().push(deed);
    });
    let done = run(Sequences { operations: 2 }, &teller, place).unwrap();
    assert_eq!(done.counted.unwrap().operations, all.len() as u64);
    let told = told.borrow();
    let promised = told.iter().filter(|deed| deed.step == Step::Place);
    let promised: Vec<(Subject, Found)> =
        promised.map(|deed| (deed.of, Found::whole(deed.version))).collect();
    let found = all.into_iter().map(Subject::Sequence).zip(look(&subjects, folder));
    assert_eq!(found.collect::<Vec<_>>(), promised);

    fs::remove_dir_all(folder.join("create b, fsync")).unwrap();
    let missing = |found: &&Found| found.fault == Some(Fault::Missing);
    assert_eq!(look(&subjects, folder).iter().filter(missing).count(), 1);
}

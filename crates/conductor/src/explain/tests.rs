//! Only a sync that would have made something durable is tried, and often enough.

use ssdlab_operations::calls::{CallEffect, FileCall, Unsynced};
use ssdlab_plan::SyncRemedy;

use super::{cuts_for, site};

fn call(effect: CallEffect) -> FileCall {
    FileCall { name: "call".to_owned(), effect, error: None }
}

#[test]
fn a_sync_is_tried_where_it_has_something_to_do() {
    let path = "a.tmp".to_owned();
    let write = call(CallEffect::Write {
        path: path.clone(),
        offset_bytes: 0,
        length_bytes: 9,
        durable: false,
    });
    let sync = call(CallEffect::Sync { path: path.clone() });
    let rename = call(CallEffect::Names { path, to: Some("d/a".to_owned()) });
    let calls = [write.clone(), sync, rename.clone()];
    let left = Unsynced::after(&calls);
    let of =
        |remedy, left: &Unsynced, calls: &[FileCall]| site(remedy, left, calls).map(|(of, _)| of);
    let some = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(of(SyncRemedy::DirectoryAfterChange, &left, &calls), some(&[".", "d"]));
    assert_eq!(of(SyncRemedy::FileBeforeRename, &left, &calls), None);
    let calls = [write, rename];
    let left = Unsynced::after(&calls);
    assert_eq!(of(SyncRemedy::FileBeforeRename, &left, &calls), some(&["a.tmp"]));
    assert_eq!(of(SyncRemedy::FilesBeforeLine, &left, &calls), some(&["d/a", ".", "d"]));
    // What is made for the next time is not what is missing.
    let next = CallEffect::Names { path: "d/next".to_owned(), to: None };
    let next = FileCall { name: "open".to_owned(), ..call(next) };
    let renamed = calls[1].clone();
    let left = Unsynced::after(&[calls[0].clone(), renamed.clone(), next]);
    let (_, at) = site(SyncRemedy::DirectoryAfterChange, &left, &calls).unwrap();
    assert_eq!(at, Some(renamed));
}

#[test]
fn rare_findings_take_more_cuts() {
    assert_eq!(cuts_for(0.5), 20);
    assert!((300..400).contains(&cuts_for(0.02)));
}

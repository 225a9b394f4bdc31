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
    assert_eq!(of(SyncRemedy::DirectoryAfterChange, &left, &calls).as_deref(), Some("d"));
    assert_eq!(of(SyncRemedy::FileBeforeRename, &left, &calls), None);
    let calls = [write, rename];
    let left = Unsynced::after(&calls);
    assert_eq!(of(SyncRemedy::FileBeforeRename, &left, &calls).as_deref(), Some("d/a"));
    assert_eq!(of(SyncRemedy::FilesBeforeLine, &left, &calls).as_deref(), Some("d/a"));
}

#[test]
fn rare_findings_take_more_cuts() {
    assert_eq!(cuts_for(0.5), 20);
    assert!((300..400).contains(&cuts_for(0.02)));
}

//! What is unsynced is what was written or renamed since the last sync that covers it.

use super::{CallEffect, FileCall, Unsynced};

fn call(effect: CallEffect) -> FileCall {
    FileCall { name: "call".to_owned(), effect, error: None }
}

fn write(path: &str, offset_bytes: u64) -> FileCall {
    let path = path.to_owned();
    call(CallEffect::Write { path, offset_bytes, length_bytes: 10, durable: false })
}

fn names(path: &str, to: Option<&str>) -> FileCall {
    call(CallEffect::Names { path: path.to_owned(), to: to.map(str::to_owned) })
}

fn sync(path: &str) -> FileCall {
    call(CallEffect::Sync { path: path.to_owned() })
}

#[test]
fn a_rename_takes_what_is_unsynced_along_and_waits_for_its_directory() {
    let calls = [names("d/new", None), write("d/new", 0), write("d/new", 90)];
    let mut left = Unsynced::after(&calls);
    assert_eq!(left.files["d/new"], (0, 100));
    left.add(&names("d/new", Some("d/old")));
    assert_eq!(left.files.keys().collect::<Vec<_>>(), ["d/old"]);
    left.add(&sync("d/old"));
    assert!(left.files.is_empty());
    assert_eq!(left.names.len(), 2, "{left:?}");
    left.add(&sync("d"));
    assert!(left.is_empty());
}

#[test]
fn a_file_that_is_synced_is_there_and_a_failed_sync_is_none() {
    let mut left = Unsynced::after(&[names("log", None), write("log", 0)]);
    left.add(&FileCall { error: Some(5), ..sync("log") });
    assert!(!left.is_empty());
    left.add(&sync("log"));
    assert!(left.is_empty(), "{left:?}");
    left.add(&write("log", 5));
    left.add(&call(CallEffect::SyncAll));
    assert!(left.is_empty());
}

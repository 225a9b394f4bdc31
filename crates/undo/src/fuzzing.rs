//! The fuzzing entry point: the reader of undo journals, with invariants of accepted input.

use std::path::{Component, Path};

use super::Change;
use super::journal::parse;

/// The boot that journals are read in.
const BOOT: &str = "one";

/// Reads bytes as a journal; nothing is undone. Accepted input round-trips, loses its last change
/// where undoing truncates it, and undoes nothing above a folder that it names.
pub fn fuzz_journal(bytes: &[u8]) {
    let Ok(changes) = parse(bytes, BOOT) else { return };
    for (index, (offset, change)) in changes.iter().enumerate() {
        let cut = usize::try_from(*offset).expect("it lies in memory");
        assert_eq!(parse(&bytes[..cut], BOOT).expect("a part of a journal"), changes[..index]);
        let line = serde_json::to_vec(change).expect("a change is plain data");
        assert_eq!(&serde_json::from_slice::<Change>(&line).expect("it was just printed"), change);
        if change.check("1-dead").is_ok() {
            assert!(paths(change).iter().all(|path| !climbs(path)), "{change:?}");
        }
    }
}

fn climbs(path: &Path) -> bool {
    !path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
}

/// The paths that undoing a change writes to or removes.
fn paths(change: &Change) -> Vec<&Path> {
    match change {
        Change::Folder { path } | Change::Sysfs { path, .. } => vec![path],
        Change::Loop { device, .. } => vec![device],
        Change::Mount { target, .. } | Change::Served { target } => vec![target],
        Change::Trace { instance } => vec![instance],
        Change::Daemon { folders } => folders.iter().map(AsRef::as_ref).collect(),
        Change::Pool { .. } | Change::WriteCache { .. } => Vec::new(),
    }
}

//! The fuzzing entry point: the reader of undo journals, with invariants of accepted input.

use std::path::{Component, Path};

use super::Change;
use super::lines::{JournalContents, parse};

/// The boot that journals are read in, and whose they are.
pub(super) const BOOT: &str = "one";
pub(super) const MARKER: &str = "1-x";

/// Reads bytes as a journal; nothing is undone. Accepted input round-trips, loses its last change
/// where undoing truncates it, and undoes nothing above a folder that it names.
pub fn fuzz_journal(bytes: &[u8]) {
    let Ok(JournalContents { changes, .. }) = parse(bytes, BOOT, MARKER) else { return };
    for (index, (place, change)) in changes.iter().enumerate() {
        let cut = usize::try_from(place.offset).expect("it lies in memory");
        assert_eq!(
            parse(&bytes[..cut], BOOT, MARKER).expect("a part of a journal").changes,
            changes[..index]
        );
        let mut blanked = bytes.to_vec();
        blanked[cut..cut + place.bytes - 1].fill(b' ');
        let left = parse(&blanked, BOOT, MARKER).expect("a journal with an undone change").changes;
        assert!(left.iter().eq(changes.iter().filter(|(other, _)| other != place)));
        let line = serde_json::to_vec(change).expect("a change is plain data");
        assert_eq!(&serde_json::from_slice::<Change>(&line).expect("it was just printed"), change);
        assert!(paths(change).iter().all(|path| !climbs(path)), "{change:?}");
    }
}

fn climbs(path: &Path) -> bool {
    !path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
}

/// The paths that undoing a change writes to or removes.
fn paths(change: &Change) -> Vec<&Path> {
    match change {
        Change::Folder { path } | Change::Sysfs { path, .. } | Change::Tuning { path, .. } => {
            vec![path]
        }
        Change::Loop { device, .. } => vec![device],
        Change::Mount { target, .. }
        | Change::Served { target }
        | Change::Remount { target, .. } => vec![target],
        Change::Trace { instance } => vec![instance],
        Change::Daemon { folders } => folders.iter().map(AsRef::as_ref).collect(),
        Change::Pool { .. }
        | Change::Sysctl { .. }
        | Change::Tweak { .. }
        | Change::WriteCache { .. } => Vec::new(),
    }
}

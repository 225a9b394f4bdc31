//! A filesystem in memory, against which the lists of operations are tested.
//!
//! It knows only which paths are files and which are directories, and refuses what a filesystem
//! would refuse: a file without a parent, a read of what is not there. It also refuses what a
//! filesystem allows but no generator means, such as making a file that is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::random::mix;
use crate::workload::operation::Operation;

/// The files with their bytes, and the directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub files: BTreeMap<Arc<str>, u64>,
    pub directories: BTreeSet<Arc<str>>,
}

impl Model {
    /// Performs the operations and panics at the first that is not possible or not meant.
    pub(super) fn perform(&mut self, operations: &[Operation]) {
        for operation in operations {
            assert!(self.possible(operation), "not possible: {operation:?}");
        }
    }

    fn possible(&mut self, operation: &Operation) -> bool {
        match operation {
            Operation::MakeDir { path } => {
                self.can_make(path) && self.directories.insert(Arc::clone(path))
            }
            Operation::WriteFile { path, bytes, .. } => {
                self.can_make(path) && self.files.insert(Arc::clone(path), *bytes).is_none()
            }
            Operation::ReadFile { path } => self.files.contains_key(path),
            Operation::Remove { path } => self.files.remove(path).is_some(),
            Operation::ListDir { path } => self.directories.contains(path),
            Operation::Rename { from, to } => {
                let free = self.can_make(to);
                let bytes = self.files.remove(from);
                free && bytes
                    .is_some_and(|bytes| self.files.insert(Arc::clone(to), bytes).is_none())
            }
            Operation::Symlink { .. } | Operation::HardLink { .. } => false,
        }
    }

    /// Whether the path is free and valid and its parent is a directory.
    fn can_make(&self, path: &Arc<str>) -> bool {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent_exists = parent.is_empty() || self.directories.contains(parent);
        let free = !self.files.contains_key(path) && !self.directories.contains(path);
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let valid_name = !["", ".", ".."].contains(&name) && name.chars().all(allowed);
        parent_exists && free && valid_name && name.len() <= 255 && path.len() < 1000
    }
}

/// A number that any change to a list changes: lists too long to be written into a test are
/// pinned by it.
pub(super) fn fingerprint(operations: &[Operation]) -> u64 {
    let bytes = operations.iter().flat_map(|operation| format!("{operation:?}\n").into_bytes());
    bytes.fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

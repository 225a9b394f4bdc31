//! A model of the result of scripts, for the generators' tests.
//!
//! It refuses what a filesystem would refuse, and what no generator intends, such as replacing a
//! file by renaming another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ssdlab_operations::{Entry, Operation, Tree};

use super::random::mix;
use crate::script::Script;

/// The files with their bytes, and the directories.
#[derive(Clone, Debug, Default)]
pub(super) struct BuildModel {
    tree: Tree,
    pub files: BTreeMap<Arc<str>, u64>,
    pub directories: BTreeSet<Arc<str>>,
}

impl BuildModel {
    /// Performs a script; panics at the first impossible or unintended operation.
    pub(super) fn perform(&mut self, script: &Script) {
        for operation in &script.operations {
            if let Operation::Rename { to, .. } = operation {
                assert!(self.tree.find(to).is_none(), "replaces: {operation}");
            }
            assert!(self.tree.apply(operation).is_ok(), "not possible: {operation}");
        }
        (self.files, self.directories) = Default::default();
        for entry in self.tree.entries() {
            let path: Arc<str> = entry.path().to_string().into();
            assert!(path.len() < 1000 && path.chars().all(is_usual), "{path}");
            match entry {
                Entry::Directory { .. } => assert!(self.directories.insert(path)),
                Entry::File { size_bytes, .. } => {
                    assert_eq!(self.files.insert(path, size_bytes), None);
                }
                Entry::Symlink { .. } | Entry::Link { .. } => panic!("{path}"),
            }
        }
    }
}

fn is_usual(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./".contains(c)
}

/// A hash of a script: it pins scripts that are too long to be part of a test.
pub(super) fn fingerprint(script: &Script) -> u64 {
    let steps = script.steps().map(|(operation, content)| format!("{operation} {content:?}\n"));
    steps.flat_map(String::into_bytes).fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

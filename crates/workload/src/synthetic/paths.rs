//! The files that a script leaves, in random order.

use std::collections::BTreeSet;

use ssdlab_operations::{Operation, RelativePath};

use super::random::{RandomPurpose, RandomStream};
use crate::script::Script;

/// The paths of the files that a script makes, which removes and renames none; in an order drawn
/// from the seed. A file with several names is there by each.
#[must_use]
pub fn shuffled(script: &Script, seed: u64) -> Vec<&RelativePath> {
    let mut symlinks = BTreeSet::new();
    let mut files = Vec::new();
    for operation in &script.operations {
        match operation {
            Operation::Open { create: Some(_), path, .. } => files.push(path),
            Operation::Link { existing, path } if !symlinks.contains(existing) => files.push(path),
            Operation::Symlink { path, .. } | Operation::Link { path, .. } => {
                symlinks.insert(path);
            }
            _ => {}
        }
    }
    RandomStream::new(seed, RandomPurpose::ReadOrder).shuffle(&mut files);
    files
}

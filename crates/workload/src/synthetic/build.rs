//! Cloning, building and cleaning a kernel tree, without git, make or a compiler.
//!
//! A post of March 2009 measured how much a journal and access times add to the writes of `git
//! clone`, `make` and `make clean`. A compiler would make that experiment slow, large and different
//! on every machine; what matters to a filesystem is only which files are made, read, renamed and
//! removed, in which order, and how large they are. Three scripts describe that.

use std::collections::BTreeSet;

use ssdlab_operations::{Operation, RelativePath};

use super::checkout::checkout;
use super::make::{KEPT, make};
use super::random::{RandomPurpose, RandomStream};
use super::tree::{self, SourceTree, TreeShape};
use crate::script::{Script, relative};

/// The size of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildShape {
    /// The sources.
    pub tree: TreeShape,
    /// The maximum number of compiled sources.
    pub units: u64,
}

impl BuildShape {
    /// A build of the given tree that compiles the same share of it as the build of Linux 2.6.29
    /// that the post of March 2009 measured.
    pub fn of(tree: TreeShape) -> Self {
        Self { tree, units: tree.files * KERNEL_UNITS / KERNEL_FILES }
    }
}

/// Files of Linux 2.6.29.
const KERNEL_FILES: u64 = 26_700;

/// The sources that its build compiles: so many that `make` writes about 203 MB. Its budget is at
/// the function `make`.
const KERNEL_UNITS: u64 = 925;

/// The three phases, to be performed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildScripts {
    /// `git clone --shared`.
    pub clone: Script,
    pub make: Script,
    /// `make clean`, which leaves the clone, the configuration, and what `make` derived from it: a
    /// kernel's `make clean` keeps those for external modules.
    pub clean: Script,
}

/// The build of this shape: the same for the same seed.
pub fn synthetic(shape: BuildShape, seed: u64) -> BuildScripts {
    let tree = tree::synthetic(shape.tree, seed);
    let mut random = RandomStream::new(seed, RandomPurpose::Build);
    let clone = checkout(&tree, random.branch());
    let make = make(&tree, shape.units, random);
    let clean = clean(&tree, &make);
    BuildScripts { clone, make, clean }
}

/// Lists every directory, like `find`, then removes the results of `make` except those kept.
fn clean(tree: &SourceTree, make: &Script) -> Script {
    let mut script = Script::default();
    let directories = tree.0.iter().filter(|item| item.file.is_none());
    for directory in directories {
        script.operations.push(Operation::ListDirectory { path: relative(&directory.path) });
    }
    let mut files = BTreeSet::new();
    for operation in &make.operations {
        match operation {
            Operation::MakeDirectory { path, .. } => {
                script.operations.push(Operation::ListDirectory { path: path.clone() });
            }
            Operation::Open { path, .. } => {
                files.insert(path);
            }
            Operation::Rename { from, to } => {
                files.remove(from);
                files.insert(to);
            }
            Operation::Unlink { path } => {
                files.remove(path);
            }
            _ => {}
        }
    }
    let is_kept = |path: &RelativePath| {
        KEPT.iter().any(|(kept, _)| path.as_bytes().ends_with(kept.as_bytes()))
    };
    let products = files.into_iter().filter(|path| !is_kept(path));
    script.operations.extend(products.map(|path| Operation::Unlink { path: path.clone() }));
    script
}

#[cfg(test)]
mod tests;

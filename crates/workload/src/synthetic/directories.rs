//! The directories of a synthetic tree, before there are files in them.
//!
//! The number of directories, their depth and which of them have subdirectories are decided here,
//! from measured figures; their files are up to the tree.

use std::ops::Range;

use super::distribution::{apportion, scale};
use super::kernel::{DIRECTORIES, DIRECTORIES_AT_DEPTH, DIRECTORY_NAME_LENGTHS, FILES};
use super::names::TakenNames;
use super::random::{RandomStream, Zipf};

/// The top directory, like the one in a kernel's archive.
pub(super) const TOP: &str = "linux";

#[derive(Clone, Debug)]
pub(super) struct TreeDirectory {
    /// Relative to the workload's directory.
    pub path: String,
    /// The names in it so far.
    pub names: TakenNames,
    /// Whether it has subdirectories.
    pub has_children: bool,
}

impl TreeDirectory {
    fn new(path: String) -> Self {
        Self { path, names: TakenNames::default(), has_children: false }
    }

    fn make_child(&mut self, random: &mut RandomStream) -> Self {
        let length = DIRECTORY_NAME_LENGTHS.draw(random);
        let name = self.names.claim(length, "", random);
        self.has_children = true;
        Self::new(format!("{}/{name}", self.path))
    }
}

/// The directories for a tree with this many files, parents before children.
pub(super) fn directories(files: u64, random: &mut RandomStream) -> Vec<TreeDirectory> {
    let below_top = scale(files, DIRECTORIES, FILES).saturating_sub(1);
    let mut directories = vec![TreeDirectory::new(TOP.to_owned())];
    let mut parents = 0..1;
    for at_depth in apportion(below_top, &DIRECTORIES_AT_DEPTH) {
        if at_depth == 0 {
            // In a small tree, empty levels are skipped.
            continue;
        }
        let first = directories.len();
        add_level(&mut directories, parents, at_depth, random);
        parents = first..directories.len();
    }
    directories
}

/// Adds `count` directories below those in the range `parents`.
fn add_level(
    directories: &mut Vec<TreeDirectory>,
    parents: Range<usize>,
    count: u64,
    random: &mut RandomStream,
) {
    // Few directories have most of the subdirectories: measured, four of five have none, and a
    // tenth of those at one depth have three quarters to nine tenths of the next.
    let popularity = Zipf::new(parents.len(), 0);
    for _ in 0..count {
        let parent = parents.start + popularity.rank(random);
        let child = directories[parent].make_child(random);
        directories.push(child);
    }
}

#[cfg(test)]
mod tests;

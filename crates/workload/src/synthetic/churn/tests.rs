//! Churn against its profile, and against a directory.

use std::collections::BTreeMap;

use ssdlab_operations::{Entry, Tree};
use ssdlab_plan::PROFILES;

use super::*;

const FREE_BYTES: u64 = 256 << 20;

fn churn(seed: u64) -> Churn {
    Churn::new(PROFILES[0], FREE_BYTES, seed)
}

/// The files of a filesystem, with their bytes.
fn files(tree: &Tree) -> BTreeMap<String, u64> {
    let file = |entry: Entry| match entry {
        Entry::File { size_bytes, path, .. } => Some((path.to_string(), size_bytes)),
        _ => None,
    };
    tree.entries().filter_map(file).collect()
}

/// Performs a script, which must be possible; returns the most bytes that files take at a sync.
fn perform(script: &Script, tree: &mut Tree) -> u64 {
    let mut most_bytes = 0;
    let mut length = 0;
    for operation in &script.operations {
        tree.apply(operation).unwrap_or_else(|_| panic!("not possible: {operation}"));
        match operation {
            Operation::Open { handle, .. } => length = tree.size_bytes(*handle).unwrap(),
            Operation::Write(transfer) => assert!(transfer.offset <= length, "a hole"),
            Operation::SyncFilesystem => {
                most_bytes = most_bytes.max(files(tree).values().copied().map(taken).sum());
            }
            _ => {}
        }
    }
    most_bytes
}

#[test]
fn equal_seeds_give_equal_scripts_and_others_do_not() {
    let rounds = |seed| {
        let mut churn = churn(seed);
        [churn.round(), churn.round()]
    };
    assert_eq!(rounds(1), rounds(1));
    assert_ne!(rounds(1), rounds(2));
}

#[test]
fn the_level_is_reached_and_kept_while_files_go_on_changing() {
    let mut churn = churn(3);
    let level_bytes = FREE_BYTES / 100 * 80;
    let mut tree = Tree::default();
    for _ in 0..ROUNDS_PER_TURNOVER {
        perform(&churn.round(), &mut tree);
    }
    let first = files(&tree);
    for _ in 0..2 * ROUNDS_PER_TURNOVER {
        let script = churn.round();
        let is_unlink = |operation: &Operation| matches!(operation, Operation::Unlink { .. });
        assert!(script.operations.iter().any(is_unlink));
        assert!(perform(&script, &mut tree) <= level_bytes);
        let files = files(&tree);
        let bytes: u64 = files.values().copied().map(taken).sum();
        assert!(bytes > level_bytes / 100 * 90, "{bytes} of {level_bytes}");
    }
    let files = files(&tree);
    let survivors = first.keys().filter(|path| files.contains_key(*path)).count();
    assert!(survivors > 0 && survivors < first.len() / 2, "{survivors} of {}", first.len());
    let written = level_bytes * 3;
    assert!(churn.written_bytes().abs_diff(written) < written / 10);
    let mut paths: Vec<&str> = churn.paths().filter(|path| files.contains_key(*path)).collect();
    paths.sort_unstable();
    assert!(paths.into_iter().eq(files.keys().map(String::as_str)));
}

#[test]
fn files_have_the_sizes_and_directories_of_the_profile() {
    let mut churn = churn(4);
    let mut tree = Tree::default();
    for _ in 0..ROUNDS_PER_TURNOVER {
        perform(&churn.round(), &mut tree);
    }
    let files = files(&tree);
    let mut sizes: Vec<u64> = files.values().copied().collect();
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!((2000..8000).contains(&median), "{median}");
    let directories = churn.directories.len();
    assert!((5..20).contains(&(files.len() / directories)), "{directories} directories");
}

#[test]
fn a_filesystem_of_next_to_nothing_is_aged_too() {
    let mut churn = Churn::new(PROFILES[0], 1 << 20, 5);
    let mut tree = Tree::default();
    for _ in 0..8 {
        assert!(perform(&churn.round(), &mut tree) <= 1 << 20);
    }
}

//! Reads every file of the tree once, in either order, and nothing else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::Entry;

use super::*;
use crate::content::{Content, FileContents};
use crate::player::Player;
use crate::script::relative;

/// A tree with a directory in a directory, and other names of its files.
fn tree() -> Script {
    let mut script = Script::default();
    script.make_directory("top");
    script.make_directory("top/inner");
    script.make_file("top/inner/large", 0o644, 300_000, Content::Text { seed: 1 }, None);
    script.make_file("top/empty", 0o644, 0, Content::Zeros, None);
    script.make_file("beside", 0o644, 700, Content::Text { seed: 2 }, None);
    let (existing, path) = (relative("beside"), relative("top/link"));
    script.make(&Entry::Link { existing, path }, Content::Zeros, None);
    let (target, path) = (Box::from(*b"inner/large"), relative("top/symlink"));
    script.make(&Entry::Symlink { target, path }, Content::Zeros, None);
    let (existing, path) = (relative("top/symlink"), relative("top/symlink-link"));
    script.make(&Entry::Link { existing, path }, Content::Zeros, None);
    script
}

fn perform(order: ReadOrder, folder: &Path) -> Result<PhaseOutcome, WorkloadError> {
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    run(
        order,
        &tree(),
        1,
        PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules },
    )
}

#[test]
fn each_file_of_the_tree_is_read_by_each_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    Player::new(folder.path(), &contents, rules).unwrap().perform(&tree()).unwrap();
    fs::write(folder.path().join("data"), vec![0; 5000]).unwrap();
    for order in [ReadOrder::Directory, ReadOrder::Random] {
        let done = perform(order, folder.path()).unwrap();
        let counted = done.counted.unwrap();
        assert_eq!((counted.operations, counted.bytes), (4, 301_400), "{order:?}");
        assert_eq!((counted.latencies.len(), done.application_bytes), (4, Some(0)));
    }
    fs::remove_file(folder.path().join("top/empty")).unwrap();
    let error = perform(ReadOrder::Random, folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read top/empty: No such file"), "{error}");
    assert_eq!(
        perform(ReadOrder::Directory, folder.path()).unwrap().counted.unwrap().operations,
        3
    );
}

#[test]
fn a_random_order_is_the_seed_s() {
    let mut script = Script::default();
    for number in 0..100 {
        script.make_file(&format!("{number}"), 0o644, 1, Content::Zeros, None);
    }
    let order = |seed| shuffled(&script, seed);
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let mut sorted = order(1);
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 100);
}

//! The operations of `git clone --shared`: a small `.git`, the files, and the index.
//!
//! A shared clone borrows the objects of the repository it is made from, so it writes no packs:
//! nearly all it writes are the files themselves. The figures for `.git` are those of git 2.39,
//! whose templates are in `git-core/templates`; git 1.6 of 2009 had fewer sample hooks, which are
//! negligible beside 26,700 files.

use super::directories::TOP;
use super::draft::Draft;
use super::random::{RandomStream, to_u64};
use super::tree::SourceTree;
use crate::script::Script;

/// The directories of a new repository, parents first.
const DIRECTORIES: [&str; 17] = [
    "",
    "/branches",
    "/hooks",
    "/info",
    "/objects",
    "/objects/info",
    "/objects/pack",
    "/refs",
    "/refs/heads",
    "/refs/remotes",
    "/refs/remotes/origin",
    "/refs/tags",
    "/logs",
    "/logs/refs",
    "/logs/refs/heads",
    "/logs/refs/remotes",
    "/logs/refs/remotes/origin",
];

/// Sample hooks, which are executable, with their bytes.
const HOOKS: [(&str, u64); 13] = [
    ("applypatch-msg", 478),
    ("commit-msg", 896),
    ("fsmonitor-watchman", 4726),
    ("post-update", 189),
    ("pre-applypatch", 424),
    ("pre-commit", 1643),
    ("pre-merge-commit", 416),
    ("pre-push", 1374),
    ("pre-rebase", 4898),
    ("pre-receive", 544),
    ("prepare-commit-msg", 1492),
    ("push-to-checkout", 2783),
    ("update", 3650),
];

/// Files written in place, with their bytes.
const PLAIN: [(&str, u64); 6] = [
    ("description", 73),
    ("info/exclude", 240),
    ("objects/info/alternates", 40),
    ("logs/HEAD", 180),
    ("logs/refs/heads/master", 180),
    ("logs/refs/remotes/origin/HEAD", 180),
];

/// Files written under another name and then renamed, as git does for concurrent readers.
/// `packed-refs` has the roughly 170 tags that the kernel had in 2009.
const LOCKED: [(&str, u64); 5] = [
    ("config", 260),
    ("packed-refs", 20_000),
    ("refs/remotes/origin/HEAD", 32),
    ("refs/heads/master", 41),
    ("HEAD", 23),
];

/// Clones a repository that holds the given tree. An archive's files have a time of their own; git
/// leaves the time of writing.
pub(super) fn checkout(tree: &SourceTree, random: RandomStream) -> Script {
    let mut draft = Draft::new(random);
    let (top, below_top) = tree.0.split_at(1);
    for item in top {
        item.make(&mut draft.script, None);
    }
    repository(&mut draft);
    for item in below_top {
        item.make(&mut draft.script, None);
    }
    with_lock(&mut draft, "index", |draft, lock| draft.binary(lock, index_bytes(tree)));
    draft.script
}

/// Everything in `.git` but the index.
fn repository(draft: &mut Draft) {
    for directory in DIRECTORIES {
        draft.script.make_directory(&format!("{TOP}/.git{directory}"));
    }
    for (name, bytes) in HOOKS {
        draft.program_text(&format!("{TOP}/.git/hooks/{name}.sample"), bytes);
    }
    for (name, bytes) in PLAIN {
        draft.text(&format!("{TOP}/.git/{name}"), bytes);
    }
    for (name, bytes) in LOCKED {
        with_lock(draft, name, |draft, lock| draft.text(lock, bytes));
    }
}

/// Writes a file of `.git` under the name of its lock, then renames it.
fn with_lock(draft: &mut Draft, name: &str, write: impl FnOnce(&mut Draft, &str)) {
    let path = format!("{TOP}/.git/{name}");
    let lock = format!("{path}.lock");
    write(draft, &lock);
    draft.script.rename(&lock, &path);
}

/// The bytes of an index (version 2) of the tree: a header of 12, for each file 62 and its path,
/// filled up with 1 to 8 zeros to a multiple of 8, and a checksum of 20. It consists mostly of
/// hashes, so it is incompressible.
fn index_bytes(tree: &SourceTree) -> u64 {
    let entry = |path: &str| (62 + path.len() - TOP.len() - 1 + 8) / 8 * 8;
    let entries: usize = tree.files().map(|(path, _)| entry(path)).sum();
    to_u64(12 + entries + 20)
}

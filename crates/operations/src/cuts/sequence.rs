//! Short sequences of operations on a few names, each in a directory of its own and ended by a
//! sync: all of them, so that none that a filesystem gets wrong is left out.
//!
//! The idea, and which operations to take, are ACE's (J. Mohan and others, "Finding
//! crash-consistency bugs with bounded black-box crash testing", OSDI 2018). What a sync promises
//! is judged by the names that it is about: `sync` is about all, `fsync` and `fdatasync` about the
//! name by which the last operation left its file, `fsync` of a directory about its names only.
//! POSIX promises less than the file's name; the filesystems of Linux promise it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_state::{Damage, FileState, fault};

/// A letter of a file's contents stands for this many bytes of it: five of them are more than a
/// block.
const LETTER_BYTES: usize = 1000;

/// An operation on a directory that at first holds the files `a` and `d/c` and the empty directory
/// `e`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Operation")]
pub enum SequenceOperation {
    /// Makes the file `b`, and writes it.
    Create,
    /// Appends to `a`.
    Append,
    /// Writes over the beginning of `a`.
    Overwrite,
    /// Cuts `a` off.
    Truncate,
    /// Allocates blocks behind the end of `a`, which grows.
    Allocate,
    /// Links `a` as `b`.
    Link,
    /// Links `a` as `d/b`.
    LinkAcross,
    /// Renames `a` to `b`.
    Rename,
    /// Renames `a` to `d/b`.
    RenameAcross,
    /// Renames `d/c` over `a`.
    RenameOver,
    /// Renames the directory `d` to `b`.
    RenameDirectory,
    /// Removes `a`.
    Unlink,
    /// Makes the directory `b`.
    MakeDirectory,
    /// Removes the directory `e`.
    RemoveDirectory,
}

/// What an operation does, by names in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationEffect {
    /// Makes a file with these contents.
    Create(&'static str, &'static str),
    /// Writes these contents to a file, from a letter on.
    Write(&'static str, usize, &'static str),
    /// Cuts a file off after this many letters.
    Truncate(&'static str, usize),
    /// Allocates so many letters of zeros behind a file of this many.
    Allocate(&'static str, usize, usize),
    /// Gives a file a second name.
    Link(&'static str, &'static str),
    /// Renames a file or a directory, over a file if there is one.
    Rename(&'static str, &'static str),
    /// Removes a file.
    Unlink(&'static str),
    MakeDirectory(&'static str),
    /// Removes an empty directory.
    RemoveDirectory(&'static str),
}

crate::words! {
    SequenceOperation {
        Create: "create b",
        Append: "append a",
        Overwrite: "overwrite a",
        Truncate: "truncate a",
        Allocate: "fallocate a",
        Link: "link a b",
        LinkAcross: "link a d-b",
        Rename: "rename a b",
        RenameAcross: "rename a d-b",
        RenameOver: "rename d-c a",
        RenameDirectory: "rename d b",
        Unlink: "unlink a",
        MakeDirectory: "mkdir b",
        RemoveDirectory: "rmdir e",
    }
}

impl SequenceOperation {
    /// What it does.
    pub const fn effect(self) -> OperationEffect {
        match self {
            Self::Create => OperationEffect::Create("b", "BBBBB"),
            Self::Append => OperationEffect::Write("a", A.len(), "DDD"),
            Self::Overwrite => OperationEffect::Write("a", 0, "EE"),
            Self::Truncate => OperationEffect::Truncate("a", 1),
            Self::Allocate => OperationEffect::Allocate("a", A.len(), 3),
            Self::Link => OperationEffect::Link("a", "b"),
            Self::LinkAcross => OperationEffect::Link("a", "d/b"),
            Self::Rename => OperationEffect::Rename("a", "b"),
            Self::RenameAcross => OperationEffect::Rename("a", "d/b"),
            Self::RenameOver => OperationEffect::Rename("d/c", "a"),
            Self::RenameDirectory => OperationEffect::Rename("d", "b"),
            Self::Unlink => OperationEffect::Unlink("a"),
            Self::MakeDirectory => OperationEffect::MakeDirectory("b"),
            Self::RemoveDirectory => OperationEffect::RemoveDirectory("e"),
        }
    }

    /// The name by which it leaves what it worked on; none if it removes that.
    const fn leaves(self) -> Option<&'static str> {
        match self.effect() {
            OperationEffect::Create(name, _)
            | OperationEffect::Write(name, ..)
            | OperationEffect::Truncate(name, _)
            | OperationEffect::Allocate(name, ..)
            | OperationEffect::Link(_, name)
            | OperationEffect::Rename(_, name)
            | OperationEffect::MakeDirectory(name) => Some(name),
            OperationEffect::Unlink(_) | OperationEffect::RemoveDirectory(_) => None,
        }
    }
}

/// The sync that ends a sequence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// `fsync` of the file.
    File,
    /// `fdatasync` of the file.
    Data,
    /// `fsync` of the directory that holds the file's name, or held it.
    Directory,
    /// `sync`.
    All,
}

crate::words! {
    Sync {
        File: "fsync",
        Data: "fdatasync",
        Directory: "fsync directory",
        All: "sync",
    }
}

/// One or two operations, and a sync.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Sequence {
    /// The operation before the last, if there is one.
    pub before: Option<SequenceOperation>,
    /// The last operation.
    pub last: SequenceOperation,
    /// The sync.
    pub sync: Sync,
}

/// What a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    Directory,
    /// A file with these bytes, or why they cannot be read.
    File(Result<Vec<u8>, Damage>),
}

/// What names refer to, below a sequence's directory.
pub type Entries = BTreeMap<String, EntryState>;

/// What a name of the model refers to: a directory, or the file of a number.
type Node = Option<usize>;

/// The names, and the contents of files in letters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tree {
    names: BTreeMap<String, Node>,
    files: Vec<String>,
}

/// What a sync is about: the letters of files by their names, where contents matter; none for
/// directories.
type View = BTreeMap<String, Option<String>>;

/// The contents of `a` and `d/c` at first.
const A: &str = "AAAAA";
const C: &str = "CCCCC";

/// The letter of what was never written.
const ZERO: &str = "\0";

impl Tree {
    fn first() -> Self {
        let files = FILES.iter().enumerate().map(|(number, (name, _))| (*name, Some(number)));
        let names = files.chain(DIRECTORIES.map(|name| (name, None)));
        Self {
            names: names.map(|(name, node)| (name.to_owned(), node)).collect(),
            files: FILES.map(|(_, letters)| letters.to_owned()).into(),
        }
    }

    /// The tree after an operation; `None` if it is not possible.
    fn after(&self, effect: OperationEffect) -> Option<Self> {
        let mut tree = self.clone();
        let is_free = |name: &str| !self.names.contains_key(name);
        let has_parent = |name: &str| {
            name.rsplit_once('/').is_none_or(|(parent, _)| self.names.get(parent) == Some(&None))
        };
        match effect {
            OperationEffect::Create(name, contents) if is_free(name) => {
                tree.names.insert(name.to_owned(), Some(self.files.len()));
                tree.files.push(contents.to_owned());
            }
            OperationEffect::Write(name, from, letters) => {
                let contents = &mut tree.files[(*self.names.get(name)?)?];
                let end = contents.len().min(from + letters.len());
                // No holes: what they hold is another question.
                contents.get(from..)?;
                contents.replace_range(from..end, letters);
            }
            OperationEffect::Truncate(name, letters) => {
                tree.files[(*self.names.get(name)?)?].truncate(letters);
            }
            OperationEffect::Allocate(name, from, letters) => {
                let contents = &mut tree.files[(*self.names.get(name)?)?];
                // Behind its end it would make a hole, before it nothing.
                if contents.len() != from {
                    return None;
                }
                contents.push_str(&ZERO.repeat(letters));
            }
            OperationEffect::Link(name, other) if is_free(other) && has_parent(other) => {
                tree.names.insert(other.to_owned(), Some((*self.names.get(name)?)?));
            }
            OperationEffect::Rename(name, other) if has_parent(other) => {
                let node = *self.names.get(name)?;
                let replaced = self.names.get(other);
                // A file replaces a file, and two names of one stay as they are.
                if replaced.is_some_and(|other| node.is_none() || other.is_none() || *other == node)
                {
                    return None;
                }
                let below = format!("{name}/");
                let moved = self.names.iter().filter_map(|(own, node)| {
                    let rest = if own == name { "" } else { own.strip_prefix(&below)? };
                    let joint = if rest.is_empty() { "" } else { "/" };
                    Some((own, format!("{other}{joint}{rest}"), *node))
                });
                for (own, new, node) in moved {
                    tree.names.remove(own);
                    tree.names.insert(new, node);
                }
            }
            OperationEffect::Unlink(name) => {
                tree.names.remove(name)??;
            }
            OperationEffect::MakeDirectory(name) if is_free(name) => {
                tree.names.insert(name.to_owned(), None);
            }
            OperationEffect::RemoveDirectory(name) => {
                tree.names.remove(name)?;
            }
            _ => return None,
        }
        Some(tree)
    }

    /// What a sync of this kind is about, if the last operation was this.
    fn view(&self, sequence: Sequence) -> View {
        let letters = |file: usize| match sequence.sync {
            Sync::Directory => String::new(),
            Sync::File | Sync::Data | Sync::All => self.files[file].clone(),
        };
        let own = self.names.iter().filter(|(name, _)| sequence.is_about(name));
        own.map(|(name, node)| (name.clone(), node.map(letters))).collect()
    }
}

/// The directory of a name; empty for the sequence's own.
fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Sequence {
    /// Every sequence of up to this many operations whose sync promises something.
    pub fn all(operations: u32) -> Vec<Self> {
        let before = [None].into_iter().chain(SequenceOperation::ALL.map(Some));
        let before = before.filter(|before| operations > u32::from(before.is_some()));
        let sequences = before.flat_map(|before| {
            SequenceOperation::ALL.into_iter().flat_map(move |last| {
                Sync::ALL.into_iter().map(move |sync| Self { before, last, sync })
            })
        });
        sequences.filter(|sequence| sequence.promises_something()).collect()
    }

    /// Its name, which is that of its directory, too.
    pub fn name(self) -> String {
        let before = self.before.map_or_else(String::new, |before| before.name().to_owned() + ", ");
        format!("{before}{}, {}", self.last.name(), self.sync.name())
    }

    /// Its operations, each with the version that what the sync is about has after it.
    pub fn steps(self) -> Vec<(SequenceOperation, u32)> {
        let views = self.views().unwrap_or_default();
        let mut version = 0;
        let steps = self.operations().zip(views.windows(2)).map(|(operation, two)| {
            version += u32::from(two[0] != two[1]);
            (operation, version)
        });
        steps.collect()
    }

    /// The name by which the last operation leaves what it worked on, which is what a sync of a
    /// file syncs; none if it removes that.
    pub fn file(self) -> Option<&'static str> {
        self.last.leaves()
    }

    /// The directory whose names the last operation changed, the new name's if there are two; empty
    /// for the sequence's own.
    pub fn directory(self) -> &'static str {
        self.last.leaves().map_or("", parent)
    }

    /// The state in which it is found.
    pub fn state_in(self, entries: &Entries) -> FileState {
        let mut views = self.views().unwrap_or_default();
        views.dedup();
        let found: BTreeMap<&str, &EntryState> = entries
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
            .filter(|(name, _)| self.is_about(name))
            .collect();
        let known = views.iter().flat_map(|view| view.keys().map(String::as_str));
        let names: BTreeSet<&str> = known.chain(found.keys().copied()).collect();
        let is_as_in =
            |view: &View, name: &str| self.is_as_in(view, name, found.get(name).copied());
        let number = |version: usize| u32::try_from(version).unwrap_or(u32::MAX);
        let whole = |view: &View| names.iter().all(|name| is_as_in(view, name));
        if let Some(version) = views.iter().rposition(whole) {
            return FileState::whole(number(version));
        }
        // One name may be older than another; the oldest tells what is lost.
        let mut version = views.len().saturating_sub(1);
        for name in &names {
            let Some(newest) = views.iter().rposition(|view| is_as_in(view, name)) else {
                return FileState::faulty(fault_of(&views, name, found.get(name).copied()));
            };
            version = version.min(newest);
        }
        FileState::whole(number(version))
    }

    /// Whether the sync is about a name.
    fn is_about(self, name: &str) -> bool {
        match self.sync {
            Sync::All => true,
            Sync::File | Sync::Data => self.file() == Some(name),
            Sync::Directory => parent(name) == self.directory(),
        }
    }

    fn operations(self) -> impl Iterator<Item = SequenceOperation> {
        self.before.into_iter().chain([self.last])
    }

    /// What the sync is about, before the first operation and after each; `None` if one is not
    /// possible.
    fn views(self) -> Option<Vec<View>> {
        let mut tree = Tree::first();
        let mut views = vec![tree.view(self)];
        for operation in self.operations() {
            tree = tree.after(operation.effect())?;
            views.push(tree.view(self));
        }
        Some(views)
    }

    fn promises_something(self) -> bool {
        // What fdatasync need not write is a name.
        let is_of_data = matches!(
            self.last.effect(),
            OperationEffect::Write(..)
                | OperationEffect::Truncate(..)
                | OperationEffect::Allocate(..)
        );
        let is_file = |view: &View| {
            let last = self.file().and_then(|name| view.get(name));
            matches!(last, Some(Some(_)))
        };
        let Some(views) = self.views() else { return false };
        let (Some(first), Some(last)) = (views.first(), views.last()) else { return false };
        let is_possible = match self.sync {
            Sync::File => is_file(last),
            Sync::Data => is_of_data && is_file(last),
            Sync::Directory | Sync::All => true,
        };
        is_possible && first != last
    }

    /// Whether a name refers to the same as in a view.
    fn is_as_in(self, view: &View, name: &str, entry: Option<&EntryState>) -> bool {
        match (view.get(name), entry) {
            (None, None) | (Some(None), Some(EntryState::Directory)) => true,
            (Some(Some(letters)), Some(EntryState::File(bytes))) => {
                self.sync == Sync::Directory
                    || bytes.as_ref().is_ok_and(|own| *own == bytes_of(letters))
            }
            _ => false,
        }
    }
}

/// What is wrong with a name that is as in no view.
fn fault_of(views: &[View], name: &str, entry: Option<&EntryState>) -> Damage {
    let newest = views.iter().rev().find_map(|view| view.get(name).cloned().flatten());
    match (entry, newest) {
        (None, _) => Damage::Missing,
        (Some(EntryState::File(Err(fault))), _) => *fault,
        (Some(EntryState::File(Ok(bytes))), Some(_)) if bytes.is_empty() => Damage::Empty,
        (Some(EntryState::File(Ok(bytes))), Some(letters)) => {
            fault(bytes, &bytes_of(&letters)).unwrap_or(Damage::Torn)
        }
        _ => Damage::Garbage,
    }
}

/// The bytes that letters stand for.
pub fn bytes_of(letters: &str) -> Vec<u8> {
    letters.bytes().flat_map(|letter| [letter; LETTER_BYTES]).collect()
}

/// The bytes of so many letters that were never written.
pub fn zeros(letters: usize) -> Vec<u8> {
    bytes_of(&ZERO.repeat(letters))
}

/// The files at first, by their names, with their contents in letters.
pub const FILES: [(&str, &str); 2] = [("a", A), ("d/c", C)];

/// The directories at first.
pub const DIRECTORIES: [&str; 2] = ["d", "e"];

pub const fn offset_bytes(letter: usize) -> u64 {
    (letter * LETTER_BYTES) as u64
}

#[cfg(test)]
mod tests;

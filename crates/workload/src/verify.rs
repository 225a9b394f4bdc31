//! What operations leave behind: a model of a directory, and the comparison of a real one with it.
//!
//! The model knows names and recipes for contents, but no filesystem and no player, so it finds
//! whatever a filesystem lost, changed or invented.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::cuts::{WatchedFile, WatchedFiles};
use ssdlab_operations::{
    Entry, Handle, Node, Operation, OperationTarget, RelativePath, Tree, Unfit,
};

use super::WorkloadError;
use super::calls::CHUNK_BYTES;
use super::content::{Content, FileContents};
use super::ranges::Ranges;
use super::script::Script;
use super::snapshot::DirectorySnapshot;
use super::steps::ScriptStep;

/// A directory under operations, including contents.
#[derive(Debug, Default)]
pub struct Oracle {
    tree: Tree,
    files: BTreeMap<Node, Ranges>,
    /// The contents written through each handle.
    open: BTreeMap<Handle, Content>,
}

impl Oracle {
    /// Performs a script on the model, like the player on a filesystem, whose process has this
    /// umask.
    pub fn perform(&mut self, script: &Script, umask: u32) -> Result<(), WorkloadError> {
        self.go_on(script, umask)?;
        self.close();
        Ok(())
    }

    /// Performs a series of scripts.
    pub fn perform_all(
        &mut self,
        steps: impl Iterator<Item = ScriptStep>,
        umask: u32,
    ) -> Result<(), WorkloadError> {
        for step in steps {
            self.go_on(&step.script, umask)?;
        }
        self.close();
        Ok(())
    }

    fn close(&mut self) {
        self.tree.close_all();
        self.open.clear();
    }

    /// Performs a script; what it leaves open is open for the next.
    fn go_on(&mut self, script: &Script, umask: u32) -> Result<(), WorkloadError> {
        self.tree.set_umask(if script.is_recorded { 0 } else { umask });
        for (operation, content) in script.steps() {
            self.apply(operation, content).map_err(|_| {
                let path = operation.path().map_or_else(|| ".".to_owned(), ToString::to_string);
                differs(&path, &format!("contradicts `{}`, which was performed", operation.name()))
            })?;
        }
        Ok(())
    }

    fn apply(&mut self, operation: &Operation, content: Content) -> Result<(), Unfit> {
        self.tree.apply(operation)?;
        match operation {
            Operation::Open { handle, flags, .. } => {
                self.open.insert(*handle, content);
                if flags.truncate {
                    self.ranges(&OperationTarget::Handle(*handle))?.clear(0..u64::MAX);
                }
            }
            Operation::Write(transfer) => {
                let content = *self.open.get(&transfer.handle).ok_or(Unfit)?;
                let range = transfer.offset..transfer.end();
                self.ranges(&OperationTarget::Handle(transfer.handle))?.write(range, content);
            }
            Operation::Truncate { target, size_bytes } => {
                self.ranges(target)?.clear(*size_bytes..u64::MAX);
            }
            Operation::Allocate { handle, allocation, offset, length } => {
                let ranges = self.ranges(&OperationTarget::Handle(*handle))?;
                ranges.allocate(*allocation, *offset, *length);
            }
            _ => {}
        }
        Ok(())
    }

    fn ranges(&mut self, target: &OperationTarget) -> Result<&mut Ranges, Unfit> {
        Ok(self.files.entry(self.tree.target(target).ok_or(Unfit)?).or_default())
    }

    /// Compares a directory with the model, apart from some files that know their own history; the
    /// error is the first difference.
    pub fn compare(
        &self,
        directory: &Path,
        contents: &FileContents,
        apart: &WatchedFiles,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        let snapshot = DirectorySnapshot::of(directory).map_err(|(path, cause)| {
            unread(&path.strip_prefix(directory).unwrap_or(&path).to_string_lossy())(cause)
        })?;
        if let Some(path) = snapshot.special.first() {
            return Err(differs(&path.to_string(), "is neither file, directory nor link"));
        }
        let apart: Vec<String> = apart.each().map(WatchedFile::name).collect();
        let is_apart = |entry: &Entry| {
            let top = entry.path().as_bytes().split(|byte| *byte == b'/').next();
            apart.iter().any(|name| top == Some(name.as_bytes()))
        };
        let entries = snapshot.entries.into_iter().filter(|entry| !is_apart(entry));
        let mut found: BTreeMap<RelativePath, Entry> =
            entries.map(|entry| (entry.path().clone(), entry)).collect();
        let mut comparison = Comparison { contents, expected: Vec::new(), found: Vec::new() };
        let unwritten = Ranges::default();
        for expected in self.tree.entries() {
            if interrupt.is_set() {
                return Err(WorkloadError::Interrupted);
            }
            let path = expected.path().to_string();
            let Some(found) = found.remove(expected.path()) else {
                return Err(differs(&path, "is missing"));
            };
            same_entry(&path, &expected, &found)?;
            if let Entry::File { path: name, size_bytes, .. } = &expected {
                let node = self.tree.find(name).expect("the tree has what it lists");
                let real = directory.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
                let mut file = File::open(real).map_err(unread(&path))?;
                let names = file.metadata().map_err(unread(&path))?.nlink();
                same(&path, "number of names", &self.tree.names_of(node), &names)?;
                let ranges = self.files.get(&node).unwrap_or(&unwritten);
                comparison.check(&path, &mut file, *size_bytes, ranges)?;
            }
        }
        match found.keys().next() {
            Some(path) => Err(differs(&path.to_string(), "should not be there")),
            None => Ok(()),
        }
    }
}

fn same_entry(path: &str, expected: &Entry, found: &Entry) -> Result<(), WorkloadError> {
    use Entry::{Directory, File, Link, Symlink};
    let size = |entry: &Entry| match entry {
        File { size_bytes, .. } => *size_bytes,
        _ => 0,
    };
    match (expected, found) {
        (Directory { mode, .. }, Directory { mode: found, .. })
        | (File { mode, .. }, File { mode: found, .. }) => {
            same(path, "mode", &format!("{mode:o}"), &format!("{found:o}"))?;
        }
        (Symlink { target, .. }, Symlink { target: found, .. }) => {
            same(path, "target", &target.escape_ascii(), &found.escape_ascii())?;
        }
        (Link { existing, .. }, Link { existing: found, .. }) => {
            same(path, "first name", existing, found)?;
        }
        _ => return Err(differs(path, &format!("is {}, not {}", kind(found), kind(expected)))),
    }
    same(path, "size", &size(expected), &size(found))
}

fn kind(entry: &Entry) -> String {
    match entry {
        Entry::Directory { .. } => "a directory".to_owned(),
        Entry::File { .. } => "a file".to_owned(),
        Entry::Symlink { .. } => "a symbolic link".to_owned(),
        Entry::Link { existing, .. } => format!("another name of {existing}"),
    }
}

/// Compares files with their recipes.
struct Comparison<'a> {
    contents: &'a FileContents,
    expected: Vec<u8>,
    found: Vec<u8>,
}

impl Comparison<'_> {
    fn check(
        &mut self,
        path: &str,
        file: &mut File,
        size_bytes: u64,
        ranges: &Ranges,
    ) -> Result<(), WorkloadError> {
        let mut offset = 0;
        while offset < size_bytes {
            let left = usize::try_from(size_bytes - offset).unwrap_or(CHUNK_BYTES);
            let length = left.min(CHUNK_BYTES);
            self.expected.resize(length, 0);
            self.found.resize(length, 0);
            ranges
                .fill(self.contents, offset, &mut self.expected)
                .map_err(WorkloadError::operation("make the contents of", path))?;
            file.read_exact(&mut self.found).map_err(unread(path))?;
            let mut pairs = self.expected.iter().zip(&self.found);
            if let Some(at) = pairs.position(|(expected, found)| expected != found) {
                let what = format!("byte {}", offset + at as u64);
                return same(path, &what, &self.expected[at], &self.found[at]);
            }
            offset += length as u64;
        }
        Ok(())
    }
}

/// The umask of this process.
pub fn umask() -> Result<u32, WorkloadError> {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    let umask = status.map_err(io::Error::other).map(|status| status.umask);
    umask.and_then(|umask| umask.ok_or_else(|| io::ErrorKind::Unsupported.into())).map_err(
        |cause| {
            let path = "this process (/proc/self/status)".to_owned();
            WorkloadError::Operation { step: "read the umask of", path, cause }
        },
    )
}

fn same<T: Display>(path: &str, what: &str, expected: &T, found: &T) -> Result<(), WorkloadError> {
    let [expected, found] = [expected, found].map(ToString::to_string);
    if expected == found {
        return Ok(());
    }
    Err(differs(path, &format!("has the {what} {found} instead of {expected}")))
}

pub(super) fn differs(path: &str, how: &str) -> WorkloadError {
    WorkloadError::Differs { path: path.to_owned(), how: how.to_owned() }
}

/// What cannot be read back counts as changed.
fn unread(path: &str) -> impl FnOnce(io::Error) -> WorkloadError + use<> {
    let path = path.to_owned();
    move |cause| differs(&path, &format!("cannot be read: {cause}"))
}

#[cfg(test)]
mod tests;

//! Scripts: operations on a directory, with recipes for what they write.
//!
//! Generators and logs produce scripts and know no filesystem; the player performs them on a
//! directory and the oracle on its model, and neither knows where a script came from.

use ssdlab_operations::{Entry, Handle, OpenFlags, Operation, RelativePath, Transfer};

use super::content::Content;

/// The permission bits of generated directories.
pub const DIRECTORY_MODE: u32 = 0o755;

/// Operations, and the contents that they write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// The contents of created files, in order; those of a recording are derived from names.
    contents: Vec<Content>,
    /// Whether it was recorded: names are then resolved safely, and modes are final, regardless of
    /// the umask.
    pub is_recorded: bool,
}

impl Script {
    /// The script of a recorded program.
    pub fn recorded(operations: Vec<Operation>) -> Self {
        Self { operations, contents: Vec::new(), is_recorded: true }
    }

    /// Makes the initial directory of a recorded program.
    pub fn before(entries: &[Entry]) -> Self {
        let mut script = Self::recorded(Vec::new());
        for entry in entries {
            script.make(entry, Content::of_name(entry.path()), None);
        }
        script
    }

    /// The operations, each with the contents written through the handle that it opens.
    pub fn steps(&self) -> impl Iterator<Item = (&Operation, Content)> {
        let mut contents = self.contents.iter();
        self.operations.iter().map(move |operation| {
            let content = match operation {
                Operation::Open { path, .. } if self.is_recorded => Content::of_name(path),
                Operation::Open { create: Some(_), .. } => {
                    *contents.next().expect("each file that is created has its contents")
                }
                _ => Content::Zeros,
            };
            (operation, content)
        })
    }

    /// The number of operations that do not use a handle opened before: of those that make a file,
    /// only the first counts.
    pub fn starts(&self) -> usize {
        self.operations.iter().filter(|operation| operation.handle().is_none()).count()
    }

    /// Keeps the first operations, counted as [`Self::starts`] counts them.
    pub fn truncate(&mut self, starts: usize) {
        let mut count = 0;
        let is_beyond = |operation: &Operation| {
            count += usize::from(operation.handle().is_none());
            count > starts
        };
        let end = self.operations.iter().position(is_beyond);
        self.operations.truncate(end.unwrap_or(self.operations.len()));
    }

    /// The number of bytes written.
    pub fn written_bytes(&self) -> u64 {
        let bytes = |operation: &Operation| match operation {
            Operation::Write(transfer) => transfer.bytes(),
            _ => 0,
        };
        self.operations.iter().map(bytes).sum()
    }

    /// Makes a directory entry. A file gets these contents and, if given, this modification time in
    /// seconds since 1970; otherwise the time of writing.
    pub fn make(&mut self, entry: &Entry, content: Content, modified_s: Option<i64>) {
        let last = match entry.clone() {
            Entry::Directory { mode, path } => Operation::MakeDirectory { mode, path },
            Entry::Symlink { target, path } => Operation::Symlink { target, path },
            Entry::Link { existing, path } => Operation::Link { existing, path },
            Entry::File { mode, size_bytes, path } => {
                let flags = OpenFlags { write: true, ..OpenFlags::default() };
                self.write(path, flags, mode, 0..size_bytes, content);
                let handle = handle();
                if let Some(seconds) = modified_s {
                    self.operations.push(Operation::SetModified { handle, seconds });
                }
                Operation::Close { handle }
            }
        };
        self.operations.push(last);
    }

    /// Writes a range of a file, which is created if missing, and closes it.
    pub fn update(&mut self, path: &str, mode: u32, offset: u64, bytes: u64, content: Content) {
        let flags = OpenFlags { write: true, or_existing: true, ..OpenFlags::default() };
        self.write(relative(path), flags, mode, offset..offset + bytes, content);
        self.close();
    }

    /// Opens a file to be created and writes a range of it.
    fn write(
        &mut self,
        path: RelativePath,
        flags: OpenFlags,
        mode: u32,
        range: std::ops::Range<u64>,
        content: Content,
    ) {
        let handle = handle();
        self.operations.push(Operation::Open { handle, flags, create: Some(mode), path });
        if !self.is_recorded {
            self.contents.push(content);
        }
        if flags.or_existing {
            self.operations.push(Operation::Seek { handle, offset: range.start });
        }
        let transfer = Transfer::new(handle, range.start, range.end - range.start, 1);
        self.operations.extend(transfer.map(Operation::Write));
    }

    /// Makes a directory; its parent exists.
    pub fn make_directory(&mut self, path: &str) {
        self.operations
            .push(Operation::MakeDirectory { mode: DIRECTORY_MODE, path: relative(path) });
    }

    /// Creates a file, writes all of it and closes it.
    pub fn make_file(
        &mut self,
        path: &str,
        mode: u32,
        size_bytes: u64,
        content: Content,
        modified_s: Option<i64>,
    ) {
        self.make(&Entry::File { mode, size_bytes, path: relative(path) }, content, modified_s);
    }

    /// Creates a file, writes all of it, syncs and closes it.
    pub fn make_synced_file(&mut self, path: &str, mode: u32, size_bytes: u64, content: Content) {
        let flags = OpenFlags { write: true, ..OpenFlags::default() };
        self.write(relative(path), flags, mode, 0..size_bytes, content);
        let handle = handle();
        self.operations.push(Operation::Sync { handle, only_data: false });
        self.close();
    }

    /// Syncs what is needed to find the names in a directory.
    pub fn sync_directory(&mut self, path: &str) {
        let (handle, path) = (handle(), relative(path));
        let flags = OpenFlags { read: true, directory: true, ..OpenFlags::default() };
        self.operations.push(Operation::Open { handle, flags, create: None, path });
        self.operations.push(Operation::Sync { handle, only_data: true });
        self.close();
    }

    /// Opens a file to append to, which is created if missing. It stays open.
    pub fn open_to_append(&mut self, path: &str, mode: u32, content: Content) {
        let flags =
            OpenFlags { write: true, append: true, or_existing: true, ..OpenFlags::default() };
        let (handle, path) = (handle(), relative(path));
        self.operations.push(Operation::Open { handle, flags, create: Some(mode), path });
        self.contents.push(content);
    }

    /// Appends to the open file, which ends at this offset.
    pub fn append(&mut self, offset: u64, bytes: u64) {
        let transfer = Transfer::new(handle(), offset, bytes, 1);
        self.operations.extend(transfer.map(Operation::Write));
    }

    /// Closes the open file.
    pub fn close(&mut self) {
        self.operations.push(Operation::Close { handle: handle() });
    }

    /// Reads all names in a directory.
    pub fn list(&mut self, path: &str) {
        self.operations.push(Operation::ListDirectory { path: relative(path) });
    }

    /// Gives a file another name.
    pub fn link(&mut self, existing: &str, path: &str) {
        let (existing, path) = (relative(existing), relative(path));
        self.operations.push(Operation::Link { existing, path });
    }

    /// Opens a file, reads it to its end and closes it.
    pub fn read(&mut self, path: &str) {
        self.operations.push(Operation::ReadFile { path: relative(path) });
    }

    /// Renames a file or a directory, replacing an existing one.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.operations.push(Operation::Rename { from: relative(from), to: relative(to) });
    }

    /// Unlinks a file or a symbolic link.
    pub fn unlink(&mut self, path: &str) {
        self.operations.push(Operation::Unlink { path: relative(path) });
    }
}

/// A path of a generated script.
pub fn relative(path: &str) -> RelativePath {
    RelativePath::new(path.as_bytes()).expect("generators make relative paths of allowed lengths")
}

/// Generated scripts have one file open at a time.
fn handle() -> Handle {
    Handle::new(0).expect("the lowest number is one")
}

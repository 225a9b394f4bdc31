//! Defines the operations on a directory: few, each a kind of system call.
//!
//! Calls that do the same to a filesystem are one operation: `access` and `lstat` both look up a
//! name, `pwritev` and `sendfile` both write a range.

use crate::RelativePath;

/// An operation to perform on a directory, or one that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    MakeDirectory {
        /// Its permission bits, after the umask.
        mode: u32,
        /// The new name.
        path: RelativePath,
    },
    /// Removes an empty directory.
    RemoveDirectory { path: RelativePath },
    /// Opens a file or a directory, or creates a file and opens it.
    Open {
        /// The handle of the open file.
        handle: Handle,
        /// How it is opened.
        flags: OpenFlags,
        /// The permission bits if the file is new; `None` if it exists.
        create: Option<u32>,
        path: RelativePath,
    },
    /// Sets the offset of a handle, like lseek(2). Recorded logs have none, as their reads and
    /// writes have offsets.
    Seek {
        /// An open file.
        handle: Handle,
        /// The offset in bytes, below 2^63.
        offset: u64,
    },
    /// Closes a handle: the last descriptor that shared it was closed.
    Close {
        /// Which one.
        handle: Handle,
    },
    /// Reads ranges of a file, within its size. Mapping a file for reading counts as reading the
    /// mapped range.
    Read(Transfer),
    /// Opens a file, reads it to its end and closes it, like cat(1).
    ReadFile { path: RelativePath },
    /// Writes ranges of a file, without holes between them.
    Write(Transfer),
    /// Sets the length of a file.
    Truncate {
        /// Which file.
        target: OperationTarget,
        /// The length in bytes.
        size_bytes: u64,
    },
    /// Changes the allocation of a range of a file, like fallocate(2).
    Allocate {
        /// An open file.
        handle: Handle,
        /// What happens to the range.
        allocation: Allocation,
        /// Where it begins, in bytes.
        offset: u64,
        /// How long it is, in bytes.
        length: u64,
    },
    /// Makes a file or directory durable, like fsync(2).
    Sync {
        /// An open file or directory.
        handle: Handle,
        /// Whether metadata not needed to read the file may be skipped, like fdatasync(2).
        only_data: bool,
    },
    /// Makes the filesystem durable, like sync(2) and syncfs(2).
    SyncFilesystem,
    /// Renames a file or directory, replacing an existing one.
    Rename {
        /// The old name.
        from: RelativePath,
        /// The new name.
        to: RelativePath,
    },
    /// Exchanges two names.
    Exchange {
        from: RelativePath,
        /// The other name.
        to: RelativePath,
    },
    /// Gives a file another name.
    Link {
        existing: RelativePath,
        /// The new name.
        path: RelativePath,
    },
    /// Makes a symbolic link.
    Symlink {
        /// The link's target: 1 to 4095 bytes without NUL.
        target: Box<[u8]>,
        /// The new name.
        path: RelativePath,
    },
    /// Removes a name of anything but a directory.
    Unlink { path: RelativePath },
    /// Looks up a name and reads its metadata; a symbolic link is not followed.
    Stat {
        /// An existing name.
        path: RelativePath,
    },
    /// Reads the target of a symbolic link.
    ReadLink { path: RelativePath },
    /// Reads a directory to its end.
    List {
        /// An open directory.
        handle: Handle,
    },
    /// Opens a directory, reads it to its end and closes it, like ls(1).
    ListDirectory { path: RelativePath },
    /// Sets permission bits.
    SetMode {
        /// The file or directory.
        target: OperationTarget,
        /// The bits, below `0o10000`.
        mode: u32,
    },
    /// Sets times, to any value; a symbolic link is not followed.
    SetTimes {
        /// The file or directory.
        target: OperationTarget,
    },
    /// Sets the modification time of a file, like tar(1). Recorded logs have no times.
    SetModified {
        /// An open file.
        handle: Handle,
        /// Seconds since 1970.
        seconds: i64,
    },
}

impl Operation {
    /// The handle it works on, opened earlier.
    pub fn handle(&self) -> Option<Handle> {
        match self {
            Self::Read(transfer) | Self::Write(transfer) => Some(transfer.handle),
            Self::Truncate { target: OperationTarget::Handle(handle), .. }
            | Self::SetMode { target: OperationTarget::Handle(handle), .. }
            | Self::SetTimes { target: OperationTarget::Handle(handle) }
            | Self::SetModified { handle, .. }
            | Self::Seek { handle, .. }
            | Self::Close { handle }
            | Self::Allocate { handle, .. }
            | Self::Sync { handle, .. }
            | Self::List { handle } => Some(*handle),
            _ => None,
        }
    }

    /// The path it works on, or creates.
    pub fn path(&self) -> Option<&RelativePath> {
        match self {
            Self::MakeDirectory { path, .. }
            | Self::RemoveDirectory { path }
            | Self::Open { path, .. }
            | Self::ReadFile { path }
            | Self::ListDirectory { path }
            | Self::Link { path, .. }
            | Self::Symlink { path, .. }
            | Self::Unlink { path }
            | Self::Stat { path }
            | Self::ReadLink { path }
            | Self::Truncate { target: OperationTarget::Path(path), .. }
            | Self::SetMode { target: OperationTarget::Path(path), .. }
            | Self::SetTimes { target: OperationTarget::Path(path) }
            | Self::Rename { from: path, .. }
            | Self::Exchange { from: path, .. } => Some(path),
            _ => None,
        }
    }

    /// The length of its names and of a link's target, in bytes.
    pub fn name_bytes(&self) -> usize {
        let other: &[u8] = match self {
            Self::Rename { to: other, .. }
            | Self::Exchange { to: other, .. }
            | Self::Link { existing: other, .. } => other.as_bytes(),
            Self::Symlink { target, .. } => target,
            _ => &[],
        };
        other.len() + self.path().map_or(0, |path| path.as_bytes().len())
    }

    /// The word by which a log names it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MakeDirectory { .. } => "mkdir",
            Self::RemoveDirectory { .. } => "rmdir",
            Self::Open { create: Some(_), .. } => "create",
            Self::Open { create: None, .. } => "open",
            Self::Seek { .. } => "seek",
            Self::Close { .. } => "close",
            Self::Read(_) => "read",
            Self::ReadFile { .. } => "read-file",
            Self::Write(_) => "write",
            Self::Truncate { target: OperationTarget::Path(_), .. } => "truncate",
            Self::Truncate { target: OperationTarget::Handle(_), .. } => "ftruncate",
            Self::Allocate { .. } => "allocate",
            Self::Sync { only_data: false, .. } => "fsync",
            Self::Sync { only_data: true, .. } => "fdatasync",
            Self::SyncFilesystem => "sync",
            Self::Rename { .. } => "rename",
            Self::Exchange { .. } => "exchange",
            Self::Link { .. } => "link",
            Self::Symlink { .. } => "symlink",
            Self::Unlink { .. } => "unlink",
            Self::Stat { .. } => "stat",
            Self::ReadLink { .. } => "readlink",
            Self::List { .. } => "list",
            Self::ListDirectory { .. } => "list-directory",
            Self::SetMode { target: OperationTarget::Path(_), .. } => "chmod",
            Self::SetMode { target: OperationTarget::Handle(_), .. } => "fchmod",
            Self::SetTimes { target: OperationTarget::Path(_) } => "utimens",
            Self::SetTimes { target: OperationTarget::Handle(_) } => "futimens",
            Self::SetModified { .. } => "modified",
        }
    }

    /// The number of system calls it represents.
    pub fn calls(&self) -> u64 {
        match self {
            Self::Read(transfer) | Self::Write(transfer) => transfer.count,
            _ => 1,
        }
    }
}

/// An open file, which several descriptors may share (an "open file description", open(2)).
///
/// Numbers are below 2^20, Linux's limit on descriptors of a process, and are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u32);

impl Handle {
    const BELOW: u32 = 1 << 20;

    /// The handle with this number, if it is valid.
    pub fn new(number: u32) -> Option<Self> {
        (number < Self::BELOW).then_some(Self(number))
    }

    pub fn number(self) -> u32 {
        self.0
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of open(2)")]
pub struct OpenFlags {
    /// For reading; also set for directories.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// `O_TRUNC`: its contents are discarded. Not set for new files.
    pub truncate: bool,
    /// `O_APPEND`: every write goes to the end, which is its offset in the log.
    pub append: bool,
    /// `O_SYNC`: a write returns when it is durable, including metadata.
    pub sync: bool,
    /// `O_DSYNC`: a write returns when it can be read after a crash.
    pub data_sync: bool,
    /// `O_DIRECTORY`: it is a directory.
    pub directory: bool,
    /// Without `O_EXCL`: a file to be created may exist. Not used in recorded logs, which know
    /// whether it did.
    pub or_existing: bool,
}

/// Consecutive ranges of one length, with a system call for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// An open file.
    pub handle: Handle,
    /// The start of the first range, in bytes.
    pub offset: u64,
    /// The length of each, in bytes; never 0. The end of the last is below 2^63.
    pub length: u64,
    /// The number of ranges; never 0.
    pub count: u64,
}

impl Transfer {
    /// The transfer, if its end is a valid file offset.
    pub fn new(handle: Handle, offset: u64, length: u64, count: u64) -> Option<Self> {
        let end = length.checked_mul(count)?.checked_add(offset)?;
        let transfer = Self { handle, offset, length, count };
        (length > 0 && count > 0 && i64::try_from(end).is_ok()).then_some(transfer)
    }

    /// The bytes of all ranges.
    pub fn bytes(&self) -> u64 {
        self.length.saturating_mul(self.count)
    }

    /// Where the last range ends.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes())
    }
}

/// The target of an operation, by name or open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationTarget {
    /// By its name; a symbolic link is not followed.
    Path(RelativePath),
    /// By an open file.
    Handle(Handle),
}

/// A mode of fallocate(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Blocks are allocated, and the file grows if necessary.
    Extend,
    /// Blocks are allocated, even beyond the file's end.
    KeepSize,
    /// Blocks are freed; the file keeps its size.
    PunchHole,
    /// The range becomes zeros, and the file grows if necessary.
    ZeroRange,
    /// The range becomes zeros; the file keeps its size.
    ZeroRangeKeepSize,
    /// The range is removed from the file.
    CollapseRange,
    /// A range is inserted into the file.
    InsertRange,
}

crate::words! {
    Allocation {
        Extend: "extend",
        KeepSize: "keep-size",
        PunchHole: "punch-hole",
        ZeroRange: "zero-range",
        ZeroRangeKeepSize: "zero-range-keep-size",
        CollapseRange: "collapse-range",
        InsertRange: "insert-range",
    }
}

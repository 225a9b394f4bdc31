//! Defines what can be done to a directory: few operations, each a kind of system call.
//!
//! Calls that ask the same of a filesystem are one operation: `access` and `lstat` both look a name
//! up, `pwritev` and `sendfile` both write a range.

use crate::RelativePath;

/// Something that is done to a directory, or was done to it and succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Makes a directory.
    MakeDirectory {
        /// Its permission bits, with nothing more taken off by a umask.
        mode: u32,
        /// The new name.
        path: RelativePath,
    },
    /// Removes an empty directory.
    RemoveDirectory {
        /// Its name.
        path: RelativePath,
    },
    /// Opens a file or a directory, or creates a file and opens it.
    Open {
        /// What the open file is called from now on.
        handle: Handle,
        /// How it is opened.
        flags: OpenFlags,
        /// The permission bits of the file if it is new; otherwise it exists.
        create: Option<u32>,
        /// Its name.
        path: RelativePath,
    },
    /// Moves the offset of a handle, as lseek(2) does. A log has none: its reads and writes have
    /// offsets.
    Seek {
        /// An open file.
        handle: Handle,
        /// The offset in bytes, below 2^63.
        offset: u64,
    },
    /// Closes a handle: the last of the descriptors that shared it is gone.
    Close {
        /// Which one.
        handle: Handle,
    },
    /// Reads ranges of a file. All of the bytes exist; what was asked for beyond the file's end is
    /// left out. Mapping a file to read it counts as reading the range that was mapped.
    Read(Transfer),
    /// Opens a file, reads it to its end and closes it, as cat(1) does.
    ReadFile {
        /// Its name.
        path: RelativePath,
    },
    /// Writes ranges of a file, without holes between them.
    Write(Transfer),
    /// Sets the length of a file.
    Truncate {
        /// Which file.
        target: Target,
        /// The length in bytes.
        size_bytes: u64,
    },
    /// Changes how a range of a file is allocated, as fallocate(2) does.
    Allocate {
        /// An open file.
        handle: Handle,
        /// What becomes of the range.
        allocation: Allocation,
        /// Where it begins, in bytes.
        offset: u64,
        /// How long it is, in bytes.
        length: u64,
    },
    /// Makes a file or directory durable, as fsync(2) does.
    Sync {
        /// An open file or directory.
        handle: Handle,
        /// Whether metadata that is not needed to read the file may be left, as by fdatasync(2).
        only_data: bool,
    },
    /// Makes the filesystem durable, as sync(2) and syncfs(2) do.
    SyncFilesystem,
    /// Renames a file or directory, replacing what has the new name.
    Rename {
        /// The old name.
        from: RelativePath,
        /// The new name.
        to: RelativePath,
    },
    /// Exchanges what has two names.
    Exchange {
        /// The one.
        from: RelativePath,
        /// The other.
        to: RelativePath,
    },
    /// Gives a file another name.
    Link {
        /// A name it has.
        existing: RelativePath,
        /// The new name.
        path: RelativePath,
    },
    /// Makes a symbolic link.
    Symlink {
        /// The text of the link: 1 to 4095 bytes without NUL.
        target: Box<[u8]>,
        /// The new name.
        path: RelativePath,
    },
    /// Removes a name that is not a directory's.
    Unlink {
        /// The name.
        path: RelativePath,
    },
    /// Looks a name up and reads what the filesystem knows of it; a link is not followed.
    Stat {
        /// An existing name.
        path: RelativePath,
    },
    /// Reads the text of a symbolic link.
    ReadLink {
        /// Its name.
        path: RelativePath,
    },
    /// Reads a directory to its end.
    List {
        /// An open directory.
        handle: Handle,
    },
    /// Opens a directory, reads it to its end and closes it, as ls(1) does.
    ListDirectory {
        /// Its name.
        path: RelativePath,
    },
    /// Sets permission bits.
    SetMode {
        /// Of what.
        target: Target,
        /// The bits, below `0o10000`.
        mode: u32,
    },
    /// Sets times, to whatever; a link is not followed.
    SetTimes {
        /// Of what.
        target: Target,
    },
    /// Sets the modification time of a file, as tar(1) does. A log has no times.
    SetModified {
        /// An open file.
        handle: Handle,
        /// Seconds since 1970.
        seconds: i64,
    },
}

impl Operation {
    /// What is open before it and that it works on.
    #[must_use]
    pub fn handle(&self) -> Option<Handle> {
        match self {
            Self::Read(transfer) | Self::Write(transfer) => Some(transfer.handle),
            Self::Truncate { target: Target::Handle(handle), .. }
            | Self::SetMode { target: Target::Handle(handle), .. }
            | Self::SetTimes { target: Target::Handle(handle) }
            | Self::SetModified { handle, .. }
            | Self::Seek { handle, .. }
            | Self::Close { handle }
            | Self::Allocate { handle, .. }
            | Self::Sync { handle, .. }
            | Self::List { handle } => Some(*handle),
            _ => None,
        }
    }

    /// What it names, or makes a name for.
    #[must_use]
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
            | Self::Truncate { target: Target::Path(path), .. }
            | Self::SetMode { target: Target::Path(path), .. }
            | Self::SetTimes { target: Target::Path(path) }
            | Self::Rename { from: path, .. }
            | Self::Exchange { from: path, .. } => Some(path),
            _ => None,
        }
    }

    /// The bytes of its names and of a link's text.
    #[must_use]
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
    #[must_use]
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
            Self::Truncate { target: Target::Path(_), .. } => "truncate",
            Self::Truncate { target: Target::Handle(_), .. } => "ftruncate",
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
            Self::SetMode { target: Target::Path(_), .. } => "chmod",
            Self::SetMode { target: Target::Handle(_), .. } => "fchmod",
            Self::SetTimes { target: Target::Path(_) } => "utimens",
            Self::SetTimes { target: Target::Handle(_) } => "futimens",
            Self::SetModified { .. } => "modified",
        }
    }

    /// How many system calls it stands for.
    #[must_use]
    pub fn calls(&self) -> u64 {
        match self {
            Self::Read(transfer) | Self::Write(transfer) => transfer.count,
            _ => 1,
        }
    }
}

/// An open file, as several descriptors may share it (an "open file description", open(2)).
///
/// Numbers are below 2^20, the most descriptors that Linux gives a process, and used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u32);

impl Handle {
    const BELOW: u32 = 1 << 20;

    /// The handle of this number, if it may be one.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        (number < Self::BELOW).then_some(Self(number))
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of open(2)")]
pub struct OpenFlags {
    /// To read; a directory is opened so too.
    pub read: bool,
    /// To write.
    pub write: bool,
    /// `O_TRUNC`: what was in it is thrown away. A new file is not said to be truncated.
    pub truncate: bool,
    /// `O_APPEND`: every write goes to the end, which is the offset that the log has for it.
    pub append: bool,
    /// `O_SYNC`: a write returns when it is durable, metadata and all.
    pub sync: bool,
    /// `O_DSYNC`: a write returns when it can be read after a crash.
    pub data_sync: bool,
    /// `O_DIRECTORY`: it is a directory.
    pub directory: bool,
    /// Without `O_EXCL`: it may exist where it would be created. A log says whether it did.
    pub or_existing: bool,
}

/// Ranges of one length, each behind the one before, and a system call for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// An open file.
    pub handle: Handle,
    /// Where the first range begins, in bytes.
    pub offset: u64,
    /// How long each is, in bytes; never 0. The end of the last is below 2^63.
    pub length: u64,
    /// How many there are; never 0.
    pub count: u64,
}

impl Transfer {
    /// The transfer, if its end can be an offset in a file.
    #[must_use]
    pub fn new(handle: Handle, offset: u64, length: u64, count: u64) -> Option<Self> {
        let end = length.checked_mul(count)?.checked_add(offset)?;
        let transfer = Self { handle, offset, length, count };
        (length > 0 && count > 0 && i64::try_from(end).is_ok()).then_some(transfer)
    }

    /// The bytes of all ranges.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.length.saturating_mul(self.count)
    }

    /// Where the last range ends.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes())
    }
}

/// What an operation works on that may be named or open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By its name; a symbolic link is not followed.
    Path(RelativePath),
    /// By an open file.
    Handle(Handle),
}

/// What fallocate(2) may be told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Blocks are reserved, and the file grows if it ends before.
    Extend,
    /// Blocks are reserved, also behind the file's end.
    KeepSize,
    /// Blocks are let go, the file keeps its length.
    PunchHole,
    /// The range becomes zeros, and the file grows if it ends before.
    ZeroRange,
    /// The range becomes zeros, the file keeps its length.
    ZeroRangeKeepSize,
    /// The range is taken out of the file.
    CollapseRange,
    /// Room is made in the file.
    InsertRange,
}

impl Allocation {
    /// Every way to allocate.
    pub const ALL: [Self; 7] = [
        Self::Extend,
        Self::KeepSize,
        Self::PunchHole,
        Self::ZeroRange,
        Self::ZeroRangeKeepSize,
        Self::CollapseRange,
        Self::InsertRange,
    ];

    /// The word by which a log names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Extend => "extend",
            Self::KeepSize => "keep-size",
            Self::PunchHole => "punch-hole",
            Self::ZeroRange => "zero-range",
            Self::ZeroRangeKeepSize => "zero-range-keep-size",
            Self::CollapseRange => "collapse-range",
            Self::InsertRange => "insert-range",
        }
    }
}

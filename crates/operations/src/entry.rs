//! Defines the entries of a directory.

use crate::RelativePath;

/// One name in the directory before the operations.
///
/// In a list, parents come before their contents; where lists are compared, the entries of a
/// directory are in byte order of their names. Devices, sockets and pipes are omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Directory {
        /// Its permission bits, below `0o10000`.
        mode: u32,
        path: RelativePath,
    },
    /// A regular file, by its first name.
    File {
        /// Its permission bits, below `0o10000`.
        mode: u32,
        /// Its length in bytes, below 2^63.
        size_bytes: u64,
        path: RelativePath,
    },
    /// A symbolic link.
    Symlink {
        /// The link's target: 1 to 4095 bytes without NUL, not necessarily a path.
        target: Box<[u8]>,
        path: RelativePath,
    },
    /// Another name (hard link) of a file or of a symbolic link.
    Link {
        /// A name listed before.
        existing: RelativePath,
        /// The other name.
        path: RelativePath,
    },
}

impl Entry {
    /// Its name.
    pub fn path(&self) -> &RelativePath {
        match self {
            Self::Directory { path, .. }
            | Self::File { path, .. }
            | Self::Symlink { path, .. }
            | Self::Link { path, .. } => path,
        }
    }

    /// The length of its names and of a link's target, in bytes.
    pub fn name_bytes(&self) -> usize {
        let other: &[u8] = match self {
            Self::Directory { .. } | Self::File { .. } => &[],
            Self::Symlink { target, .. } => target,
            Self::Link { existing, .. } => existing.as_bytes(),
        };
        other.len() + self.path().as_bytes().len()
    }
}

//! Defines the entries of a directory.

use crate::RelativePath;

/// One name in the directory before the operations.
///
/// A list of them has parents before what is in them and, where somebody compares lists, what is in
/// one directory in the order of the bytes of its names. Devices, sockets and pipes are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory {
        /// Its permission bits, below `0o10000`.
        mode: u32,
        /// Its name.
        path: RelativePath,
    },
    /// A regular file, by the first of its names.
    File {
        /// Its permission bits, below `0o10000`.
        mode: u32,
        /// Its length in bytes, below 2^63.
        size_bytes: u64,
        /// Its name.
        path: RelativePath,
    },
    /// A symbolic link.
    Symlink {
        /// The text of the link: 1 to 4095 bytes without NUL, which need not be a path.
        target: Box<[u8]>,
        /// Its name.
        path: RelativePath,
    },
    /// Another name of a file or of a symbolic link.
    Link {
        /// A name that was listed before.
        existing: RelativePath,
        /// The other name.
        path: RelativePath,
    },
}

impl Entry {
    /// Its name.
    #[must_use]
    pub fn path(&self) -> &RelativePath {
        match self {
            Self::Directory { path, .. }
            | Self::File { path, .. }
            | Self::Symlink { path, .. }
            | Self::Link { path, .. } => path,
        }
    }

    /// The bytes of its names and of a link's text.
    #[must_use]
    pub fn name_bytes(&self) -> usize {
        let other: &[u8] = match self {
            Self::Directory { .. } | Self::File { .. } => &[],
            Self::Symlink { target, .. } => target,
            Self::Link { existing, .. } => existing.as_bytes(),
        };
        other.len() + self.path().as_bytes().len()
    }
}

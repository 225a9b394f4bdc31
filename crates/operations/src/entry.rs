//! Defines what a directory held before anything was done to it.

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
    /// The bytes of its names and of a link's text.
    #[must_use]
    pub fn name_bytes(&self) -> usize {
        match self {
            Self::Directory { path, .. } | Self::File { path, .. } => path.as_bytes().len(),
            Self::Symlink { target, path } => target.len() + path.as_bytes().len(),
            Self::Link { existing, path } => existing.as_bytes().len() + path.as_bytes().len(),
        }
    }
}

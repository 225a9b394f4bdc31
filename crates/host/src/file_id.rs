//! The identity of a file.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

/// A file, identified by numbers that survive renaming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId {
    /// The device number of the filesystem it is on.
    pub filesystem: u64,
    pub inode: u64,
}

impl FileId {
    /// The numbers of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(&file.metadata()?))
    }
}

impl From<&Metadata> for FileId {
    fn from(file: &Metadata) -> Self {
        Self { filesystem: file.dev(), inode: file.ino() }
    }
}

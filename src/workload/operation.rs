//! Operations: the one language in which a workload says what is done to a filesystem.
//!
//! Generators produce lists of operations and know no filesystem; the driver performs them on a
//! directory and knows no workload. Between them there is only this type, so a recorded program
//! can be replayed by the same driver.

use std::sync::Arc;

use super::synthetic::bonnie;

/// One thing done to a filesystem.
///
/// Paths are relative to the workload's directory and separated by `/`, without `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Makes a directory; its parent exists.
    MakeDir {
        /// The new directory.
        path: Arc<str>,
    },
    /// Creates a file, writes all of it and closes it.
    WriteFile {
        /// The new file.
        path: Arc<str>,
        /// The length in bytes.
        bytes: u64,
        /// What the file holds.
        content: Content,
        /// The permission bits, such as `0o644`.
        mode: u32,
        /// The modification time to set, in seconds since 1970; none leaves the time of writing.
        mtime_s: Option<i64>,
    },
    /// Makes a symbolic link.
    Symlink {
        /// The new link.
        path: Arc<str>,
        /// The text of the link, which need not exist.
        target: Arc<str>,
    },
    /// Makes another name for a file.
    HardLink {
        /// The new name.
        path: Arc<str>,
        /// A name the file already has.
        existing: Arc<str>,
    },
    /// Opens a file, reads it to the end and closes it.
    ReadFile {
        /// An existing file.
        path: Arc<str>,
    },
    /// Renames a file or a directory, replacing what has the new name.
    Rename {
        /// The old name.
        from: Arc<str>,
        /// The new name.
        to: Arc<str>,
    },
    /// Unlinks a file or a symbolic link.
    Remove {
        /// An existing file.
        path: Arc<str>,
    },
    /// Opens a directory, reads all its entries and closes it.
    ListDir {
        /// An existing directory.
        path: Arc<str>,
    },
}

/// What a file holds, as a recipe: contents are never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text that compresses like C source.
    Text {
        /// Tells this file's bytes from every other file's.
        seed: u64,
    },
    /// Bytes that do not compress.
    Binary {
        /// Tells this file's bytes from every other file's.
        seed: u64,
    },
    /// Bytes of a decoded tar archive.
    Archive {
        /// Where the file's bytes begin in the archive, in bytes.
        offset: u64,
    },
    /// Bytes as Bonnie's tests leave them.
    Bonnie(bonnie::Data),
}

/// The bytes that the operations write into files, in total.
#[cfg(test)]
#[must_use]
pub fn bytes_written(operations: &[Operation]) -> u64 {
    let written = |operation: &Operation| match operation {
        Operation::WriteFile { bytes, .. } => *bytes,
        _ => 0,
    };
    operations.iter().map(written).sum()
}

/// How many files the operations create, counting those removed again later.
#[cfg(test)]
#[must_use]
pub fn files_created(operations: &[Operation]) -> usize {
    let creates = |operation: &&Operation| matches!(operation, Operation::WriteFile { .. });
    operations.iter().filter(creates).count()
}

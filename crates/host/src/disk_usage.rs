//! The space that files and folders take on disk.

use std::fs::{self, DirEntry, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The disk usage of a file or folder in bytes. What disappears meanwhile does not count.
#[must_use]
pub fn disk_usage(path: &Path, metadata: &Metadata) -> u64 {
    let own = metadata.blocks() * 512;
    if !metadata.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let of = |entry: DirEntry| Some(disk_usage(&entry.path(), &entry.metadata().ok()?));
    own + entries.filter_map(of).sum::<u64>()
}

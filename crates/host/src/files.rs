//! Whole files and folders: synced, hashed, and how much space they take.

use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::regular_file;

/// Syncs the names in a folder.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Syncs a folder recursively, with all its files; links are not followed.
pub fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    sync_folder(folder)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn checksum(path: &Path) -> io::Result<String> {
    checksum_of(&mut regular_file::open(path)?)
}

/// The SHA-256 of all that can still be read, in hexadecimal digits.
pub fn checksum_of(file: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            length => hasher.update(&piece[..length]),
        }
    }
}

/// The disk usage of a file or folder in bytes. What disappears meanwhile does not count.
pub fn disk_usage(path: &Path, metadata: &Metadata) -> u64 {
    let own = metadata.blocks() * 512;
    if !metadata.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let of = |entry: DirEntry| Some(disk_usage(&entry.path(), &entry.metadata().ok()?));
    own + entries.filter_map(of).sum::<u64>()
}

//! Lists a directory, before a program is recorded or after a script was performed.
//!
//! The order is that of `Tree::entries`, so that a directory can be compared with a log.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ssdlab_operations::{Entry, RelativePath};

/// The contents of a directory.
#[derive(Debug, Default)]
pub struct DirectorySnapshot {
    pub entries: Vec<Entry>,
    /// Names that a log cannot contain: of devices, sockets and pipes.
    pub special: Vec<RelativePath>,
    /// The first name of each file that has several, by device and number.
    first_names: BTreeMap<(u64, u64), RelativePath>,
}

/// What could not be read, and why.
pub type UnreadableEntry = (PathBuf, io::Error);

impl DirectorySnapshot {
    /// Walks the directory, which must not change meanwhile.
    pub fn of(directory: &Path) -> Result<Self, UnreadableEntry> {
        let mut snapshot = Self::default();
        snapshot.walk(directory, &RelativePath::top())?;
        Ok(snapshot)
    }

    fn walk(&mut self, directory: &Path, path: &RelativePath) -> Result<(), UnreadableEntry> {
        let names = fs::read_dir(directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        let mut names: Vec<_> = names.map_err(|cause| (directory.to_owned(), cause))?;
        names.sort_unstable();
        for name in names {
            let place = directory.join(&name);
            let inside = path.join(name.as_bytes());
            let added = match inside {
                Some(inside) => self.add(&place, inside),
                None => Err(io::ErrorKind::InvalidFilename.into()),
            };
            if let Some(inner) = added.map_err(|cause| (place.clone(), cause))? {
                self.walk(&place, &inner)?;
            }
        }
        Ok(())
    }

    /// Adds a name; returns it if it is a directory.
    fn add(&mut self, place: &Path, path: RelativePath) -> io::Result<Option<RelativePath>> {
        let metadata = fs::symlink_metadata(place)?;
        let (kind, mode) = (metadata.file_type(), metadata.mode() & 0o7777);
        if kind.is_dir() {
            self.entries.push(Entry::Directory { mode, path: path.clone() });
            return Ok(Some(path));
        }
        if !kind.is_file() && !kind.is_symlink() {
            self.special.push(path);
            return Ok(None);
        }
        let identity = (metadata.dev(), metadata.ino());
        if let Some(existing) = self.first_names.get(&identity).cloned() {
            self.entries.push(Entry::Link { existing, path });
            return Ok(None);
        }
        if metadata.nlink() > 1 {
            self.first_names.insert(identity, path.clone());
        }
        self.entries.push(if kind.is_file() {
            Entry::File { mode, size_bytes: metadata.len(), path }
        } else {
            let target = fs::read_link(place)?.into_os_string().into_vec().into_boxed_slice();
            Entry::Symlink { target, path }
        });
        Ok(None)
    }
}

//! Defines how a directory is walked for an operation log: what is in it before a program runs.
//!
//! The order is that of `Tree::entries`, so that a directory can be compared with what a log says.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ssdlab_operations::{Entry, RelativePath};

/// A directory as it is, and how many names in it no log can say: devices, sockets and pipes.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub entries: Vec<Entry>,
    pub special_files: u64,
    /// The first name of each file that has several, by device and number.
    first_names: BTreeMap<(u64, u64), RelativePath>,
}

impl Snapshot {
    /// Walks the directory. Nobody else may work on it meanwhile.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let mut snapshot = Self::default();
        snapshot.walk(directory, &RelativePath::top())?;
        Ok(snapshot)
    }

    fn walk(&mut self, directory: &Path, path: &RelativePath) -> io::Result<()> {
        let mut names: Vec<_> = fs::read_dir(directory)?
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<_>>()?;
        names.sort_unstable();
        for name in names {
            let inside = path.join(name.as_bytes()).ok_or_else(|| {
                let shown = directory.join(&name);
                io::Error::other(format!("the path {} is too long", shown.display()))
            })?;
            self.add(&directory.join(&name), inside)?;
        }
        Ok(())
    }

    fn add(&mut self, place: &Path, path: RelativePath) -> io::Result<()> {
        let metadata = fs::symlink_metadata(place)?;
        let (kind, mode) = (metadata.file_type(), metadata.mode() & 0o7777);
        if kind.is_dir() {
            self.entries.push(Entry::Directory { mode, path: path.clone() });
            return self.walk(place, &path);
        }
        if !kind.is_file() && !kind.is_symlink() {
            self.special_files += 1;
            return Ok(());
        }
        let identity = (metadata.dev(), metadata.ino());
        if let Some(existing) = self.first_names.get(&identity).cloned() {
            self.entries.push(Entry::Link { existing, path });
            return Ok(());
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
        Ok(())
    }
}

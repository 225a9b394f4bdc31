//! A new folder, held open. In a folder of somebody else its name can come to mean another folder
//! at any time, also while root works in it; the open one stays what it is.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use ssdlab_host::undo::Journal;

use super::LabError;

/// A folder that this process has made.
#[derive(Debug)]
pub(super) struct HeldFolder(File);

impl HeldFolder {
    /// Makes a folder of this run in another, and returns its path there, too.
    pub fn make(parent: &Path, journal: &mut Journal) -> Result<(Self, PathBuf), LabError> {
        let folder = parent.join(format!("ssdlab-{}", journal.marker()));
        journal.make_folder(&folder).map_err(LabError::step("make", &folder))?;
        let held = Self::open(&folder).map_err(LabError::step("hold", &folder))?;
        Ok((held, folder))
    }

    /// Opens a folder just made, not a link or another folder in its place.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = Self(File::from(rustix::fs::open(folder, flags, Mode::empty())?));
        let is_own = held.0.metadata()?.uid() == rustix::process::geteuid().as_raw();
        if !is_own || fs::read_dir(held.path())?.next().is_some() {
            return Err(io::Error::other("it has been replaced by another folder"));
        }
        Ok(held)
    }

    /// Its path for this process and for programs as they are started in it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests;

//! The cache as a whole: its size, the states in use, and the order of eviction.
//!
//! A state is in use while somebody holds the lock of its record, or that of the folder in which it
//! is made. Removal takes both locks first; a lookup holds the second until it holds the first, so
//! no state is removed between being found and being used.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ssdlab_host::disk_usage::disk_usage;
use ssdlab_host::lock::FileLock;
use ssdlab_host::missing::if_there;

use super::{KernelError, RECORD, Record, Store, open_cache, parsed};
use crate::entry::{CacheEntry, Cleared, EntryKind};

/// The maximum size of all states in bytes, however much space is free.
pub(super) const MOST_BYTES: u64 = 32 << 30;

/// The name prefix of folders in which states are being made.
pub(super) const WORK: &str = "work-";

/// The digits of a state's name.
pub(super) const DIGITS: usize = 16;

/// Marks the state in a folder as in use, until the lock is dropped, and as used now.
pub(super) fn hold_state(folder: &Path) -> io::Result<FileLock> {
    // Others hold it for no longer than it takes to ask for it.
    let held = FileLock::shared(File::open(folder.join(RECORD))?)?;
    // Only what goes first depends on it.
    let _ = held.file().set_modified(SystemTime::now());
    Ok(held)
}

/// Makes a folder, if missing, and takes its lock; `None` if another holder exists, or the folder
/// has just been removed.
pub(super) fn hold_work(folder: &Path) -> io::Result<Option<FileLock>> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
        _ => {}
    }
    let held = if_there(hold_alone(folder))?.flatten();
    Ok(held.filter(|held| held.is_at(folder)))
}

fn hold_alone(path: &Path) -> io::Result<Option<FileLock>> {
    FileLock::exclusive(File::open(path)?)
}

impl Store {
    /// Everything that is kept or being made, the least recently used first.
    pub fn all(&self) -> Result<Vec<CacheEntry>, KernelError> {
        let Some(folder) = self.folder.as_deref() else { return Ok(Vec::new()) };
        if !folder.exists() {
            return Ok(Vec::new());
        }
        open_cache(folder)?;
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).map_err(KernelError::at("read", folder))?.flatten() {
            let path = entry.path();
            if identity(&path).is_some() && path.is_dir() {
                // It may just have been removed.
                all.extend(described(path).ok());
            }
        }
        all.sort_by(|one, other| (one.used_s, &one.path).cmp(&(other.used_s, &other.path)));
        Ok(all)
    }

    /// Removes everything that is not in use.
    pub fn clear(&self) -> Result<Cleared, KernelError> {
        let mut cleared = Cleared::default();
        for kept in self.all()? {
            let is_removed = remove(&kept.path)?;
            cleared.count(&kept, is_removed);
        }
        Ok(cleared)
    }

    /// Removes abandoned states, and then the least recently used unused ones until the rest fits:
    /// into half of the space that would be free without it, and into the maximum.
    pub(super) fn make_room(&self) -> Result<(), KernelError> {
        let Some(folder) = self.folder.as_deref() else { return Ok(()) };
        let (whole, given_up): (Vec<CacheEntry>, Vec<CacheEntry>) =
            self.all()?.into_iter().partition(|kept| !is_work(&kept.path));
        for kept in given_up {
            remove(&kept.path)?;
        }
        let mut kept_bytes: u64 = whole.iter().map(|kept| kept.size_bytes).sum();
        let found = rustix::fs::statvfs(folder);
        let found = found.map_err(|errno| KernelError::at("look at", folder)(errno.into()))?;
        let free_bytes = found.f_bavail * found.f_frsize;
        let room_bytes = self.most_bytes.min(free_bytes.midpoint(kept_bytes));
        for kept in whole {
            if kept_bytes <= room_bytes {
                break;
            }
            if remove(&kept.path)? {
                kept_bytes -= kept.size_bytes;
            }
        }
        Ok(())
    }
}

/// Describes the state in a folder. Its maker names what it is made from once it is complete.
fn described(folder: PathBuf) -> io::Result<CacheEntry> {
    let lock = if is_work(&folder) { folder.clone() } else { folder.join(RECORD) };
    let is_in_use = hold_alone(&lock).is_ok_and(|held| held.is_none());
    let record: Option<Record> = parsed(&folder.join(RECORD));
    let used = fs::metadata(folder.join(RECORD)).or_else(|_| fs::metadata(&folder))?;
    let used = used.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(CacheEntry {
        kind: EntryKind::Aged,
        made_from: record.filter(|_| !is_work(&folder)).map(|record| record.made_from),
        size_bytes: disk_usage(&folder, &fs::metadata(&folder)?),
        used_s: used.as_secs(),
        is_in_use,
        path: folder,
    })
}

/// The name of the state in a folder, complete or unfinished; `None` for other folders.
fn identity(folder: &Path) -> Option<&str> {
    let name = folder.file_name()?.to_str()?;
    let digits = name.strip_prefix(WORK).unwrap_or(name);
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digits.len() == DIGITS && digits.bytes().all(is_digit)).then_some(digits)
}

fn is_work(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(WORK))
}

/// Removes a state and its unfinished folder, unless it is being used or made; returns whether it
/// did.
fn remove(folder: &Path) -> Result<bool, KernelError> {
    let Some(identity) = identity(folder) else { return Ok(false) };
    let work = folder.with_file_name(format!("{WORK}{identity}"));
    let error = |path| KernelError::at("remove", path);
    let Some(_making) = hold_work(&work).map_err(error(&work))? else { return Ok(false) };
    let removed = if is_work(folder) { Ok(true) } else { remove_unused(folder) };
    // Waiters for its lock see that it is gone.
    fs::remove_dir_all(&work).map_err(error(&work))?;
    removed.map_err(error(folder))
}

fn remove_unused(folder: &Path) -> io::Result<bool> {
    // Without a record nobody would use it.
    let unused = if_there(hold_alone(&folder.join(RECORD)))?;
    if matches!(unused, Some(None)) {
        return Ok(false);
    }
    if_there(fs::remove_dir_all(folder))?;
    Ok(true)
}

#[cfg(test)]
mod tests;

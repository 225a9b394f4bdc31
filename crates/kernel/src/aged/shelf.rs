//! The cache as a whole: its size, the states in use, and the order of eviction.
//!
//! A state is in use while somebody holds the lock of its record, or that of the folder in which it
//! is made. Removal takes both locks first; a lookup holds the second until it holds the first, so
//! no state is removed between being found and being used.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ssdlab_host::lock::FileLock;
use ssdlab_host::missing::if_there;

use super::{AgedError, RECORD, Record, Store, open, parsed};

/// The maximum size of all states in bytes, however much space is free.
pub(super) const MOST_BYTES: u64 = 32 << 30;

/// The name prefix of folders in which states are being made.
pub(super) const WORK: &str = "work-";

/// The digits of a state's name.
pub(super) const DIGITS: usize = 16;

/// Something that is kept.
#[derive(Debug)]
pub struct Kept {
    /// The folder its files are in.
    pub folder: PathBuf,
    /// Its origin; `None` while it is being made, or if it was abandoned or is damaged.
    pub made_from: Option<serde_json::Value>,
    /// Its disk usage.
    pub size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    pub used_s: u64,
    /// Whether it is being used or made.
    pub is_in_use: bool,
}

/// The outcome of a removal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// The folders that were removed.
    pub removed: usize,
    /// Their disk usage.
    pub removed_bytes: u64,
    /// The number in use, which were kept.
    pub in_use: usize,
}

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
    pub fn all(&self) -> Result<Vec<Kept>, AgedError> {
        let Some(folder) = self.folder.as_deref() else { return Ok(Vec::new()) };
        if !folder.exists() {
            return Ok(Vec::new());
        }
        open(folder)?;
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).map_err(AgedError::step("read", folder))?.flatten() {
            let path = entry.path();
            if identity(&path).is_some() && path.is_dir() {
                // It may just have been removed.
                all.extend(Kept::at(path).ok());
            }
        }
        all.sort_by(|one, other| (one.used_s, &one.folder).cmp(&(other.used_s, &other.folder)));
        Ok(all)
    }

    /// Removes everything that is not in use.
    pub fn clear(&self) -> Result<Cleared, AgedError> {
        let mut cleared = Cleared::default();
        for kept in self.all()? {
            if remove(&kept.folder)? {
                cleared.removed += 1;
                cleared.removed_bytes += kept.size_bytes;
            } else {
                cleared.in_use += 1;
            }
        }
        Ok(cleared)
    }

    /// Removes abandoned states, and then the least recently used unused ones until the rest fits:
    /// into half of the space that would be free without it, and into the maximum.
    pub(super) fn make_room(&self) -> Result<(), AgedError> {
        let Some(folder) = self.folder.as_deref() else { return Ok(()) };
        let (whole, given_up): (Vec<Kept>, Vec<Kept>) =
            self.all()?.into_iter().partition(|kept| !is_work(&kept.folder));
        for kept in given_up {
            remove(&kept.folder)?;
        }
        let mut kept_bytes: u64 = whole.iter().map(|kept| kept.size_bytes).sum();
        let found = rustix::fs::statvfs(folder);
        let found = found.map_err(|errno| AgedError::step("look at", folder)(errno.into()))?;
        let free_bytes = found.f_bavail * found.f_frsize;
        let room_bytes = self.most_bytes.min(free_bytes.midpoint(kept_bytes));
        for kept in whole {
            if kept_bytes <= room_bytes {
                break;
            }
            if remove(&kept.folder)? {
                kept_bytes -= kept.size_bytes;
            }
        }
        Ok(())
    }
}

impl Kept {
    fn at(folder: PathBuf) -> io::Result<Self> {
        let lock = if is_work(&folder) { folder.clone() } else { folder.join(RECORD) };
        let is_in_use = hold_alone(&lock).is_ok_and(|held| held.is_none());
        let record: Option<Record> = parsed(&folder.join(RECORD));
        let mut size_bytes = 0;
        for entry in fs::read_dir(&folder)? {
            size_bytes += entry?.metadata()?.blocks() * 512;
        }
        let used = fs::metadata(folder.join(RECORD)).or_else(|_| fs::metadata(&folder))?;
        let used = used.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let made_from = record.filter(|_| !is_work(&folder)).map(|record| record.made_from);
        Ok(Self { folder, made_from, size_bytes, used_s: used.as_secs(), is_in_use })
    }
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
fn remove(folder: &Path) -> Result<bool, AgedError> {
    let Some(identity) = identity(folder) else { return Ok(false) };
    let work = folder.with_file_name(format!("{WORK}{identity}"));
    let error = |path| AgedError::step("remove", path);
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

//! The cache as a whole: its size, the states in use, and the order of eviction.
//!
//! A state is in use while somebody holds the lock of its record, or that of the folder in which it
//! is made. Removal takes both locks first; a lookup holds the second until it holds the first, so
//! no state is removed between being found and being used.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{AgedError, RECORD, Record, Store, open, parsed};

/// The most room that states take, in bytes, however much there is.
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

/// A lock on a record or a folder, released when dropped. Closing the file would not be enough: a
/// program that is just being started has a copy of it.
#[derive(Debug)]
pub(super) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // A lock that cannot be given back ends with the program.
        let _ = self.0.unlock();
    }
}

impl Held {
    /// Marks the state in a folder as in use, until it is dropped, and as used now.
    pub fn of_state(folder: &Path) -> io::Result<Self> {
        let record = File::open(folder.join(RECORD))?;
        // Others hold it for no longer than it takes to ask for it.
        record.lock_shared()?;
        // Only what goes first depends on it.
        let _ = record.set_modified(SystemTime::now());
        Ok(Self(record))
    }

    /// Takes an exclusive lock; `None` if another holder exists.
    fn alone(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(cause),
        }
    }

    /// Makes a folder, if missing, and takes its lock; `None` if another holder exists, or the
    /// folder has just been removed.
    pub fn of_work(folder: &Path) -> io::Result<Option<Self>> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
            _ => {}
        }
        let held = match Self::alone(folder) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            held => held?,
        };
        let inode = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let named = fs::metadata(folder).ok().map(inode);
        Ok(held.filter(|held| named.is_some() && named == held.0.metadata().ok().map(inode)))
    }
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
        let is_in_use = Held::alone(&lock).is_ok_and(|held| held.is_none());
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
    let Some(_making) = Held::of_work(&work).map_err(error(&work))? else { return Ok(false) };
    let removed = if is_work(folder) { Ok(true) } else { remove_unused(folder) };
    // Waiters for its lock see that it is gone.
    fs::remove_dir_all(&work).map_err(error(&work))?;
    removed.map_err(error(folder))
}

fn remove_unused(folder: &Path) -> io::Result<bool> {
    let _unused = match Held::alone(&folder.join(RECORD)) {
        Ok(None) => return Ok(false),
        // Without a record nobody would use it.
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        unused => unused,
    };
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;
    use crate::aged::State;
    use crate::host::interrupt::Interrupt;

    fn get(store: &Store, from: &str) -> State<String> {
        let make = |folder: &Path| {
            fs::write(folder.join("image"), from).map_err(AgedError::step("write", folder))?;
            Ok::<_, AgedError>(from.to_owned())
        };
        store.get(&from, &Interrupt::default(), make).unwrap()
    }

    /// What states are there, by what they were made from; the least recently used first.
    fn kept(store: &Store) -> Vec<(String, bool)> {
        let all = store.all().unwrap().into_iter();
        let name = |kept: &Kept| match &kept.made_from {
            Some(from) => from.as_str().unwrap().to_owned(),
            None => "?".to_owned(),
        };
        all.map(|kept| (name(&kept), kept.is_in_use)).collect()
    }

    fn used(state: &State<String>, used_s: u64) {
        let record = File::open(state.folder.join(RECORD)).unwrap();
        record.set_modified(UNIX_EPOCH + Duration::from_secs(used_s)).unwrap();
    }

    #[test]
    fn the_least_recently_used_goes_first_and_nothing_that_is_in_use() {
        let place = tempfile::tempdir().unwrap();
        let mut store = Store::at(Some(place.path().join("aged")));
        let first = get(&store, "first");
        used(&first, 1);
        for (from, used_s) in [("second", 3), ("third", 2), ("fourth", 4)] {
            used(&get(&store, from), used_s);
        }
        let [first_, second, third, fourth] =
            [("first", true), ("second", false), ("third", false), ("fourth", false)]
                .map(|(name, is_in_use)| (name.to_owned(), is_in_use));
        assert_eq!(kept(&store), [first_.clone(), third.clone(), second, fourth.clone()]);
        // To use it is to keep it.
        drop(get(&store, "second"));
        // Room for three, and a little.
        let sizes: Vec<u64> = store.all().unwrap().iter().map(|kept| kept.size_bytes).collect();
        store.most_bytes = sizes.iter().sum::<u64>() - sizes[0] / 2;
        drop(get(&store, "fifth"));
        let names: BTreeSet<String> = kept(&store).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, BTreeSet::from(["first", "second", "fifth"].map(str::to_owned)));
        assert!(first.folder.join("image").exists());
        // One that is larger than the room there is stays as long as it is used.
        store.most_bytes = 0;
        let sixth = get(&store, "sixth");
        assert!(sixth.folder.join("image").exists());
        assert_eq!(kept(&store), [first_, ("sixth".to_owned(), true)]);
    }

    #[test]
    fn clearing_leaves_what_is_in_use_and_what_is_no_state() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::at(Some(place.path().join("aged")));
        assert_eq!(store.clear().unwrap(), Cleared::default());
        let used = get(&store, "used");
        drop(get(&store, "unused"));
        let folder = place.path().join("aged");
        let given_up = folder.join(format!("{WORK}0123456789abcdef"));
        fs::create_dir(&given_up).unwrap();
        fs::write(given_up.join("image"), "half").unwrap();
        let theirs = ["notes", "0123456789abcdeX", "work-0"].map(|name| folder.join(name));
        for path in &theirs {
            fs::create_dir(path).unwrap();
        }
        let making = |_: &Path| {
            let cleared = store.clear().unwrap();
            assert_eq!((cleared.removed, cleared.in_use), (2, 2));
            Ok::<_, AgedError>(())
        };
        store.get(&"making", &Interrupt::default(), making).unwrap();
        assert!(used.folder.join("image").exists() && !given_up.exists());
        assert!(theirs.iter().all(|path| path.exists()));
        drop(used);
        let cleared = store.clear().unwrap();
        assert_eq!((cleared.removed, cleared.in_use), (2, 0));
        assert!(cleared.removed_bytes > 0);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), theirs.len());
    }
}

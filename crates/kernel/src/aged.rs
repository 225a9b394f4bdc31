//! Expensive states that are cached per user: made once, verified before use, and safe to remove at
//! any time. A state is a folder with the files of its maker, `facts.json`, the maker's description
//! of it, and `state.json`, its origin and the hash of every other file. It is made in a folder
//! with another name, which is renamed when it is complete; its maker holds that folder's lock, and
//! everybody else who needs it waits. The least recently used states are evicted when space is
//! short.
//!
//! A state is in use while somebody holds the lock of its record, or that of the folder in which it
//! is made. Removal takes both locks first; a lookup holds the second until it holds the first, so
//! no state is removed between being found and being used.

mod sparse;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ssdlab_host::base_folder::cache_folder;
use ssdlab_host::files::{disk_usage, sync_tree};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::lock::FileLock;
use ssdlab_host::missing::if_there;
use ssdlab_host::program::ProgramError;

pub use self::sparse::{copy, each_block};
use super::KernelError;
use super::binary::open_cache;
use super::entry::{CacheEntry, EntryKind, RemovalSummary};

/// The file of a state that describes it.
const RECORD: &str = "state.json";

/// The file of its maker's description.
const FACTS: &str = "facts.json";

/// The maximum size of all states in bytes, however much space is free.
const MOST_BYTES: u64 = 32 << 30;

/// The name prefix of folders in which states are being made.
const WORK: &str = "work-";

/// The digits of a state's name.
const DIGITS: usize = 16;

/// The interval at which a waiter polls.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The states of this user.
#[derive(Debug)]
pub struct Store {
    /// None if this user has no folder for caches.
    folder: Option<PathBuf>,
    /// Those that this run has checked.
    checked: Mutex<BTreeSet<String>>,
    /// The maximum size of all states.
    most_bytes: u64,
}

/// A complete state. It is not removed before it is dropped.
#[derive(Debug)]
pub struct AgedState<T> {
    /// The folder its files are in.
    pub folder: PathBuf,
    /// Equal for states with equal contents: the first digits of a hash of its hashes.
    pub contents: String,
    /// Its maker's description of it.
    pub facts: T,
    _in_use: FileLock,
}

/// The contents of [`RECORD`].
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    made_from: serde_json::Value,
    /// By the names of files.
    sha256: BTreeMap<String, String>,
}

impl Record {
    fn contents(&self) -> String {
        let mut hash = Sha256::new();
        for (name, digest) in &self.sha256 {
            hash.update(format!("{name} {digest}\n"));
        }
        hex::encode(hash.finalize())[..16].to_owned()
    }
}

impl Store {
    /// The user's: `$XDG_CACHE_HOME/ssdlab/aged`, or below `~/.cache`.
    pub fn of_user() -> Self {
        Self::at(cache_folder().map(|cache| cache.join("aged")))
    }

    fn at(folder: Option<PathBuf>) -> Self {
        Self { folder, checked: Mutex::default(), most_bytes: MOST_BYTES }
    }

    /// The state with this origin. If there is none, or it is damaged, `make` is called to fill an
    /// empty folder; on failure nothing remains.
    pub fn get<T, E>(
        &self,
        made_from: &impl Serialize,
        interrupt: &Interrupt,
        make: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<AgedState<T>, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<KernelError>,
    {
        let made_from = serde_json::to_value(made_from).expect("it is plain data");
        let hash = Sha256::digest(made_from.to_string());
        let identity = hex::encode(hash)[..DIGITS].to_owned();
        let all = self.folder.as_ref().ok_or(KernelError::NoCache)?;
        open_cache(all)?;
        let folder = all.join(&identity);
        let work = all.join(format!("{WORK}{identity}"));
        let _lock = claim(&work, interrupt)?;
        let mut is_kept = false;
        let found = match self.find(&identity, &folder, &made_from) {
            Some((facts, record)) => hold_state(&folder)
                .map(|in_use| (facts, record, in_use))
                .map_err(|cause| KernelError::at("lock", &folder)(cause).into()),
            None => empty(&work)
                .and_then(|()| empty(&folder))
                .map_err(|cause| KernelError::at("empty", all)(cause).into())
                // What killed runs have left may be what is in its way.
                .and_then(|()| Ok(self.make_room()?))
                .and_then(|()| make(&work))
                .and_then(|facts| {
                    let (record, in_use) = keep(&work, &folder, made_from, &facts)
                        .map_err(KernelError::at("keep what was aged in", &folder))?;
                    is_kept = true;
                    self.checked().insert(identity.clone());
                    Ok((facts, record, in_use))
                }),
        };
        // After waiting for the lock, the folder may have been replaced or removed. A folder that
        // was kept has another name by now, and one with this name belongs to another maker.
        if !is_kept {
            let _ = fs::remove_dir_all(&work);
        }
        let (facts, record, in_use) = found?;
        if is_kept {
            self.make_room()?;
        }
        Ok(AgedState { folder, contents: record.contents(), facts, _in_use: in_use })
    }

    fn checked(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts and the record of an existing, intact state with this origin.
    fn find<T: DeserializeOwned>(
        &self,
        identity: &str,
        folder: &Path,
        made_from: &serde_json::Value,
    ) -> Option<(T, Record)> {
        let record: Record = parsed(&folder.join(RECORD))?;
        let is_good = record.made_from == *made_from
            && (self.checked().contains(identity) || hashes(folder).ok()? == record.sha256);
        if !is_good {
            return None;
        }
        self.checked().insert(identity.to_owned());
        Some((parsed(&folder.join(FACTS))?, record))
    }

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
    pub fn clear(&self) -> Result<RemovalSummary, KernelError> {
        let mut cleared = RemovalSummary::default();
        for kept in self.all()? {
            let is_removed = remove(&kept.path)?;
            cleared.count(&kept, is_removed);
        }
        Ok(cleared)
    }

    /// Removes abandoned states, and then the least recently used unused ones until the rest fits:
    /// into half of the space that would be free without it, and into the maximum.
    fn make_room(&self) -> Result<(), KernelError> {
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

/// Marks the state in a folder as in use, until the lock is dropped, and as used now.
fn hold_state(folder: &Path) -> io::Result<FileLock> {
    // Others hold it for no longer than it takes to ask for it.
    let held = FileLock::shared(File::open(folder.join(RECORD))?)?;
    // Only what goes first depends on it.
    let _ = held.file().set_modified(SystemTime::now());
    Ok(held)
}

/// Makes a folder, if missing, and takes its lock; `None` if another holder exists, or the folder
/// has just been removed.
fn hold_work(folder: &Path) -> io::Result<Option<FileLock>> {
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

fn parsed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Makes a folder and takes its lock, waiting for other holders.
fn claim(folder: &Path, interrupt: &Interrupt) -> Result<FileLock, KernelError> {
    loop {
        if interrupt.is_set() {
            return Err(ProgramError::Interrupted.into());
        }
        match hold_work(folder).map_err(KernelError::at("lock", folder))? {
            Some(held) => return Ok(held),
            None => sleep(POLL_INTERVAL),
        }
    }
}

/// Removes all files of a folder, if there is one.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in if_there(fs::read_dir(folder))?.into_iter().flatten() {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// Writes the record of a new state, syncs it, and renames it. It is in use even before the rename.
fn keep(
    work: &Path,
    folder: &Path,
    made_from: serde_json::Value,
    facts: &impl Serialize,
) -> io::Result<(Record, FileLock)> {
    fs::write(work.join(FACTS), serde_json::to_vec_pretty(facts)?)?;
    let record = Record { made_from, sha256: hashes(work)? };
    fs::write(work.join(RECORD), serde_json::to_vec_pretty(&record)?)?;
    sync_tree(work)?;
    let in_use = hold_state(work)?;
    fs::rename(work, folder)?;
    Ok((record, in_use))
}

/// The hashes of a state's files but its record.
fn hashes(folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut hashes = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != RECORD {
            hashes.insert(name, sparse::hash(&File::open(entry.path())?)?);
        }
    }
    Ok(hashes)
}

#[cfg(test)]
mod tests;

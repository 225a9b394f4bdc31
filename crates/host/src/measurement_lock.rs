//! The measurement lock: one wall-clock trial at a time on a machine, whoever starts it. There are
//! two locks (flock(2)). Every user can open the shared lock, `/run/lock/ssdlab.lock` (in `/tmp`
//! unless every user can write to `/run/lock`), and so hold it without measuring. Only root can
//! open root's lock, `/run/ssdlab/turn.lock`. The rule:
//! - Root takes root's lock, then the shared one. It waits for root without a limit. For others it
//!   waits at most `PATIENCE` over all its trials; then it measures with root's lock alone, and
//!   names the process that runs beside it.
//! - Another user takes the shared lock, then checks in /proc/locks whether root's is held. If so,
//!   it releases the shared lock and starts over. Each takes its own lock before it checks the
//!   other, so of two that start together at least one sees the other. Where root's lock cannot be
//!   created (a container, or root of a user namespace) root is like any other user. Processes in
//!   another PID namespace do not see the holder of root's lock, but wait for the shared lock if
//!   they share its folder.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::interrupt::Interrupt;
use super::lock::{FileLock, LockHolder, holder};
use super::missing::if_there;

/// The interval at which a held lock is retried.
const PAUSE: Duration = Duration::from_millis(100);

/// How long this process, if it is root's, waits for other users in total.
const TOTAL_TIMEOUT: Duration = Duration::from_hours(1);

/// The remaining timeout.
static TIME_LEFT: Mutex<Duration> = Mutex::new(TOTAL_TIMEOUT);

/// The measurement lock, released when dropped.
#[derive(Debug)]
pub struct MeasurementLock {
    _locks: Vec<FileLock>,
}

/// An event while waiting for the measurement lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockEvent {
    /// Waiting for the holder of a lock.
    Waiting {
        lock: PathBuf,
        /// The holder, as far as it is visible.
        holder: Option<LockHolder>,
    },
    /// Another user held the shared lock for too long: root measures anyway.
    Beside {
        lock: PathBuf,
        /// The holder, as far as it is visible.
        holder: Option<LockHolder>,
    },
    /// The lock of all cannot be used, which any user can bring about: the lock is root's all the
    /// same.
    Unusable {
        /// What is wrong with it.
        cause: String,
    },
}

impl MeasurementLock {
    /// Waits for the measurement lock of this machine; `tell` is called once with its holder.
    /// `None` if the run was to stop meanwhile.
    pub fn take(
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(&LockEvent),
    ) -> io::Result<Option<Self>> {
        let mut left = TIME_LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        Locks::of_machine()?.take(&mut left, interrupt, tell)
    }
}

/// The paths of the locks.
#[derive(Debug)]
struct Locks {
    of_all: PathBuf,
    of_root: PathBuf,
    /// Whether this user can take root's lock.
    is_root: bool,
}

impl Locks {
    fn of_machine() -> io::Result<Self> {
        let of_all = shared_folder(Path::new("/run/lock")).join("ssdlab.lock");
        let folder = Path::new("/run/ssdlab");
        let is_root = rustix::process::geteuid().is_root() && make_own(folder)?;
        Ok(Self { of_all, of_root: folder.join("turn.lock"), is_root })
    }

    fn take(
        &self,
        left: &mut Duration,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(&LockEvent),
    ) -> io::Result<Option<MeasurementLock>> {
        if !self.is_root {
            let attempt = || {
                // Checked beforehand, too, so as not to obstruct root.
                if holder(&self.of_root).is_some() {
                    return Ok(None);
                }
                let Some(lock) = try_lock(&self.of_all, 0o644)? else { return Ok(None) };
                Ok(holder(&self.of_root).is_none().then_some(lock))
            };
            let lock = self.wait(attempt, Duration::MAX, interrupt, tell)?;
            return Ok(lock.map(|lock| MeasurementLock { _locks: vec![lock] }));
        }
        let own = || try_lock(&self.of_root, 0o600);
        let Some(own) = self.wait(own, Duration::MAX, interrupt, tell)? else { return Ok(None) };
        let began = Instant::now();
        let of_all = self.wait(|| try_lock(&self.of_all, 0o644), *left, interrupt, tell);
        *left = left.saturating_sub(began.elapsed());
        let of_all = match of_all {
            Ok(None) if interrupt.is_set() => return Ok(None),
            Ok(None) => {
                let lock = self.of_all.clone();
                tell(&LockEvent::Beside { holder: holder(&lock), lock });
                None
            }
            Ok(of_all) => of_all,
            Err(error) => {
                tell(&LockEvent::Unusable { cause: error.to_string() });
                None
            }
        };
        Ok(Some(MeasurementLock { _locks: of_all.into_iter().chain([own]).collect() }))
    }

    /// Retries for up to this long. `None` if it failed, or the run is to stop.
    fn wait<T>(
        &self,
        mut attempt: impl FnMut() -> io::Result<Option<T>>,
        longest: Duration,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(&LockEvent),
    ) -> io::Result<Option<T>> {
        let began = Instant::now();
        let mut is_told = false;
        loop {
            if let Some(done) = attempt()? {
                return Ok(Some(done));
            }
            if interrupt.is_set() || began.elapsed() >= longest {
                return Ok(None);
            }
            if !is_told {
                tell(&self.held());
                is_told = true;
            }
            sleep(PAUSE);
        }
    }

    /// The event for the holder of a lock: root before others.
    fn held(&self) -> LockEvent {
        let of_root = holder(&self.of_root).filter(|holder| !holder.is_this_process());
        let lock = if of_root.is_some() { &self.of_root } else { &self.of_all };
        LockEvent::Waiting { lock: lock.clone(), holder: of_root.or_else(|| holder(lock)) }
    }
}

/// The folder of the shared lock: that of locks if every user can create files there, as on Debian,
/// else `/tmp`. Not TMPDIR, which may be private to a user or a job.
fn shared_folder(locks: &Path) -> &Path {
    let is_shared = |found: fs::Metadata| found.is_dir() && found.mode() & 0o002 != 0;
    if locks.metadata().is_ok_and(is_shared) { locks } else { Path::new("/tmp") }
}

/// Makes a folder that only its owner can write to. False if this user cannot create it.
fn make_own(folder: &Path) -> io::Result<bool> {
    use io::ErrorKind::{AlreadyExists, PermissionDenied, ReadOnlyFilesystem};
    match DirBuilder::new().mode(0o755).create(folder) {
        // Regardless of the umask: others must be able to see the holder of the lock in it.
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(0o755))?,
        Err(error) if error.kind() == AlreadyExists => {}
        Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    let found = folder.symlink_metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw();
    if !found.is_dir() || !is_own || found.mode() & 0o022 != 0 {
        let says =
            format!("{} is not a folder that only its owner, root, can write to", folder.display());
        return Err(io::Error::new(PermissionDenied, says));
    }
    Ok(true)
}

/// Takes a lock; `None` if another process holds it.
fn try_lock(path: &Path, mode: u32) -> io::Result<Option<FileLock>> {
    loop {
        let lock = open(path, mode).and_then(FileLock::exclusive).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        // If its creator has removed the file, others lock a new one by now.
        if lock.as_ref().is_none_or(|lock| lock.is_at(path)) {
            return Ok(lock);
        }
    }
}

/// Read access is enough to lock, so it does not matter which user created the file. It is created
/// only if missing: in a world-writable folder the kernel refuses to open another user's file with
/// `O_CREAT`.
fn open(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    if let Some(file) = if_there(options.open(path))? {
        return Ok(file);
    }
    match options.clone().write(true).create_new(true).mode(mode).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
        Ok(file) => {
            // Regardless of the umask: everybody who may open it must be able to.
            file.set_permissions(Permissions::from_mode(mode))?;
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests;

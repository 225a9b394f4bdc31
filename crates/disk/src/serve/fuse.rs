//! Defines a disk served as a file: its start, end, and state.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::lock;
use crate::{AnyBackend, DiskShape};
use fuser::{BackgroundSession, Config, Session, SessionACL};

use crate::serve::ServeSummary;
use crate::serve::answers::AnswerQueue;
use crate::serve::clock::MonotonicClock;
use crate::serve::counts::RequestCounts;
use crate::serve::error::ServeError;
use crate::serve::folder::{CountedBackend, FILE, Folder};
use crate::serve::mount::{self, FuseMount};
use crate::serve::watchdog::{Watchdog, guard_memory};

/// Threads that receive requests from the kernel. The drive is behind a lock; more threads only
/// copy data in parallel.
const THREADS: usize = 4;

/// A disk served as a file.
pub struct FuseDisk {
    mount: FuseMount,
    session: BackgroundSession,
    disk: Arc<Mutex<CountedBackend>>,
    answers: Arc<AnswerQueue>,
    watchdog: Watchdog,
    is_guarded: bool,
}

impl fmt::Debug for FuseDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuseDisk").field("mount", &self.mount).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FuseState {
    Serving,
    Unmounted,
    /// It stopped answering, and was ended.
    Stuck,
}

impl FuseDisk {
    /// Checks a folder as [`Self::mount`] would, without changing anything.
    pub fn check(folder: &Path) -> Result<(), ServeError> {
        mount::check(folder)
    }

    /// Serves a backend as a file in an empty folder; requires root. Of the shape, only support for
    /// discards (punched holes) applies to a file. `source` is the mount's source in the mount
    /// table, which distinguishes it from other servers'. If requests wait and none is answered for
    /// `timeout`, all of them get an error.
    pub fn mount(
        backend: AnyBackend<'static>,
        shape: &DiskShape,
        folder: &Path,
        source: &str,
        timeout: Duration,
    ) -> Result<Self, ServeError> {
        Self::check(folder)?;
        let is_guarded = guard_memory();
        let clock = MonotonicClock::start();
        let answers = AnswerQueue::start(clock).map_err(ServeError::step("serve", folder))?;
        let answers = Arc::new(answers);
        let disk =
            Arc::new(Mutex::new(CountedBackend { backend, counts: RequestCounts::default() }));
        let contents = Folder::new(Arc::clone(&disk), shape, Arc::clone(&answers), clock);
        let (mount, connection) = FuseMount::make(folder, source)?;
        let (session, watchdog) = begin(contents, connection, &mount, &answers, timeout)
            .map_err(ServeError::step("serve", folder))
            .inspect_err(|_| drop(mount.detach()))?;
        Ok(Self { mount, session, disk, answers, watchdog, is_guarded })
    }

    pub fn file(&self) -> PathBuf {
        self.mount.folder().join(FILE)
    }

    /// Whether the kernel granted protection from deadlock on this process's own disk when memory
    /// is short.
    pub const fn is_guarded(&self) -> bool {
        self.is_guarded
    }

    pub fn state(&self) -> FuseState {
        if self.watchdog.has_barked() {
            FuseState::Stuck
        } else if self.session.guard.is_finished() {
            FuseState::Unmounted
        } else {
            FuseState::Serving
        }
    }

    /// Unmounts it, unless it is in use. Returns whether it was unmounted.
    pub fn unmount(&self) -> Result<bool, ServeError> {
        self.mount.unmount()
    }

    /// Ends it even if it is in use; users get errors.
    pub fn abandon(&self) -> Result<(), ServeError> {
        self.mount.detach()
    }

    /// The requests to it so far.
    pub fn summary(&self) -> ServeSummary {
        ServeSummary { counts: lock(&self.disk).counts, punctuality: self.answers.punctuality() }
    }
}

/// Starts serving, and the watchdog.
fn begin(
    contents: Folder,
    connection: OwnedFd,
    mount: &FuseMount,
    answers: &Arc<AnswerQueue>,
    timeout: Duration,
) -> io::Result<(BackgroundSession, Watchdog)> {
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    config.clone_fd = true;
    let session = Session::from_fd(contents, connection, SessionACL::Owner, config)?.spawn()?;
    let mut abort = abort_file(mount);
    let mount = mount.clone();
    let watchdog = Watchdog::start(Arc::clone(answers), timeout, move || {
        // Unmounting would end the connection, too; this comes first because it cannot block.
        let _ = abort.as_mut().map(|abort| abort.write_all(b"1"));
        let _ = mount.detach();
    })?;
    Ok((session, watchdog))
}

/// The file that ends the connection when written to, if fusectl is mounted.
fn abort_file(mount: &FuseMount) -> Option<File> {
    let path = format!("/sys/fs/fuse/connections/{}/abort", mount.connection());
    OpenOptions::new().write(true).open(path).ok()
}

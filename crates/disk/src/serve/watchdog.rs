//! Ends a disk that stopped answering, so that its users get errors instead of waiting for ever;
//! and keeps this process from waiting for its own disk.
//!
//! A machine short of memory writes to the disk to free some; if the disk's server then waits for
//! memory, both deadlock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rustix::mm::{MlockAllFlags, mlockall};

use crate::serve::answers::AnswerQueue;

/// A watching thread, until this is dropped.
#[derive(Debug)]
pub struct Watchdog {
    has_barked: Arc<AtomicBool>,
    _ends_when_dropped: Sender<()>,
}

impl Watchdog {
    /// Watches answers. If requests wait and none has been answered for `timeout` after it was
    /// due, calls `bark`, once.
    pub fn start(
        answers: Arc<AnswerQueue>,
        timeout: Duration,
        bark: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let has_barked = Arc::new(AtomicBool::new(false));
        let (sender, ended) = mpsc::channel::<()>();
        let told = Arc::clone(&has_barked);
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            while ended.recv_timeout(timeout / 4) == Err(RecvTimeoutError::Timeout) {
                if answers.is_stuck(timeout) {
                    bark();
                    told.store(true, Ordering::SeqCst);
                    return;
                }
            }
        })?;
        Ok(Self { has_barked, _ends_when_dropped: sender })
    }

    /// Whether it has.
    pub fn has_barked(&self) -> bool {
        self.has_barked.load(Ordering::SeqCst)
    }
}

/// Locks this process's current and future memory, and asks the kernel not to write to disks when
/// this thread, or one that it starts, needs memory. Returns whether all of that was granted.
pub fn guard_memory() -> bool {
    // Existing mappings are loaded immediately: code that has never run would otherwise be read
    // from a disk when needed. Later ones are locked on first use: most of a stack never is used.
    let later = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let is_locked = mlockall(MlockAllFlags::CURRENT).and_then(|()| mlockall(later)).is_ok();
    is_locked & rustix::process::configure_io_flusher_behavior(true).is_ok()
}

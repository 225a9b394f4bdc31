//! Runs a phase's work, and something else in another thread until the work is done.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Whether the work is done.
#[derive(Debug, Default)]
pub(super) struct WorkEnd(AtomicBool);

impl WorkEnd {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does the work on this thread and something else on another, which polls whether it is over.
pub(super) fn beside<T, U: Send>(
    work: impl FnOnce() -> T,
    other: impl FnOnce(&WorkEnd) -> io::Result<U> + Send,
) -> (T, io::Result<U>) {
    let over = WorkEnd::default();
    thread::scope(|scope| {
        let working = scope.spawn(|| other(&over));
        // Even if the work panics: the scope waits for the other thread.
        let ends = WorkEndGuard(&over);
        let done = work();
        drop(ends);
        let other = working.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
        (done, other)
    })
}

/// Ends the other thread when dropped.
struct WorkEndGuard<'a>(&'a WorkEnd);

impl Drop for WorkEndGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

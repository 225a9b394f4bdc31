//! Defines backends: what a disk stores its data in, and what decides when a command is done.
//!
//! The trait is narrow so that anything can be behind a disk: memory, a file, a simulated drive,
//! fault injection. A backend knows no queue, guest or transport, and reads no clock: `now` is an
//! argument, and it returns the time at which the command is done.

mod flash;
mod memory;
mod writes;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ssdlab_flash::{Extent, Nanos, Refusal};

pub use flash::Flash;
pub use memory::Memory;
pub use writes::Writes;

/// What a disk stores its data in.
///
/// All backends follow these rules, which `tests/disk/conformance.rs` checks:
///
/// - A command takes effect when it is submitted, regardless of when it is done. So commands that
///   overlap in time and range have the same effect as one by one.
/// - The time of completion is never before `now`; a backend without a notion of time returns
///   `now`. `now` never decreases between commands.
/// - A command covers whole sectors within the capacity ([`Extent::within`]); otherwise it is
///   refused and changes nothing.
/// - Data never written, discarded or zeroed read as zeros.
pub trait Backend {
    /// The capacity: a whole number of sectors of 512 bytes, which never changes.
    fn capacity_bytes(&self) -> u64;

    /// Reads the bytes at an offset. Returns when that is done.
    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError>;

    /// Writes the bytes at an offset. Returns when that is done; durability takes a flush.
    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError>;

    /// Writes the bytes at an offset. Returns when they are durable (forced unit access).
    fn write_fua(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        from: &[u8],
    ) -> Result<Nanos, BackendError> {
        let written = self.write(now, offset_bytes, from)?;
        Ok(written.max(self.flush(now)?))
    }

    /// Discards bytes. Returns when that is done.
    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError>;

    /// Zeroes bytes. Returns when that is done. The default is a discard.
    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.discard(now, extent)
    }

    /// Makes everything written so far survive a power cut. Returns when that is done.
    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError>;
}

/// Why a backend fails a command. A refused command has changed nothing; after an error of the
/// machine the contents of its range are undefined.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The command is invalid for this backend.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine failed.
    #[error("cannot {doing} {length_bytes} bytes at {offset_bytes} of the disk's file: {cause}")]
    File {
        /// What was tried.
        doing: &'static str,
        /// Where, in bytes from the start.
        offset_bytes: u64,
        length_bytes: u64,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
}

/// A backend that is also inspected while it is served, for example to read the counts of a
/// simulated drive at the end of a phase. The lock must not be held across commands; a panic while
/// holding it must not have changed anything.
impl<B: Backend> Backend for Arc<Mutex<B>> {
    fn capacity_bytes(&self) -> u64 {
        lock(self).capacity_bytes()
    }

    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        lock(self).read(now, offset_bytes, into)
    }

    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        lock(self).write(now, offset_bytes, from)
    }

    fn write_fua(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        from: &[u8],
    ) -> Result<Nanos, BackendError> {
        lock(self).write_fua(now, offset_bytes, from)
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        lock(self).discard(now, extent)
    }

    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        lock(self).write_zeroes(now, extent)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        lock(self).flush(now)
    }
}

/// Locks a mutex even if poisoned: no panic leaves an inconsistent state behind.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

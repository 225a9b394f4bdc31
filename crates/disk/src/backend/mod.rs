//! Defines what a disk keeps its data in, and what decides when a command is done.
//!
//! The trait is narrow so that anything can be behind a disk: memory, a file, a simulated drive,
//! something that loses power on purpose. A backend does not know who asks: no queue, no guest, no
//! transport; and it fetches no time: `now` is an argument, and what it returns is the time at
//! which the command is done.

mod file;
mod flash;
mod memory;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use ssdlab_flash::{Extent, Nanos, Refusal};

pub use file::SparseFile;
pub use flash::Flash;
pub use memory::Memory;

/// What a disk keeps its data in.
///
/// All backends keep these rules, which `tests/conformance.rs` checks:
///
/// - A command takes effect when it is submitted, in the order of submission, whatever the time at
///   which it is done. So commands that overlap in time and place do what they would one by one.
/// - The time of completion is never before `now`; a backend without a notion of time returns
///   `now`. `now` is never earlier than in the command before.
/// - A command names whole sectors and ends within the capacity ([`Extent::within`]). One that does
///   not is refused and changes nothing.
/// - What was never written, was discarded or was zeroed reads as zeros.
pub trait Backend {
    /// The bytes there are: a whole number of sectors of 512 bytes, which never changes.
    fn capacity_bytes(&self) -> u64;

    /// Reads the bytes at an offset. Returns when that is done.
    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError>;

    /// Writes the bytes at an offset. Returns when that is done, which need not be when they are
    /// safe: that takes a flush.
    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError>;

    /// Forgets bytes that nobody needs any more. Returns when that is done.
    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError>;

    /// Makes bytes zeros, without being sent them. Returns when that is done. Where nothing tells
    /// the two apart, it is a discard.
    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.discard(now, extent)
    }

    /// Makes everything written so far survive a power cut. Returns when that is done.
    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError>;
}

/// Why a backend does not do a command. A refused command has changed nothing; after an error of
/// the machine the contents of what it named are undefined.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The command makes no sense for this backend.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine failed.
    #[error("cannot {doing} {length_bytes} bytes at {offset_bytes} of the disk's file: {cause}")]
    File {
        /// What was tried.
        doing: &'static str,
        /// Where, in bytes from the start.
        offset_bytes: u64,
        /// How many bytes.
        length_bytes: u64,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
}

/// Implements the trait by handing everything on to another backend.
macro_rules! hand_on {
    ($self:ident => $to:expr) => {
        fn capacity_bytes(&self) -> u64 {
            let $self = self;
            $to.capacity_bytes()
        }

        fn read(
            &mut self,
            now: Nanos,
            offset_bytes: u64,
            into: &mut [u8],
        ) -> Result<Nanos, BackendError> {
            let $self = self;
            $to.read(now, offset_bytes, into)
        }

        fn write(
            &mut self,
            now: Nanos,
            offset_bytes: u64,
            from: &[u8],
        ) -> Result<Nanos, BackendError> {
            let $self = self;
            $to.write(now, offset_bytes, from)
        }

        fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
            let $self = self;
            $to.discard(now, extent)
        }

        fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
            let $self = self;
            $to.write_zeroes(now, extent)
        }

        fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
            let $self = self;
            $to.flush(now)
        }
    };
}

/// A backend that the caller has back when the guest has ended.
impl<B: Backend + ?Sized> Backend for &mut B {
    hand_on!(backend => (**backend));
}

/// A backend of any kind.
impl<B: Backend + ?Sized> Backend for Box<B> {
    hand_on!(backend => (**backend));
}

/// A backend that somebody also looks into while it is served, say to count what a simulated drive
/// has done when a phase ends. Whoever does must not hold the lock across commands; if they panic,
/// they have changed nothing.
impl<B: Backend> Backend for Arc<Mutex<B>> {
    hand_on!(backend => backend.lock().unwrap_or_else(PoisonError::into_inner));
}

//! Defines why a disk cannot be served, or a guest cannot continue.

use std::io;
use std::time::Duration;

use ssdlab_flash::Nanos;
use ssdlab_trace::TraceError;
use thiserror::Error;

use crate::backend::BackendError;
use crate::invalid::InvalidValue;

/// Why a disk cannot be served, or a guest cannot continue.
#[derive(Debug, Error)]
pub enum DiskError {
    /// A disk's shape is invalid.
    #[error("disk {disk}: {cause}; change the disk's shape")]
    Shape {
        disk: String,
        #[source]
        cause: InvalidValue,
    },
    /// A socket failed.
    #[error(
        "cannot {doing} the {peer}: {cause}; if the guest was not ended on purpose, its console \
         shows its last actions"
    )]
    Socket {
        /// The peer of the socket.
        peer: String,
        /// What was tried.
        doing: &'static str,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
    /// The guest ended in the middle of an exchange.
    #[error(
        "the guest ended at {} ns of its time, before {expected} arrived from its {peer}; it was \
         killed or it panicked: see its console", now.0
    )]
    GuestGone {
        /// The peer that should have answered.
        peer: String,
        expected: &'static str,
        /// The time.
        now: Nanos,
    },
    /// A message is invalid, or comes at the wrong time.
    #[error(
        "{peer}, {cause}; this program's lab kernel does not do that: boot one of `ssdlab kernel \
         build`"
    )]
    Message {
        /// Who sent it.
        peer: String,
        /// Which part of it is invalid.
        #[source]
        cause: InvalidValue,
    },
    /// The guest's memory cannot be mapped.
    #[error(
        "disk {disk}: cannot map the guest's memory: {cause}; check the address space limit \
         (`ulimit -v`) and the size of the guest's memory file"
    )]
    Memory {
        disk: String,
        /// The reason.
        cause: String,
    },
    /// The ring of a disk is broken.
    #[error("disk {disk}: the ring of requests is broken: {cause}; the guest's driver is at fault")]
    Ring {
        disk: String,
        /// The reason.
        cause: String,
    },
    /// The machine failed under a backend.
    #[error("disk {disk}: {cause}; the trial is void: free some space and run it again")]
    Backend {
        disk: String,
        /// The backend's own error.
        #[source]
        cause: BackendError,
    },
    /// The log of requests cannot be written.
    #[error("disk {disk}: cannot continue the request log: {cause}")]
    Log {
        disk: String,
        /// The log's own error.
        #[source]
        cause: TraceError,
    },
    /// The guest waits, and nothing will wake it.
    #[error(
        "the guest is deadlocked since {} ns of its time: it has no timer and no disk has a \
         request; its console shows its last actions", now.0
    )]
    Deadlock {
        /// The time.
        now: Nanos,
    },
    /// The guest computes without end.
    #[error(
        "the guest has issued no request in {} s of processor time, or ten times that in all, \
         since {} ns of its time: it is in an endless loop; its console shows its last actions",
        timeout.as_secs(), now.0
    )]
    Silent {
        /// The processor time that it had.
        timeout: Duration,
        /// The time.
        now: Nanos,
    },
    /// The guest has not ended within its time limit.
    #[error(
        "the guest is still running at {} ns of its time; raise the limit, or see on its console \
         what it waits for", limit.0
    )]
    OutOfTime { limit: Nanos },
}

impl DiskError {
    /// Whether a guest is to blame, which on another computer would do the same: it ended, waits
    /// for ever, computes without end, or has not ended within its own time.
    pub const fn is_of_guest(&self) -> bool {
        // Writing to one that has just ended fails.
        matches!(
            self,
            Self::GuestGone { .. }
                | Self::Socket { .. }
                | Self::Deadlock { .. }
                | Self::Silent { .. }
                | Self::OutOfTime { .. }
        )
    }
}

//! What can go wrong with a job: it cannot begin, or one of its operations fails.

use std::io;

use thiserror::Error;

use crate::Kind;

/// A job that did not come to its end.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The kernel gives no ring.
    #[error(
        "the kernel gives no io_uring ({cause}): it is older than 5.11, or io_uring is turned off \
         (the sysctl kernel.io_uring_disabled, or a container's seccomp filter)"
    )]
    NoRing {
        /// Why not.
        cause: io::Error,
    },
    /// The ring does not take the job's buffers or its file.
    #[error(
        "io_uring does not take {buffer_bytes} bytes of buffers: {cause} (`ulimit -l` limits what \
         a user may keep in memory; lower the depth or the block size)"
    )]
    NotRegistered {
        /// The size of all buffers.
        buffer_bytes: usize,
        /// Why not.
        cause: io::Error,
    },
    /// The job makes no sense.
    #[error("{what}")]
    Job {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The kernel refused to take or to give back operations.
    #[error("io_uring_enter failed: {cause}")]
    Enter {
        /// Why.
        cause: io::Error,
    },
    /// An operation failed.
    #[error("the {kind} of {length} bytes at offset {offset} failed: {cause}")]
    Operation {
        /// What it was.
        kind: Kind,
        /// Where, in bytes; 0 for a sync.
        offset: u64,
        /// How much; 0 for a sync.
        length: u32,
        /// Why.
        cause: io::Error,
    },
    /// An operation moved less than it was asked to.
    #[error("the {kind} of {length} bytes at offset {offset} moved only {moved}")]
    Short {
        /// What it was.
        kind: Kind,
        /// Where, in bytes.
        offset: u64,
        /// How much was asked for, in bytes.
        length: u32,
        /// How much was done, in bytes.
        moved: u32,
    },
    /// The caller wanted no more.
    #[error("stopped")]
    Stopped,
}

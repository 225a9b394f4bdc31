//! Errors of a job: it cannot start, or one of its operations fails.

use std::io;

use thiserror::Error;

use crate::engine::EngineOperationKind;

/// Why a job did not complete.
#[derive(Debug, Error)]
pub enum EngineError {
    /// `io_uring` is unavailable.
    #[error(
        "io_uring is unavailable ({cause}): the kernel is older than 5.11, or it is turned off \
         (the sysctl kernel.io_uring_disabled, or a container's seccomp filter)"
    )]
    NoRing { cause: io::Error },
    /// The ring refuses the job's buffers or its files.
    #[error(
        "io_uring refuses {buffer_bytes} bytes of buffers: {cause} (`ulimit -l` limits locked \
         memory; lower the depth or the block size)"
    )]
    NotRegistered {
        /// The size of all buffers.
        buffer_bytes: usize,
        cause: io::Error,
    },
    /// The length of a file, from where it is to grow, is unknown.
    #[error("the length of a file is unknown: {cause}")]
    Length { cause: io::Error },
    /// The kernel failed to accept or return operations.
    #[error("io_uring_enter failed: {cause}")]
    Enter { cause: io::Error },
    /// An operation failed.
    #[error("the {kind} of {length} bytes at offset {offset} failed: {cause}")]
    Operation {
        kind: EngineOperationKind,
        /// Where, in bytes; 0 for a sync.
        offset: u64,
        /// How much; 0 for a sync.
        length: u32,
        cause: io::Error,
    },
    #[error("the {kind} of {length} bytes at offset {offset} moved only {moved}")]
    Short {
        kind: EngineOperationKind,
        /// Where, in bytes.
        offset: u64,
        /// The requested length, in bytes.
        length: u32,
        /// The length done, in bytes.
        moved: u32,
    },
    /// The caller stopped it.
    #[error("stopped")]
    Stopped,
}

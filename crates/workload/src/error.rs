//! Errors of workloads, before they start and while they run.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::EngineError;
use miette::Diagnostic;
use ssdlab_host::program::ProgramError;
use thiserror::Error;

use super::archive::ArchiveError;
use super::input::InputError;

/// Why a workload cannot be prepared or did not complete.
#[derive(Debug, Error, Diagnostic)]
pub enum WorkloadError {
    /// The archive cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Archive(#[from] ArchiveError),
    /// A file that the plan names cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(#[from] InputError),
    /// A file operation failed.
    #[error(
        "cannot {step} {path}: {cause}{}",
        if is_full(cause) { " (the filesystem is full)" } else { "" }
    )]
    Operation {
        step: &'static str,
        /// The path, relative to the trial's directory.
        path: String,
        cause: io::Error,
    },
    /// Reading and writing a file failed.
    #[error(
        "{file}: {cause}{}",
        if is_out_of_space(cause) { " (the filesystem is full)" } else { "" }
    )]
    Engine {
        /// The path, relative to the trial's directory.
        file: String,
        cause: EngineError,
    },
    /// The directory differs from what the operations leave.
    #[error("after the last phase {path} {how}")]
    Differs {
        /// The path, relative to the trial's directory.
        path: String,
        /// The difference.
        how: String,
    },
    /// A directory did not list each of its files once while it was read.
    #[error("{directory} listed {found} files while it was read, but has {files}")]
    Shown {
        directory: &'static str,
        files: u64,
        /// The number it listed.
        found: u64,
    },
    /// A program failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// A phase took too long.
    #[error("the phase was not done after {}", humantime::format_duration(*limit))]
    #[diagnostic(help("raise the phase's `limit` if it needs longer"))]
    Limit { limit: Duration },
    /// The run is to stop.
    #[error("interrupted")]
    Interrupted,
    /// An operation log that cannot be replayed.
    #[error("the operation log {log}: {what}")]
    #[diagnostic(help("make another: ssdlab record --out FILE -- PROGRAM"))]
    Recording {
        log: String,
        /// What is wrong.
        what: String,
    },
    /// A fio job file is unsafe or cannot be run.
    #[error("the fio job {}: {reason}", job.display())]
    #[diagnostic(help(
        "a job's files must be in the trial's directory: use relative names, and one setting \
         per line"
    ))]
    Job {
        job: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// fio printed something unexpected.
    #[error("cannot read the JSON that fio printed: {reason}")]
    FioOutput {
        /// What is wrong.
        reason: String,
    },
    /// The phase was imported from another program.
    #[error("the phase was imported from another program, which ssdlab does not run")]
    #[diagnostic(help("start a new run; `do = \"bonnie\"` performs the tests of bonnie++"))]
    NotPerformed,
    /// The repository cannot be cloned.
    #[error("{} is not a git repository", path.display())]
    #[diagnostic(help("name one with --source, or leave it out for the synthetic build"))]
    NoRepository { path: PathBuf },
}

fn is_full(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn is_out_of_space(cause: &EngineError) -> bool {
    matches!(cause, EngineError::Operation { cause, .. } if is_full(cause))
}

impl WorkloadError {
    pub(super) fn operation(
        step: &'static str,
        path: &str,
    ) -> impl FnOnce(rustix::io::Errno) -> Self + use<> {
        let path = path.to_owned();
        move |errno| Self::Operation { step, path, cause: errno.into() }
    }
}

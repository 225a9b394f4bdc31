//! Errors of workloads, before they start and while they run.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use miette::Diagnostic;
use ssdlab_engine::EngineError;
use ssdlab_host::program::ProgramError;
use thiserror::Error;

use super::archive::ArchiveError;
use super::input::InputError;

/// A workload that cannot be prepared or did not come to its end.
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
        /// What was attempted.
        step: &'static str,
        /// On what, relative to the trial's directory.
        path: String,
        /// Why not.
        cause: io::Error,
    },
    /// Reading and writing a file failed.
    #[error(
        "{file}: {cause}{}",
        if is_out_of_space(cause) { " (the filesystem is full)" } else { "" }
    )]
    Engine {
        /// On what, relative to the trial's directory.
        file: String,
        /// Why.
        cause: EngineError,
    },
    /// What is there is not what the operations leave.
    #[error("after the last phase {path} {how}")]
    Differs {
        /// On what, relative to the trial's directory.
        path: String,
        /// The difference.
        how: String,
    },
    /// A directory did not show each of its files once while it was read.
    #[error("{directory} showed {found} files while it was read, it had {files}")]
    Shown {
        /// The directory.
        directory: &'static str,
        /// How many files were in it.
        files: u64,
        /// How many it showed.
        found: u64,
    },
    /// A program failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// A phase took too long.
    #[error("the phase was not done after {}", humantime::format_duration(*limit))]
    #[diagnostic(help("raise the phase's `limit` if it needs longer"))]
    Limit {
        /// The limit.
        limit: Duration,
    },
    /// The run is to stop.
    #[error("interrupted")]
    Interrupted,
    /// An operation log that cannot be performed.
    #[error("the operation log {log}: {what}")]
    #[diagnostic(help("make another: ssdlab record --out FILE -- PROGRAM"))]
    Recording {
        /// The log.
        log: String,
        /// What is wrong.
        what: String,
    },
    /// A fio job file that must not or cannot be run.
    #[error("the fio job {}: {reason}", job.display())]
    #[diagnostic(help(
        "a job's files lie in the trial's directory: use relative names there, and one \
         setting on each line"
    ))]
    Job {
        /// The job file.
        job: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// fio printed something unexpected.
    #[error("fio printed no JSON that can be read: {reason}")]
    FioOutput {
        /// What is wrong.
        reason: String,
    },
    /// Another program did it.
    #[error("the phase is another program's, which ssdlab does not run")]
    #[diagnostic(help("start a new run; `do = \"bonnie\"` performs the tests of bonnie++"))]
    NotPerformed,
    /// The repository cannot be cloned.
    #[error("{} is not a git repository", path.display())]
    #[diagnostic(help("name one with --source, or leave it out for the synthetic build"))]
    NoRepository {
        /// What was named.
        path: PathBuf,
    },
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

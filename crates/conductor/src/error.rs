//! What ends a run before its time.

use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use ssdlab_results::StoreError;
use ssdlab_slurm::SlurmError;
use ssdlab_undo::UndoError;
use thiserror::Error;

/// What ends a run before its time. What the run had measured by then is stored.
#[derive(Debug, Error, Diagnostic)]
pub enum ConductorError {
    /// A record could not be stored.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
    /// A change to the machine could not be taken back.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Undo(#[from] UndoError),
    /// It cannot be told whether another trial runs on this machine.
    #[error("cannot acquire the measurement lock: {cause}")]
    #[diagnostic(help("two trials at once would measure each other; let this user open the lock"))]
    Turn {
        /// Why not.
        cause: io::Error,
    },
    /// Other machines do not do their part.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Fleet(Box<FleetError>),
}

/// A run on many machines that cannot go on.
#[derive(Debug, Error, Diagnostic)]
pub enum FleetError {
    /// Slurm does not do its part.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Slurm(#[from] SlurmError),
    /// It has stopped to answer, after something may have been submitted.
    #[error("Slurm does not answer: {cause}")]
    #[diagnostic(help(
        "jobs go on without it; `ssdlab run --resume RUN --on slurm` takes them up again"
    ))]
    Silent {
        /// What it said last.
        cause: SlurmError,
    },
    /// What is to be submitted cannot be stored, or read again.
    #[error("cannot keep what is submitted in {}: {cause}", path.display())]
    Submission {
        /// Where.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Trials have no record although nothing is left that would bring it.
    #[error("{count} trials have no record, and nothing is queued that would bring it: {says}")]
    #[diagnostic(help(
        "`ssdlab cancel RUN` undoes what killed trials have left on their nodes; \
         `ssdlab run --resume RUN --on slurm` submits what is missing"
    ))]
    Lost {
        /// Trials.
        count: usize,
        /// What their programs said last.
        says: String,
    },
}

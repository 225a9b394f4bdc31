//! Errors that end a run early.

use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use ssdlab_results::StoreError;
use ssdlab_slurm::SlurmError;
use ssdlab_undo::UndoError;
use thiserror::Error;

/// An error that ends a run early. What the run had measured by then is stored.
#[derive(Debug, Error, Diagnostic)]
pub enum ConductorError {
    /// A record could not be stored.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
    /// A change to the machine could not be undone.
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
    /// The run on other machines failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Fleet(Box<FleetError>),
}

/// A run on many machines that cannot continue.
#[derive(Debug, Error, Diagnostic)]
pub enum FleetError {
    /// Slurm failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Slurm(#[from] SlurmError),
    /// It stopped answering, after something may have been submitted.
    #[error("Slurm does not answer: {cause}")]
    #[diagnostic(help(
        "jobs continue without it; `ssdlab run --resume RUN --on slurm` picks them up"
    ))]
    Silent {
        /// Its last message.
        cause: SlurmError,
    },
    /// A submission cannot be stored or read.
    #[error("cannot store the submission in {}: {cause}", path.display())]
    Submission {
        /// Where.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Trials have no record although nothing is left that would bring it.
    #[error("{count} trials have no record, and no queued job will produce one: {says}")]
    #[diagnostic(help(
        "`ssdlab cancel RUN` undoes what killed trials have left on their nodes; \
         `ssdlab run --resume RUN --on slurm` submits what is missing"
    ))]
    Lost {
        /// Trials.
        count: usize,
        /// The last output of their programs.
        says: String,
    },
}

/// Why a power cut could not be repeated.
#[derive(Debug, Error, Diagnostic)]
pub enum RepeatError {
    /// It was to stop.
    #[error("interrupted")]
    Interrupted,
    /// This machine cannot run the trial.
    #[error("this machine cannot repeat trial {trial}: {reason}")]
    Unavailable {
        /// The trial's place in its run.
        trial: u32,
        /// What is missing.
        reason: String,
    },
    /// The trial, or the recovery, went wrong.
    #[error("cannot repeat trial {trial}: {reason}")]
    Failed {
        /// The trial's place in its run.
        trial: u32,
        /// What went wrong.
        reason: String,
    },
}

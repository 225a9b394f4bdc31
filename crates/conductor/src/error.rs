//! Errors that end a run early.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_disk::guest::{MachineError, RootError};
use ssdlab_host::program::ProgramError;
use ssdlab_host::undo::UndoError;
use ssdlab_kernel::KernelError;
use ssdlab_plan::Levels;
use ssdlab_results::StoreError;
use ssdlab_trace::TraceError;
use ssdlab_workload::InputError;
use thiserror::Error;

use super::slurm::SlurmError;

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
    Turn { cause: io::Error },
    /// A stretch of the running machine's time failed, or its treatment hurts.
    #[error("the experiment was ended with {levels}: {reason}")]
    #[diagnostic(help(
        "the machine is as it was before; what was measured until then is in the report"
    ))]
    Harmed {
        levels: Levels,
        /// What happened.
        reason: String,
    },
    /// Slurm does not run shares.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Slurm(#[from] SlurmError),
    /// Trials have no record although their shares have ended.
    #[error("{count} trials have no record, although Slurm has ended their shares: {says}")]
    #[diagnostic(help(
        "attempts/*.out in the run's folder has their output; `ssdlab run --resume RUN --on slurm` \
         submits what is missing"
    ))]
    Lost {
        /// Trials.
        count: usize,
        /// What their programs have printed last.
        says: String,
    },
}

/// Why guests did not perform a task beside a run's trials.
#[derive(Debug, Error, Diagnostic)]
pub enum TaskError {
    /// It was to stop.
    #[error("interrupted")]
    Interrupted,
    /// This machine or the lab kernel lacks something.
    #[error("this machine cannot {task}: {reason}")]
    #[diagnostic(help("provide what is missing, and run the command again"))]
    Unavailable {
        task: String,
        /// What is missing.
        reason: String,
    },
    /// The task went wrong, through no fault of the filesystem.
    #[error("cannot {task}: {reason}")]
    #[diagnostic(help(
        "run the command again; if it fails for the same reason, report that with the command and \
         the run's plan.toml"
    ))]
    Failed {
        task: String,
        /// What went wrong.
        reason: String,
    },
}

/// Why the log of a device cannot be used.
#[derive(Debug, Error)]
pub enum DeviceLogError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It is not of this device.
    #[error(
        "entry {entry} of the log ends at byte {end_bytes}, but the image has {capacity_bytes} \
         bytes"
    )]
    Beyond {
        /// The entry, from 0.
        entry: u64,
        /// Where it ends.
        end_bytes: u64,
        /// The size of the image.
        capacity_bytes: u64,
    },
    /// It has only marks.
    #[error("the log has no requests")]
    Empty,
    #[error("the log has no mark {mark:?}; its marks are {marks:?}")]
    NoSuchMark {
        /// The mark that was asked for.
        mark: String,
        marks: Vec<String>,
    },
    /// There is nothing to cut.
    #[error("the log has no requests after the mark {mark:?}")]
    LastMark {
        /// The mark that was asked for.
        mark: String,
    },
}

/// Operations cannot be performed in the virtual lab.
#[derive(Debug, Error, Diagnostic)]
pub enum ComputingError {
    /// The virtual lab cannot be opened.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Guests(#[from] GuestsError),
    /// They failed there.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Task(#[from] TaskError),
}

/// The virtual lab cannot be opened.
#[derive(Debug, Error, Diagnostic)]
pub enum GuestsError {
    /// Its folder cannot be made.
    #[error("cannot make the folder {}: {cause}", path.display())]
    Folder { path: PathBuf, cause: io::Error },
    /// A file that the plan names cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(#[from] InputError),
    /// The guests' files cannot be made.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Root(#[from] RootError),
    /// A program that the plan names is not on this machine.
    #[error("guests need a copy of the program `{program}`, but no folder of PATH has it")]
    #[diagnostic(help(
        "install it, or have its folder in PATH; `run`, `check` and `programs` in the plan name it"
    ))]
    NoProgram { program: String },
    /// A program that the plan names is a text for another.
    #[error(
        "guests can run only programs with their shared libraries, but {} is a script",
        script.display()
    )]
    #[diagnostic(help(
        "name its interpreter, and give it the text: run = [\"sh\", \"-c\", \"...\"]"
    ))]
    Script {
        /// Where it is.
        script: PathBuf,
    },
    /// The system of the plan's commands cannot be made.
    #[error("cannot copy {} for guests: {cause}", path.display())]
    #[diagnostic(help(
        "the root of a system (`--root`) is a folder, a tar archive or the image of a container; \
         only files and folders are added to it (`--add`)"
    ))]
    System {
        /// What was to be copied.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The lab kernel does not list its features.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Kernel(#[from] KernelError),
    /// There is not enough memory for a guest.
    #[error(transparent)]
    Memory(#[from] MachineError),
}

impl GuestsError {
    /// Adds the folder to an I/O error.
    pub(super) fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Folder { path, cause }
    }

    /// Whether the run was to stop.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::System { cause, .. } => cause.kind() == io::ErrorKind::Interrupted,
            Self::Root(RootError::Libraries { cause: ProgramError::Interrupted, .. })
            | Self::Input(InputError::Interrupted) => true,
            _ => false,
        }
    }

    /// Whether this machine lacks something.
    pub fn is_of_this_machine(&self) -> bool {
        matches!(
            self,
            Self::Root(RootError::NoLibrary { .. })
                | Self::NoProgram { .. }
                | Self::System { .. }
                | Self::Memory(_)
        )
    }
}

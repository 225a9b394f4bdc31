//! Exit codes, and their assignment to errors.

use std::ffi::OsStr;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, GraphicalTheme, Report};
use ssdlab_advice::Incomparable;
use ssdlab_conductor::{ComputingError, ConductorError, GuestsError, SlurmError, TaskError};
use ssdlab_flash::simulation::SimulationError;
use ssdlab_host::program::ProgramError;
use ssdlab_kernel::KernelError;
use ssdlab_lab::{LabError, OtherDrive};
use ssdlab_plan::PlanError;
use ssdlab_results::import::ImportError;
use ssdlab_results::{Ending, Record, StoreError, TrialStatus};
use ssdlab_workload::{InputError, ProbeFileError, WorkloadError};

use super::output;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// A trial failed, or another error occurred.
    Failed,
    /// The plan or the command line is wrong.
    Wrong,
    /// Refused for safety.
    Refused,
    /// This machine lacks something.
    Lacking,
    /// `judge` could not judge the tree's kernel.
    Skipped,
    /// `judge` failed for another reason.
    NoVerdict,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// All of them, by code.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::Wrong,
        Self::Refused,
        Self::Lacking,
        Self::Skipped,
        Self::NoVerdict,
        Self::Interrupted,
    ];

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Wrong => 2,
            Self::Refused => 3,
            Self::Lacking => 4,
            Self::Skipped => 125,
            Self::NoVerdict => 128,
            Self::Interrupted => 130,
        }
    }

    /// What it means.
    pub fn says(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => {
                "a trial failed, something could not be read, written or repeated, or `baseline`, \
                 `crashtest` or `doctor` found something"
            }
            Self::Wrong => {
                "the plan or the command line is wrong, or `baseline` or `crashtest` cannot tell"
            }
            Self::Refused => "refused for safety",
            Self::Lacking => "something that is needed is missing on this machine",
            Self::Skipped => "`judge` cannot judge the tree's kernel",
            Self::NoVerdict => "`judge` failed for another reason",
            Self::Interrupted => "interrupted",
        }
    }

    /// The exit code of a run that ended so, with these records.
    pub(super) fn of_run(ending: Ending, records: &[Record]) -> Self {
        let failed =
            |record: &Record| matches!(record.status, TrialStatus::Failed | TrialStatus::Void);
        match ending {
            Ending::Interrupted => Self::Interrupted,
            _ if records.iter().any(failed) => Self::Failed,
            Ending::NothingRuns => Self::Lacking,
            _ => Self::Done,
        }
    }

    /// The exit code of a command that ended with an error or was not understood.
    pub(super) fn of_command(self, command: &OsStr) -> Self {
        match self {
            // `git bisect run` would take it for a verdict.
            Self::Failed | Self::Wrong | Self::Refused | Self::Lacking if command == "judge" => {
                Self::NoVerdict
            }
            // CI would take it for a finding.
            Self::Failed if command == "crashtest" || command == "baseline" => Self::Wrong,
            other => other,
        }
    }

    /// All of them in a sentence.
    pub(super) fn codes() -> String {
        let all = Self::ALL.map(|exit| format!("{} {}", exit.code(), exit.says()));
        format!("Exit codes: {}.", all.join(", "))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Prints an error and chooses its exit code.
pub fn explain(error: &Report) -> Exit {
    let plain = rendered(error, GraphicalTheme::unicode_nocolor());
    // It quotes files of others: one with colours of its own gets none of ours.
    if !output::is_coloured(&std::io::stderr()) || plain.contains('\x1b') {
        output::tell(&plain);
    } else {
        output::tell_coloured(&rendered(error, GraphicalTheme::unicode()));
    }
    code(error)
}

fn rendered(error: &Report, theme: GraphicalTheme) -> String {
    let handler = GraphicalReportHandler::new_themed(theme).with_width(output::error_width());
    let mut text = String::new();
    match handler.render_report(&mut text, error.as_ref()) {
        Ok(()) => text.trim_end().to_owned(),
        Err(_) => error.to_string(),
    }
}

/// The exit code of an error.
pub fn code(error: &Report) -> Exit {
    let is_wrong = error.is::<PlanError>()
        || error.is::<UsageError>()
        || error.is::<Incomparable>()
        || error.is::<ImportError>();
    if is_wrong {
        return Exit::Wrong;
    }
    if let Some(error) = error.downcast_ref::<LabError>() {
        return of_lab(error);
    }
    if error.is::<OtherDrive>() {
        return Exit::Refused;
    }
    if let Some(error) = error.downcast_ref::<KernelError>() {
        return of_kernel(error);
    }
    if error.is::<Skipped>() {
        return Exit::Skipped;
    }
    if let Some(error) = error.downcast_ref::<SlurmError>() {
        return of_slurm(error);
    }
    if let Some(ConductorError::Slurm(error)) = error.downcast_ref::<ConductorError>() {
        return of_slurm(error);
    }
    if let Some(error) = error.downcast_ref::<TaskError>() {
        return of_task(error);
    }
    if let Some(error) = error.downcast_ref::<ProbeFileError>() {
        return of_probe(error);
    }
    if let Some(SimulationError::Interrupted) = error.downcast_ref::<SimulationError>() {
        return Exit::Interrupted;
    }
    if let Some(error) = error.downcast_ref::<GuestsError>() {
        return of_guests(error);
    }
    if let Some(error) = error.downcast_ref::<ComputingError>() {
        return match error {
            ComputingError::Guests(error) => of_guests(error),
            ComputingError::Task(error) => of_task(error),
        };
    }
    if let Some(StoreError::NoRun { .. } | StoreError::Newer { .. }) =
        error.downcast_ref::<StoreError>()
    {
        return Exit::Wrong;
    }
    match error.downcast_ref::<WorkloadError>() {
        Some(WorkloadError::Program(ProgramError::Missing { .. })) => Exit::Lacking,
        Some(WorkloadError::Interrupted | WorkloadError::Input(InputError::Interrupted)) => {
            Exit::Interrupted
        }
        Some(_) => Exit::Wrong,
        None => Exit::Failed,
    }
}

fn of_task(error: &TaskError) -> Exit {
    match error {
        TaskError::Interrupted => Exit::Interrupted,
        TaskError::Unavailable { .. } => Exit::Lacking,
        TaskError::Failed { .. } => Exit::Failed,
    }
}

fn of_guests(error: &GuestsError) -> Exit {
    match error {
        error if error.is_interrupted() => Exit::Interrupted,
        error if error.is_of_this_machine() => Exit::Lacking,
        _ => Exit::Failed,
    }
}

fn of_lab(error: &LabError) -> Exit {
    match error {
        LabError::Refused(_) => Exit::Refused,
        LabError::NeedsRoot { .. }
        | LabError::Unavailable { .. }
        | LabError::NoSpace { .. }
        | LabError::Program(ProgramError::Missing { .. }) => Exit::Lacking,
        LabError::Program(ProgramError::Interrupted) => Exit::Interrupted,
        LabError::Step { cause, .. } if is_in_use(cause) => Exit::Refused,
        LabError::Step { cause, .. } if is_of_the_argument(cause) => Exit::Wrong,
        _ => Exit::Failed,
    }
}

fn of_probe(error: &ProbeFileError) -> Exit {
    match error {
        ProbeFileError::Folder { .. }
        | ProbeFileError::InMemory(_)
        | ProbeFileError::NotDirect { .. } => Exit::Wrong,
        ProbeFileError::NoSpace { .. } | ProbeFileError::NoRing(_) => Exit::Lacking,
        ProbeFileError::Request(_) | ProbeFileError::Engine(_) => Exit::Failed,
    }
}

fn of_slurm(error: &SlurmError) -> Exit {
    match error {
        SlurmError::Program(ProgramError::Missing { .. }) | SlurmError::Refused { .. } => {
            Exit::Lacking
        }
        SlurmError::Program(_) | SlurmError::Script { .. } => Exit::Failed,
    }
}

fn of_kernel(error: &KernelError) -> Exit {
    match error {
        KernelError::NoCache
        | KernelError::NotBuilt { .. }
        | KernelError::NoVersion { .. }
        | KernelError::OtherRecipe { .. }
        | KernelError::Damaged { .. }
        | KernelError::NoSource { .. }
        | KernelError::Lacking { .. }
        | KernelError::File { .. }
        | KernelError::Program(ProgramError::Missing { .. }) => Exit::Lacking,
        KernelError::NoLabKernel { .. }
        | KernelError::Source { .. }
        | KernelError::Ambiguous { .. } => Exit::Wrong,
        KernelError::Exposed { .. } => Exit::Refused,
        KernelError::Program(ProgramError::Interrupted) => Exit::Interrupted,
        KernelError::Busy { .. }
        | KernelError::Exhausted { .. }
        | KernelError::Failed { .. }
        | KernelError::Program(_) => Exit::Failed,
    }
}

/// A device that another process took between the check and the claim.
fn is_in_use(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ResourceBusy, WouldBlock};
    matches!(cause.kind(), ResourceBusy | WouldBlock)
}

/// A path on the command line that does not exist, or is of the wrong kind.
fn is_of_the_argument(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    matches!(cause.kind(), NotFound | NotADirectory | InvalidInput)
}

/// An error in the command line that clap cannot detect.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
pub struct UsageError {
    message: String,
    #[help]
    help: String,
}

impl UsageError {
    /// A message and a remedy.
    pub fn report(message: impl Into<String>, help: impl Into<String>) -> Report {
        Report::new(Self { message: message.into(), help: help.into() })
    }
}

/// Why nothing can be said of a tree's kernel: `git bisect` skips such a revision.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the claim cannot be judged under the kernel of this tree: {0}")]
pub struct Skipped(pub String);

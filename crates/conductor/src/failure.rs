//! Why a trial failed, and what its record says about it.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::ProgramError;
use ssdlab_lab::LabError;
use ssdlab_plan::LevelError;
use ssdlab_results::TrialStatus;
use ssdlab_workload::WorkloadError;

use super::error::{GuestsError, TaskError};

/// How much later than the end of a program a request to stop may arrive.
const HEARSAY: Duration = Duration::from_millis(200);

/// Why a trial failed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failure {
    /// This machine cannot run the treatment.
    Unavailable(String),
    /// Something went wrong.
    Failed(String),
    /// The guest's kernel died, or does not go on: on every machine, as time is virtual.
    Died(String),
    /// Two counts of the same thing disagree, or the files left are not those that must be there.
    Void(String),
    /// The run is to stop; there is nothing to record.
    Interrupted,
}

impl Failure {
    /// What the record of its trial says: how it ended, and why.
    pub fn status_and_reason(self) -> (TrialStatus, String) {
        match self {
            Self::Unavailable(reason) => (TrialStatus::Unavailable, reason),
            Self::Failed(reason) | Self::Died(reason) => (TrialStatus::Failed, reason),
            Self::Void(reason) => (TrialStatus::Void, reason),
            Self::Interrupted => (TrialStatus::Failed, "interrupted".to_owned()),
        }
    }

    /// The failure, or an interruption if the run was asked to stop: whatever ends a job also ends
    /// its programs, and their end is noticed first.
    pub fn seen_by(self, interrupt: &Interrupt) -> Self {
        if matches!(self, Self::Failed(_) | Self::Died(_)) {
            sleep(HEARSAY);
            if interrupt.is_set() {
                return Self::Interrupted;
            }
        }
        self
    }

    /// The error of a task that is not a trial of a run.
    pub fn of_task(self, task: &str, interrupt: &Interrupt) -> TaskError {
        let task = task.to_owned();
        match self.seen_by(interrupt) {
            Self::Interrupted => TaskError::Interrupted,
            Self::Unavailable(reason) => TaskError::Unavailable { task, reason },
            Self::Failed(reason) | Self::Died(reason) | Self::Void(reason) => {
                TaskError::Failed { task, reason }
            }
        }
    }

    /// Adds the step and the path to an I/O error.
    pub fn step(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Failed(format!("cannot {step} {}: {cause}", path.display()))
    }

    /// The same failure, with the phase it happened in.
    pub fn during(self, phase: &str) -> Self {
        match self {
            Self::Failed(reason) => Self::Failed(format!("in phase `{phase}`: {reason}")),
            Self::Void(reason) => Self::Void(format!("in phase `{phase}`: {reason}")),
            other => other,
        }
    }
}

impl From<GuestsError> for Failure {
    fn from(error: GuestsError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Interrupted => Self::Interrupted,
            ProgramError::Missing { program, package } => {
                Self::Unavailable(format!("{program} is not installed (package {package})"))
            }
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Unavailable { reason } => Self::Unavailable(reason),
            LabError::Program(error) => error.into(),
            LabError::Damaged { .. } => Self::Void(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<LevelError> for Failure {
    fn from(error: LevelError) -> Self {
        Self::Failed(error.message)
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        match error {
            WorkloadError::Interrupted => Self::Interrupted,
            WorkloadError::Program(error) => error.into(),
            WorkloadError::Differs { .. } => Self::Void(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(format!("a counter could not be read: {error}"))
    }
}

//! What a trial is to do, resolved: this machine and guests are given the same.

use serde::{Deserialize, Serialize};
use ssdlab_plan::schedule::{Trial, Workload};
use ssdlab_plan::{Factor, Schedule, Setup};

use super::failure::Failure;

/// What a trial is to do. Nothing in it says where in a run it stands or what it is compared with,
/// so equal trials are equal assignments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// The filesystem and its settings.
    pub setup: Setup,
    /// What is done on it; the phases are those of the treatment.
    pub workload: Workload,
    /// The seed of the trial.
    pub seed: u64,
    /// Whether what it leaves is compared with what it must leave.
    pub verify: bool,
    /// Whether what is stated about the filesystem is checked at the end.
    pub checks_features: bool,
    /// Whether it is told what is done to files that a power cut may undo.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tells_deeds: bool,
}

impl Assignment {
    /// The assignment of a trial. Features are checked once a treatment.
    pub fn of(schedule: &Schedule, trial: Trial) -> Result<Self, Failure> {
        let setup = schedule.treatments[trial.treatment].setup.clone().map_err(Failure::from)?;
        let phases = schedule.phases(trial.treatment);
        Ok(Self {
            setup,
            workload: Workload { phases, ..schedule.workload.clone() },
            seed: trial.seed,
            verify: schedule.verify,
            checks_features: trial.block == 0,
            tells_deeds: schedule.cuts.is_some(),
        })
    }

    /// The same for a guest, which is told nothing of what is simulated, and for which no block is
    /// the first.
    pub fn for_guest(&self) -> Result<Self, Failure> {
        let mut levels = self.setup.levels.clone();
        levels.0.retain(|factor, _| !factor.is_simulated() && *factor != Factor::NodeFeature);
        Ok(Self { setup: Setup::new(&levels)?, checks_features: true, ..self.clone() })
    }
}

//! The resolved instructions of a trial: the same for this machine and for guests.

use serde::{Deserialize, Serialize};
use ssdlab_plan::schedule::{Trial, Workload};
use ssdlab_plan::{Factor, Schedule, Setup};

use super::failure::Failure;

/// What a trial is to do. It holds neither the trial's position in a run nor what it is compared
/// with, so equal trials have equal assignments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Assignment {
    /// The filesystem and its settings.
    pub setup: Setup,
    /// The workload, with the phases of the treatment.
    pub workload: Workload,
    pub seed: u64,
    /// Whether the files that it leaves are compared with those that it must leave.
    pub verify: bool,
    /// Whether the facts stated about the filesystem are checked at the end.
    pub checks_features: bool,
    /// Whether operations on files that a power cut may undo are reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tells_deeds: bool,
}

impl Assignment {
    /// The assignment of a trial. Features are checked once a treatment.
    pub fn of(schedule: &Schedule, trial: Trial) -> Result<Self, Failure> {
        let setup = schedule.treatments[trial.treatment].setup.clone().map_err(Failure::from)?;
        let phases = schedule.phases(trial.treatment);
        // A step may be the first that a treatment occurs in.
        let mut own = schedule.trials.iter().filter(|one| one.treatment == trial.treatment);
        Ok(Self {
            setup,
            workload: Workload { phases, ..schedule.workload.clone() },
            seed: trial.seed,
            verify: schedule.verify,
            checks_features: own.next().is_some_and(|first| first.block == trial.block),
            tells_deeds: schedule.cuts.is_some(),
        })
    }

    /// The same for a guest, without a first block.
    pub fn for_guest(&self) -> Result<Self, Failure> {
        Ok(Self { setup: for_guest(&self.setup)?, checks_features: true, ..self.clone() })
    }
}

/// The setup for a guest, without the simulated machine but with its layer, which the guest sets
/// up.
pub(super) fn for_guest(setup: &Setup) -> Result<Setup, Failure> {
    let mut levels = setup.levels.clone();
    let is_told = |factor: Factor| {
        factor == Factor::Layer || !factor.is_simulated() && factor != Factor::NodeFeature
    };
    levels.0.retain(|factor, _| is_told(*factor));
    Ok(Setup::new(&levels)?)
}

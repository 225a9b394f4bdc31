//! The conductor: runs a schedule on a lab, trial by trial, and stores the records.
//!
//! It brings lab, workload, meter and results together in a trial. It does no statistics: it asks
//! `advice` whether to continue. Trials run on this machine ([`LocalExecutor`]), in guests
//! ([`Guests`]), which perform the very same trial inside, or on other machines
//! ([`RemoteExecutor`]).

mod aged_drive;
mod ageing;
mod assignment;
mod compute_in_lab;
pub mod computing;
mod cuts;
mod device_log;
mod drive_watch;
mod elsewhere;
mod error;
mod evidence;
mod explain;
mod failure;
mod guests;
mod hypervisor;
mod images;
mod inside;
mod least;
mod libraries;
mod local;
mod measure;
mod message;
mod performed;
mod recovery;
mod repeat;
mod run_state;
mod share;
mod shrink;
mod slurm;
mod stretch;
mod system;
#[cfg(test)]
mod tests;
mod tools;
mod trial;
mod varied_drives;
mod write_ledger;

pub use ageing::aged_from;
pub use compute_in_lab::ComputingLab;
pub use cuts::PackedFiles;
pub use device_log::LoggedDevice;
pub use elsewhere::RemoteExecutor;
pub use error::{ComputingError, ConductorError, DeviceLogError, GuestsError, TaskError};
pub use guests::{Guests, GuestsInput, ModelChange};
pub use inside::guest;
pub use local::LocalExecutor;
pub use repeat::{CutOfRun, CutState, RequestAtCut, RequestSafety, SurvivorChoice};
pub use run_state::{Executor, RunState};
pub use run_state::{Observer, RunEvent};
pub use share::{Division, OwnShare, RunShare};
pub use shrink::ShrunkWorkload;
pub use slurm::{MOST_TASKS, Slurm, SlurmError};
use ssdlab_advice as advice;
pub use ssdlab_disk::guest::is_confined as are_guests_confined;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{Ending, TrialStatus};
pub use stretch::StretchHistory;
pub use tools::{of_guests, tools};
pub use write_ledger::{WriteLedger, executed, functions_of, log_of};

use self::failure::Failure;
use self::performed::TrialOutcome;

/// Everything a run needs.
pub struct Conductor<'a> {
    /// The schedule and the records.
    pub run_state: RunState<'a>,
    /// Where its trials take place.
    pub executor: &'a mut dyn Executor,
}

impl Conductor<'_> {
    /// Merges what other machines have recorded, runs the scheduled trials that have no record,
    /// block by block, until the run may end, and stores why it ended.
    pub fn conduct(&mut self) -> Result<Ending, ConductorError> {
        self.run_state.run.ended(Ending::Interrupted)?;
        self.run_state.merge()?;
        let ending = self.blocks()?;
        self.run_state.run.ended(ending)?;
        Ok(ending)
    }

    fn blocks(&mut self) -> Result<Ending, ConductorError> {
        let schedule = self.run_state.schedule;
        self.rule_out()?;
        // A begun block is finished before checking whether the run may end.
        let ran = self
            .run_state
            .records
            .iter()
            .filter(|record| record.status != TrialStatus::Unavailable);
        let begun = ran.map(|record| record.trial.block).max().unwrap_or(0);
        let limits = &schedule.repetitions;
        // Blocks without such a check in between are one piece of work.
        let has_check =
            limits.time_ns.is_some() || limits.written_bytes.is_some() || self.run_state.is_alone();
        for (step, blocks) in schedule.blocks().into_iter().enumerate() {
            let chosen = advice::taking_part(schedule, &self.run_state.records, step);
            if chosen.is_empty() {
                return Ok(Ending::NothingRuns);
            }
            let least = if has_check { 0 } else { limits.least.min(blocks.end - blocks.start) };
            let first = blocks.start..blocks.start + least;
            let others = (first.end..blocks.end).map(|block| block..block + 1);
            for piece in std::iter::once(first).filter(|first| !first.is_empty()).chain(others) {
                let trials = schedule.trials.iter().filter(|trial| piece.contains(&trial.block));
                let chosen = trials.filter(|trial| chosen.contains(&trial.treatment));
                let todo: Vec<Trial> =
                    chosen.filter(|trial| self.run_state.is_open(trial)).copied().collect();
                if self.run_state.unavailable.len() == schedule.treatments.len() {
                    return Ok(Ending::NothingRuns);
                }
                if !self.executor.perform(&todo, &mut self.run_state)? {
                    return Ok(Ending::Interrupted);
                }
                let block = piece.end - 1;
                if block >= begun
                    && let Some(ending) = self.run_state.why_end(block)
                {
                    return Ok(ending);
                }
            }
        }
        Ok(Ending::AllBlocks)
    }

    /// Finds the treatments that cannot run here before anything is made; each gets a record
    /// that says why.
    fn rule_out(&mut self) -> Result<(), ConductorError> {
        let schedule = self.run_state.schedule;
        for index in 0..schedule.treatments.len() {
            let is_known =
                self.run_state.records.iter().any(|record| record.trial.treatment == index);
            let is_own = |trial: &&Trial| trial.treatment == index && self.executor.takes(trial);
            let first = schedule.trials.iter().find(is_own);
            let Some(first) = first.filter(|_| !is_known) else { continue };
            let reason = match &schedule.treatments[index].setup {
                Ok(setup) => self.executor.missing(setup),
                Err(error) => Some(error.message.clone()),
            };
            if let Some(reason) = reason {
                let performed = TrialOutcome::from(Failure::Unavailable(reason));
                self.run_state.add_record(performed.record(schedule, *first))?;
            }
        }
        Ok(())
    }
}

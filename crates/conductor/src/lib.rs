//! The conductor: runs a schedule on a lab, trial by trial, and stores the records.
//!
//! It brings lab, workload, meter and results together in a trial. It does no statistics: it asks
//! `advice` whether to continue. Trials run on this machine ([`Here`]), in guests ([`Guests`]),
//! which perform the very same trial inside, or on other machines ([`Elsewhere`]).

mod aged_drive;
mod ageing;
mod assignment;
mod books;
mod compute_in_lab;
pub mod computing;
mod cuts;
mod desk;
mod device_log;
mod drive_watch;
mod elsewhere;
mod error;
mod evidence;
mod failure;
mod guests;
mod here;
mod hypervisor;
mod images;
mod inside;
mod least;
mod measure;
mod message;
mod observer;
mod performed;
mod recovery;
mod repeat;
mod share;
mod shrink;
mod slurm;
#[cfg(test)]
mod tests;
mod tools;
mod trial;
mod varied_drives;

pub use ageing::aged_from;
pub use books::{Books, executed, functions_of, log_of};
pub use compute_in_lab::ComputingLab;
pub use cuts::Packed;
pub use desk::{Desk, Stage};
pub use device_log::DeviceLog;
pub use elsewhere::Elsewhere;
pub use error::{ComputingError, ConductorError, DeviceLogError, GuestsError, TaskError};
pub use guests::{Change, Guests, Provided};
pub use here::Here;
pub use inside::guest;
pub use observer::{Event, Observer};
pub use repeat::{Asked, AskedStage, CutOfRun, Remains, Survives};
pub use share::{Division, OwnShare, Share};
pub use shrink::Shrunk;
pub use slurm::{MOST_TASKS, Slurm, SlurmError};
use ssdlab_advice as advice;
pub use ssdlab_disk::guest::is_confined as are_guests_confined;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{Ending, Status};
pub use tools::tools;

use self::failure::Failure;
use self::performed::Performed;

/// Everything a run needs.
pub struct Conductor<'a> {
    /// The schedule and the records.
    pub desk: Desk<'a>,
    /// Where its trials take place.
    pub stage: &'a mut dyn Stage,
}

impl Conductor<'_> {
    /// Merges what other machines have recorded, runs the scheduled trials that have no record,
    /// block by block, until the run may end, and stores why it ended.
    pub fn conduct(&mut self) -> Result<Ending, ConductorError> {
        self.desk.run.ended(Ending::Interrupted)?;
        self.desk.merge()?;
        let ending = self.blocks()?;
        self.desk.run.ended(ending)?;
        Ok(ending)
    }

    fn blocks(&mut self) -> Result<Ending, ConductorError> {
        let schedule = self.desk.schedule;
        self.rule_out()?;
        // A begun block is finished before checking whether the run may end.
        let ran = self.desk.records.iter().filter(|record| record.status != Status::Unavailable);
        let begun = ran.map(|record| record.trial.block).max().unwrap_or(0);
        let limits = &schedule.repetitions;
        // Blocks without such a check in between are one piece of work.
        let has_check =
            limits.time_ns.is_some() || limits.written_bytes.is_some() || self.desk.is_alone();
        for (step, blocks) in schedule.blocks().into_iter().enumerate() {
            let chosen = advice::taking_part(schedule, &self.desk.records, step);
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
                    chosen.filter(|trial| self.desk.is_open(trial)).copied().collect();
                if self.desk.unavailable.len() == schedule.treatments.len() {
                    return Ok(Ending::NothingRuns);
                }
                if !self.stage.perform(&todo, &mut self.desk)? {
                    return Ok(Ending::Interrupted);
                }
                let block = piece.end - 1;
                if block >= begun
                    && let Some(ending) = self.desk.is_enough(block)
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
        let schedule = self.desk.schedule;
        for index in 0..schedule.treatments.len() {
            let is_known = self.desk.records.iter().any(|record| record.trial.treatment == index);
            let is_own = |trial: &&Trial| trial.treatment == index && self.stage.takes(trial);
            let first = schedule.trials.iter().find(is_own);
            let Some(first) = first.filter(|_| !is_known) else { continue };
            let reason = match &schedule.treatments[index].setup {
                Ok(setup) => self.stage.missing(setup),
                Err(error) => Some(error.message.clone()),
            };
            if let Some(reason) = reason {
                let performed = Performed::from(Failure::Unavailable(reason));
                self.desk.keep(performed.record(schedule, *first))?;
            }
        }
        Ok(())
    }
}

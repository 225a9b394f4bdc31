//! The conductor: runs a schedule on a lab, trial by trial, and stores what comes out.
//!
//! The only room that knows lab, workload, meter and results. It decides nothing about the
//! statistics: whether to go on is asked of `advice`. Trials run on this machine ([`Here`]), in
//! guests ([`Guests`]), which perform the very same trial inside, or on other machines ([`Fleet`]).

mod aged_drive;
mod ageing;
mod assignment;
mod books;
mod cancel;
mod collect;
mod cuts;
mod desk;
mod drive_watch;
mod element;
mod error;
mod evidence;
mod failure;
mod fleet;
mod guests;
mod here;
mod images;
mod inside;
mod measure;
mod observer;
mod patience;
mod performed;
mod presence;
mod recovery;
mod submission;
#[cfg(test)]
mod tests;
mod tools;
mod trial;
mod varied_drives;

pub use ageing::aged_from;
pub use books::{Books, executed, functions_of, log_of};
pub use cancel::{Cancelled, cancel, partition};
pub use collect::Rsync;
pub use desk::{Desk, Stage};
pub use error::{ConductorError, FleetError};
pub use fleet::{Fleet, Submitter};
pub use guests::{Change, Guests, GuestsError, Provided};
pub use here::Here;
pub use inside::guest;
pub use observer::{Event, Observer};
pub use presence::Presence;
use ssdlab_advice as advice;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{Ending, Status};
pub use submission::{Expected, Submission};
pub use tools::tools;

use self::failure::Failure;
use self::performed::Performed;

/// Everything a run needs.
pub struct Conductor<'a> {
    /// Its papers.
    pub desk: Desk<'a>,
    /// Where its trials take place.
    pub stage: &'a mut dyn Stage,
}

impl Conductor<'_> {
    /// Runs what the schedule holds and the records lack, block by block, until it is enough, and
    /// stores why it ended.
    pub fn conduct(&mut self) -> Result<Ending, ConductorError> {
        self.desk.run.ended(Ending::Interrupted)?;
        let ending = self.blocks()?;
        self.desk.run.ended(ending)?;
        Ok(ending)
    }

    /// Runs just these trials, on a node that has been given them: what else the run is to do, and
    /// whether it is enough, is decided where it was started.
    /// False means that it was interrupted.
    pub fn conduct_only(&mut self, trials: &[Trial]) -> Result<bool, ConductorError> {
        self.rule_out(trials)?;
        self.stage.perform(trials, &mut self.desk)
    }

    fn blocks(&mut self) -> Result<Ending, ConductorError> {
        let schedule = self.desk.schedule;
        self.rule_out(&schedule.trials)?;
        // A block that was begun is finished before anybody asks whether it is enough.
        let ran = self.desk.records.iter().filter(|record| record.status != Status::Unavailable);
        let begun = ran.map(|record| record.trial.block).max().unwrap_or(0);
        let limits = &schedule.repetitions;
        // Blocks after which nobody asks whether it is enough are one piece of work.
        let has_budget = limits.time_ns.is_some() || limits.written_bytes.is_some();
        for (step, blocks) in schedule.blocks().into_iter().enumerate() {
            let chosen = advice::taking_part(schedule, &self.desk.records, step);
            if chosen.is_empty() {
                return Ok(Ending::NothingRuns);
            }
            let least = if has_budget { 0 } else { limits.least.min(blocks.end - blocks.start) };
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
    fn rule_out(&mut self, trials: &[Trial]) -> Result<(), ConductorError> {
        let schedule = self.desk.schedule;
        for index in 0..schedule.treatments.len() {
            let is_known = self.desk.records.iter().any(|record| record.trial.treatment == index);
            let first = trials.iter().find(|trial| trial.treatment == index);
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

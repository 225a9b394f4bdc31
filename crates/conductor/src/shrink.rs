//! Shrinks the workload of a finding: does less and less, as long as some power cut of the trial
//! still has it.

use ssdlab_operations::cuts::{CutOutcome, Finding};
use ssdlab_plan::Schedule;
use ssdlab_plan::cuts::Cuts;
use ssdlab_plan::schedule::Workload;
use ssdlab_results::Record;

use super::error::TaskError;
use super::failure::Failure;
use super::guests::Guests;
use super::repeat::CutOfRun;

/// Power cuts of each smaller workload. Few, as there are more for each operation than in a large
/// workload; more if the finding is not among them even with the whole one.
const CUTS: u32 = 50;

/// How many times more then.
const MORE: u32 = 4;

/// States of each cut that are examined at least: a small workload has few moments at which
/// something can be lost.
const SURVIVORS: u32 = 4;

/// Trials that are performed at most.
const MOST_TRIALS: u32 = 100;

/// The smallest workload with a finding.
#[derive(Debug)]
pub struct ShrunkWorkload {
    /// It has one trial.
    pub schedule: Schedule,
    pub record: Record,
    /// The first cut with the finding.
    pub outcome: CutOutcome,
    /// The trials that were performed.
    pub trials: u32,
    /// Whether no smaller workload has it, or trials only ran out.
    pub is_least: bool,
}

struct Search<'a, 'b> {
    guests: &'a Guests<'b>,
    finding: Finding,
    trials: u32,
    tried: Vec<Workload>,
}

impl Guests<'_> {
    /// Shrinks the workload of a cut that has a finding. `found` is called with each smaller
    /// workload in which some cut has it, too.
    pub fn shrink(
        &mut self,
        cut: &CutOfRun<'_>,
        finding: Finding,
        found: &mut dyn FnMut(&Workload),
    ) -> Result<ShrunkWorkload, TaskError> {
        let trial = cut.record.trial.position;
        self.log_briefly().map_err(|error| self.unrepeated(trial, error.into()))?;
        let mut search = Search { guests: self, finding, trials: 0, tried: Vec::new() };
        let shrunk = search.run(cut, found);
        shrunk.map_err(|failure| self.unrepeated(trial, failure))
    }
}

impl Search<'_, '_> {
    fn run(
        &mut self,
        cut: &CutOfRun<'_>,
        found: &mut dyn FnMut(&Workload),
    ) -> Result<ShrunkWorkload, Failure> {
        let mut shrunk = self.whole(cut)?;
        while let Some(smaller) = self.smaller(&shrunk.schedule)? {
            found(&smaller.schedule.workload);
            shrunk = smaller;
        }
        Ok(ShrunkWorkload { trials: self.trials, is_least: self.trials < MOST_TRIALS, ..shrunk })
    }

    /// The first smaller workload with the finding that was not tried before.
    fn smaller(&mut self, schedule: &Schedule) -> Result<Option<ShrunkWorkload>, Failure> {
        for workload in schedule.workload.smaller() {
            if self.trials == MOST_TRIALS {
                break;
            }
            if self.tried.contains(&workload) {
                continue;
            }
            self.tried.push(workload.clone());
            let smaller = self.attempt(schedule.clone().with_workload(workload))?;
            if smaller.is_some() {
                return Ok(smaller);
            }
        }
        Ok(None)
    }

    /// The finding with the whole workload, with as few cuts as show it.
    fn whole(&mut self, cut: &CutOfRun<'_>) -> Result<ShrunkWorkload, Failure> {
        let schedule = cut.schedule.only(cut.record.trial);
        let Some(cuts) = schedule.cuts.clone() else {
            return Err(Failure::Failed("it has no power cuts".to_owned()));
        };
        let (most, survivors) = (cuts.of_trial, cuts.survivors.max(SURVIVORS));
        let mut number = CUTS.min(most);
        loop {
            let cuts = Cuts { of_trial: number, survivors, ..cuts.clone() };
            if let Some(shrunk) = self.attempt(schedule.clone().with_cuts(cuts))? {
                return Ok(shrunk);
            }
            if number == most {
                let finding = self.finding;
                return Err(Failure::Failed(format!("repeating it does not lead to {finding}")));
            }
            number = number.saturating_mul(MORE).min(most);
        }
    }

    /// Performs the trial of a schedule, and cuts its power.
    fn attempt(&mut self, schedule: Schedule) -> Result<Option<ShrunkWorkload>, Failure> {
        self.trials += 1;
        let trial = schedule.trials[0];
        let guests = self.guests;
        let performed = guests.trial_alone(&schedule, trial, |evidence| guests.cut(evidence))?;
        let record = performed.record(&schedule, trial);
        let finding = self.finding;
        let has_it = |outcome: &&CutOutcome| outcome.has(finding) == Some(true);
        let Some(outcome) = record.cuts.iter().find(has_it).cloned() else { return Ok(None) };
        Ok(Some(ShrunkWorkload { schedule, record, outcome, trials: 0, is_least: false }))
    }
}

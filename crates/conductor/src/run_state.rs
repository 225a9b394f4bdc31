//! Where trials take place, and the state of a run, which has their records.

use std::collections::BTreeSet;

use ssdlab_advice as advice;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Levels, Schedule, Setup};
use ssdlab_results::{Ending, Record, RunFolder, TrialStatus};

use super::error::ConductorError;

/// Where the trials of a run take place: on this machine, in guests, or on other machines.
pub trait Executor {
    /// Why this treatment cannot run here at all; `None` if it can.
    fn missing(&self, setup: &Setup) -> Option<String>;

    /// Whether a trial, if it is to be run, is to be run here.
    fn takes(&self, _: &Trial) -> bool {
        true
    }

    /// Runs trials, of as many blocks as need no decision in between, and adds each record to the
    /// state as soon as it is complete. False means that the run is to stop.
    fn perform(
        &mut self,
        trials: &[Trial],
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError>;
}

/// A run's plan and progress: its schedule and its records.
pub struct RunState<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// Where records go.
    pub run: &'a mut RunFolder,
    /// Who is told about progress.
    pub observer: &'a mut dyn Observer,
    /// The records so far; those of an earlier session of the run come first.
    pub records: Vec<Record>,
    /// The trials that are recorded, by block and treatment.
    recorded: BTreeSet<(u32, usize)>,
    /// The treatments that cannot run.
    pub(super) unavailable: BTreeSet<usize>,
    /// The merged records of other machines that cannot run a treatment.
    pub(super) refusals: Vec<Record>,
}

impl<'a> RunState<'a> {
    /// The state of a run that may already have records.
    pub fn new(
        schedule: &'a Schedule,
        run: &'a mut RunFolder,
        observer: &'a mut dyn Observer,
        records: Vec<Record>,
    ) -> Self {
        let mut run_state = Self {
            schedule,
            run,
            observer,
            records: Vec::new(),
            recorded: BTreeSet::new(),
            unavailable: BTreeSet::new(),
            refusals: Vec::new(),
        };
        for record in records {
            run_state.enter(record);
        }
        run_state
    }

    fn enter(&mut self, record: Record) {
        self.recorded.insert((record.trial.block, record.trial.treatment));
        if record.status == TrialStatus::Unavailable {
            self.unavailable.insert(record.trial.treatment);
        }
        self.records.push(record);
    }

    pub(super) fn begin_trial(&mut self, trial: Trial) {
        self.observer.notice(RunEvent::TrialStarted {
            levels: &self.schedule.distinct(&self.schedule.treatments[trial.treatment].levels),
            done: self.ran(),
            planned: self.planned(),
        });
    }

    pub(super) fn begin_phase(&mut self, trial: Trial, name: &str) {
        let levels = &self.schedule.distinct(&self.schedule.treatments[trial.treatment].levels);
        self.observer.notice(RunEvent::PhaseStarted { name, levels });
    }

    /// Stores the record of a trial.
    pub(super) fn add_record(&mut self, record: Record) -> Result<(), ConductorError> {
        self.run.push(&record)?;
        let levels = self.schedule.distinct(&record.levels);
        self.enter(record);
        if let Some(record) = self.records.last() {
            let (levels, records) = (&levels, &self.records);
            self.observer.notice(RunEvent::TrialEnded { record, levels, records });
        }
        Ok(())
    }

    /// Stores what other machines have recorded.
    pub(super) fn merge(&mut self) -> Result<(), ConductorError> {
        let found = self.run.unmerged(self.schedule, &self.records)?;
        for text in &found.warnings {
            self.observer.notice(RunEvent::Trouble { text });
        }
        for record in found.records {
            self.begin_trial(record.trial);
            self.add_record(record)?;
        }
        self.refusals = found.refusals;
        Ok(())
    }

    /// Whether a trial is still to be run; that may change within its block.
    pub(super) fn is_open(&self, trial: &Trial) -> bool {
        !self.recorded.contains(&(trial.block, trial.treatment))
            && !self.unavailable.contains(&trial.treatment)
    }

    /// Whether a trial of a treatment has run.
    pub(super) fn has_run(&self, treatment: usize) -> bool {
        let is_of = |record: &&Record| record.trial.treatment == treatment;
        self.records.iter().filter(is_of).any(|record| record.status != TrialStatus::Unavailable)
    }

    /// Whether only one of several treatments can run, and more of its trials answer nothing: no
    /// claim is about one treatment.
    pub(super) fn is_alone(&self) -> bool {
        let treatments = self.schedule.treatments.len();
        let compares = self.schedule.claims.iter().all(|claim| !claim.is_of_one_treatment());
        // Cuts are looked at one by one.
        let compares = compares && self.schedule.cuts.is_none();
        treatments > 1 && self.unavailable.len() + 1 == treatments && compares
    }

    /// The minimum number of trials that will run.
    fn planned(&self) -> usize {
        if self.is_alone() {
            return self.ran() + 1;
        }
        let blocks = self.schedule.repetitions.least as usize;
        let missing = &self.unavailable;
        let able = self.schedule.treatments.len() - missing.len();
        if !self.schedule.steps.is_empty() {
            let expected = self.schedule.expected_trials();
            let missing = missing.iter().filter(|index| self.schedule.is_of_step(**index, 0));
            return expected.saturating_sub(missing.count() * blocks).max(self.ran() + 1);
        }
        let least = able * blocks;
        // Beyond the least number, blocks are added one at a time.
        least.max((self.ran() + 1).next_multiple_of(able.max(1)))
    }

    fn ran(&self) -> usize {
        self.records.iter().filter(|record| record.status != TrialStatus::Unavailable).count()
    }

    pub(super) fn why_end(&self, block: u32) -> Option<Ending> {
        let limits = &self.schedule.repetitions;
        if self.unavailable.len() == self.schedule.treatments.len() {
            return Some(Ending::NothingRuns);
        }
        if self.schedule.blocks().last().is_some_and(|last| block + 1 >= last.end) {
            return Some(Ending::AllBlocks);
        }
        if self.is_alone() && self.ran() > 0 {
            return Some(Ending::NothingToCompare);
        }
        let took_ns: u64 = self.records.iter().map(|record| record.took_ns).sum();
        if limits.time_ns.is_some_and(|budget| took_ns >= budget) {
            return Some(Ending::TimeSpent);
        }
        let written: u64 = self.records.iter().map(|record| record.written_bytes).sum();
        if limits.written_bytes.is_some_and(|budget| written >= budget) {
            return Some(Ending::BytesSpent);
        }
        let is_due = self.schedule.steps.is_empty() && block + 1 >= limits.least;
        (is_due && advice::may_stop(self.schedule, &self.records)).then_some(Ending::Precise)
    }
}

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A trial begins.
    TrialStarted {
        /// The levels by which it differs from others.
        levels: &'a Levels,
        /// The number of records so far.
        done: usize,
        /// The minimum number of records at the end.
        planned: usize,
    },
    /// Shares are submitted to Slurm.
    Submitted {
        shares: usize,
        /// The name of their job.
        name: &'a str,
    },
    /// A phase of it begins.
    PhaseStarted {
        /// The phase.
        name: &'a str,
        /// The levels by which its trial differs from others.
        levels: &'a Levels,
    },
    /// Something that no record can hold.
    Trouble { text: &'a str },
    /// A trial has ended and its record is stored.
    TrialEnded {
        record: &'a Record,
        /// The levels by which it differs from others.
        levels: &'a Levels,
        /// All records there are now; its own is the last.
        records: &'a [Record],
    },
}

/// A receiver of events.
pub trait Observer {
    /// Called for every event, between phases, never within one; trials that run at the same time
    /// take turns.
    fn notice(&mut self, event: RunEvent<'_>);
}

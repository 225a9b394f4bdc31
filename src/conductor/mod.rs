//! The conductor: runs a schedule on a lab, trial by trial, and stores what comes out.
//!
//! The only room that knows lab, workload, meter and results. It decides nothing about the
//! statistics: whether to go on is asked of `advice`. Trials run on this machine ([`Here`]), in
//! guests ([`Guests`]), which perform the very same trial inside, or on other machines ([`Fleet`]).

mod aged_drive;
mod ageing;
mod books;
mod cancel;
mod collect;
mod drive_watch;
mod element;
mod failure;
mod fleet;
mod guests;
mod here;
mod inside;
mod measure;
mod observer;
mod patience;
mod presence;
mod submission;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::BTreeSet;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use thiserror::Error;

pub use ageing::aged_from;
pub use books::{Books, log_of};
pub use cancel::{Cancelled, cancel, partition};
pub use collect::Rsync;
pub use fleet::{Fleet, FleetError, Submitter};
pub use guests::{Guests, GuestsError, Provided};
pub use here::Here;
pub use inside::guest;
pub use observer::{Event, Observer};
pub use presence::Presence;
pub use submission::{Expected, Submission};

use crate::advice;
use crate::filesystem;
use crate::host::interrupt::Interrupt;
use crate::meter::environment;
use crate::plan::schedule::{Action, Build, Trial};
use crate::plan::{Schedule, Setup};
use crate::results::{Ending, Record, Run, Status, StoreError};
use crate::undo::UndoError;

/// What ends a run before its time. What the run had measured by then is stored.
#[derive(Debug, Error, Diagnostic)]
pub enum ConductorError {
    /// A record could not be stored.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
    /// A change to the machine could not be taken back.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Undo(#[from] UndoError),
    /// It cannot be told whether another trial runs on this machine.
    #[error("cannot acquire the measurement lock: {cause}")]
    #[diagnostic(help("two trials at once would measure each other; let this user open the lock"))]
    Turn {
        /// Why not.
        cause: io::Error,
    },
    /// Other machines do not do their part.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Fleet(Box<FleetError>),
}

/// Where the trials of a run take place: on this machine, in guests, or on other machines.
pub trait Stage {
    /// Why this treatment cannot run here at all; `None` if it can.
    fn missing(&self, setup: &Setup) -> Option<String>;

    /// Runs trials, of as many blocks as need not be looked at before the next, and puts each
    /// record on the desk as soon as it is there. False means that the run is to stop.
    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError>;
}

/// What a run is to do and has done: its schedule and its records.
pub struct Desk<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// Where records go.
    pub run: &'a mut Run,
    /// Who is told about progress.
    pub observer: &'a mut dyn Observer,
    /// The records so far; those of an earlier session of the run come first.
    pub records: Vec<Record>,
    /// The trials that are recorded, by block and treatment.
    recorded: BTreeSet<(u32, usize)>,
    /// The treatments that cannot run.
    unavailable: BTreeSet<usize>,
    /// Whether a record that finds no room waits for it, until this is set.
    patient_until: Option<&'a Interrupt>,
}

/// How long a record waits for room.
const WAIT_FOR_ROOM: Duration = Duration::from_mins(10);

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
            let reason = match schedule.setup(index) {
                Ok(setup) => self.stage.missing(&setup),
                Err(error) => Some(error.message),
            };
            if let Some(reason) = reason {
                let mut record = trial::blank(schedule, *first);
                record.status = Status::Unavailable;
                record.reason = Some(reason);
                self.desk.keep(record)?;
            }
        }
        Ok(())
    }
}

impl<'a> Desk<'a> {
    /// The desk of a run that has some records already.
    pub fn new(
        schedule: &'a Schedule,
        run: &'a mut Run,
        observer: &'a mut dyn Observer,
        records: Vec<Record>,
    ) -> Self {
        let mut desk = Self {
            schedule,
            run,
            observer,
            records: Vec::new(),
            recorded: BTreeSet::new(),
            unavailable: BTreeSet::new(),
            patient_until: None,
        };
        for record in records {
            desk.enter(record);
        }
        desk
    }

    /// The same where a full disk is not the end: others fill a shared folder, and may empty it.
    #[must_use]
    pub fn patient(self, until: &'a Interrupt) -> Self {
        Self { patient_until: Some(until), ..self }
    }

    fn enter(&mut self, record: Record) {
        self.recorded.insert((record.trial.block, record.trial.treatment));
        if record.status == Status::Unavailable {
            self.unavailable.insert(record.trial.treatment);
        }
        self.records.push(record);
    }

    /// A trial begins.
    fn begin(&mut self, trial: Trial) {
        self.observer.notice(Event::TrialStarted {
            trial,
            levels: &self.schedule.distinct(&self.schedule.treatments[trial.treatment].levels),
            done: self.ran(),
            planned: self.planned(),
        });
    }

    /// A phase of a trial begins.
    fn phase(&mut self, trial: Trial, name: &str) {
        let levels = &self.schedule.distinct(&self.schedule.treatments[trial.treatment].levels);
        self.observer.notice(Event::PhaseStarted { trial, name, levels });
    }

    /// Stores the record of a trial.
    fn keep(&mut self, record: Record) -> Result<(), ConductorError> {
        self.store(&record)?;
        let levels = self.schedule.distinct(&record.levels);
        self.enter(record);
        if let Some(record) = self.records.last() {
            let (levels, records, done) = (&levels, &self.records, self.ran());
            self.observer.notice(Event::TrialEnded { record, levels, records, done });
        }
        Ok(())
    }

    fn store(&mut self, record: &Record) -> Result<(), StoreError> {
        let started = Instant::now();
        loop {
            match (self.run.push(record), self.patient_until) {
                (Err(error), Some(until))
                    if error.is_for_room()
                        && !until.is_set()
                        && started.elapsed() < WAIT_FOR_ROOM =>
                {
                    sleep(Duration::from_secs(1));
                }
                (stored, _) => return stored,
            }
        }
    }

    /// Whether a trial is still to be run; that may change within its block.
    fn is_open(&self, trial: &Trial) -> bool {
        !self.recorded.contains(&(trial.block, trial.treatment))
            && !self.unavailable.contains(&trial.treatment)
    }

    /// Whether a trial of a treatment has run.
    fn has_run(&self, treatment: usize) -> bool {
        let is_of = |record: &&Record| record.trial.treatment == treatment;
        self.records.iter().filter(is_of).any(|record| record.status != Status::Unavailable)
    }

    /// Trials that will run at least.
    fn planned(&self) -> usize {
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
        self.records.iter().filter(|record| record.status != Status::Unavailable).count()
    }

    fn is_enough(&self, block: u32) -> Option<Ending> {
        let limits = &self.schedule.repetitions;
        if self.unavailable.len() == self.schedule.treatments.len() {
            return Some(Ending::NothingRuns);
        }
        if self.schedule.blocks().last().is_some_and(|last| block + 1 >= last.end) {
            return Some(Ending::AllBlocks);
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
        (is_due && advice::precision(self.schedule, &self.records).is_reached)
            .then_some(Ending::Precise)
    }
}

/// The versions of the programs that a schedule's trials use, each as it says it itself.
#[must_use]
pub fn tools(schedule: &Schedule) -> Vec<String> {
    let used: BTreeSet<&str> =
        schedule.setups().filter_map(|setup| Some(setup.filesystem?.name)).collect();
    let mut programs: Vec<(&str, &str)> = filesystem::ALL
        .iter()
        // What lives in a pool says its version when it is mounted.
        .filter(|known| used.contains(known.name) && known.pool.is_none())
        .map(|filesystem| (filesystem.mkfs, "-V"))
        .collect();
    let does = |action: fn(&Action) -> bool| {
        (0..schedule.treatments.len())
            .flat_map(|index| schedule.phases(index))
            .any(|phase| action(&phase.action))
    };
    if does(|action| matches!(action, Action::Fstrim)) {
        programs.push(("fstrim", "--version"));
    }
    if does(|action| matches!(action, Action::Fio { .. })) {
        programs.push(("fio", "--version"));
    }
    if let Some(Build::Git { .. }) = schedule.workload.build {
        programs.extend([("git", "--version"), ("make", "--version"), ("cc", "--version")]);
    }
    programs.iter().filter_map(|(name, argument)| environment::version(name, argument)).collect()
}

//! The executor of trials on this machine: one at a time, each on a filesystem that its lab mounts,
//! and unmounts before the next.

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::lock::LockHolder;
use ssdlab_host::measurement_lock::{LockEvent, MeasurementLock};
use ssdlab_host::undo::Journal;
use ssdlab_kernel::aged::Store;
use ssdlab_lab::Lab;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{LabKind, Setup, Target};
use ssdlab_results::{Record, TrialStatus};
use ssdlab_workload::PreparedWorkload;

use super::assignment::Assignment;
use super::failure::Failure;
use super::message::Message;
use super::performed::TrialOutcome;
use super::stretch::StretchHistory;
use super::write_ledger::WriteLedger;
use super::{ConductorError, Executor, RunEvent, RunState};

/// This machine.
pub struct LocalExecutor<'a> {
    /// Where trials take place.
    pub target: &'a Target,
    pub lab: &'a mut dyn Lab,
    pub workload: &'a mut PreparedWorkload,
    /// The journal of changes to the machine.
    pub journal: &'a mut Journal,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
    /// The records of requests and their kinds of bytes.
    pub write_ledger: WriteLedger,
    /// How earlier stretches of the machine's time fared (live lab).
    pub stretches: StretchHistory,
    /// Where aged images are kept.
    pub aged: &'a Store,
    /// The versions of the programs that trials use, for their records.
    pub tools: Vec<String>,
}

impl Executor for LocalExecutor<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        self.lab.missing(setup)
    }

    fn perform(
        &mut self,
        trials: &[Trial],
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError> {
        for trial in trials {
            // An earlier trial of this treatment may have found that it cannot run.
            if run_state.is_open(trial) && !self.run_trial(*trial, run_state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl LocalExecutor<'_> {
    /// Runs one trial and stores its record. False means that it was interrupted.
    fn run_trial(
        &mut self,
        trial: Trial,
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError> {
        if self.interrupt.is_set() {
            return Ok(false);
        }
        let mut tell = |told: &LockEvent| {
            run_state.observer.notice(RunEvent::Trouble { text: &lock_message(told) });
        };
        // Two trials at the same time would disturb each other, whoever started them.
        let lock = MeasurementLock::take(self.interrupt, &mut tell);
        let lock = match lock {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(false),
            Err(cause) => return Err(ConductorError::Turn { cause }),
        };
        run_state.begin_trial(trial);
        let mark = self.journal.mark();
        let asks_for_causes = run_state.schedule.asks_for_causes();
        self.write_ledger.begin_trial(trial, asks_for_causes);
        let mut performed = match Assignment::of(run_state.schedule, trial) {
            Ok(assignment) => self.perform_one(&assignment, &mut |message| {
                if let Message::Begins(name) = message {
                    run_state.begin_phase(trial, &name);
                }
            }),
            Err(failure) => TrialOutcome::from(failure),
        };
        performed.ended = match performed.ended {
            Err(failure) => Err(failure.seen_by(self.interrupt)),
            // What ends the run may have ended a program's child, too, before its time.
            Ok(()) if self.interrupt.is_set() => Err(Failure::Interrupted),
            Ok(()) => Ok(()),
        };
        let record = match performed.ended {
            Err(Failure::Interrupted) => None,
            _ => Some(performed.record(run_state.schedule, trial)),
        };
        let undone = self.journal.undo_to(mark);
        let is_done = record.is_some();
        let harmed = record.as_ref().filter(|_| self.target.lab() == LabKind::Live).and_then(harm);
        // The record is safe before anything else can go wrong.
        record.map_or(Ok(()), |record| run_state.add_record(record))?;
        undone?;
        self.give_back(run_state);
        drop(lock);
        harmed.map_or(Ok(is_done), Err)
    }

    /// A device that cannot be released is gone: the next trial's record says so.
    fn give_back(&mut self, run_state: &mut RunState<'_>) {
        if let Err(error) = self.finish_trial() {
            run_state.observer.notice(RunEvent::Trouble { text: &error.to_string() });
        }
    }
}

/// Why no further stretch of the machine's time is to follow a trial: it failed, or hurt.
fn harm(record: &Record) -> Option<ConductorError> {
    if matches!(record.status, TrialStatus::Ok | TrialStatus::Unavailable) {
        return None;
    }
    let (levels, reason) = (record.levels.clone(), record.reason.clone().unwrap_or_default());
    Some(ConductorError::Harmed { levels, reason })
}

/// A message that says who has the measurement lock.
fn lock_message(told: &LockEvent) -> String {
    let who = |holder: &Option<LockHolder>| {
        holder.as_ref().map_or_else(|| "somebody".to_owned(), LockHolder::to_string)
    };
    match told {
        LockEvent::Waiting { lock, holder } => format!(
            "waiting for the measurement lock: {} is held by {}",
            lock.display(),
            who(holder)
        ),
        LockEvent::Beside { lock, holder } => format!(
            "measuring beside others, waited long enough: {} is still held by {}; end it if it \
             measures nothing",
            lock.display(),
            who(holder)
        ),
        LockEvent::Unusable { cause } => format!(
            "measuring without the measurement lock that all users share: {cause}; remove what is \
             in its place"
        ),
    }
}

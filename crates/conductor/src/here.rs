//! The stage for trials on this machine: one at a time, each on ground that its lab has prepared
//! and undoes before the next.

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::lock::Holder;
use ssdlab_host::turn::{Told, Turn};
use ssdlab_host::undo::Journal;
use ssdlab_kernel::aged::Store;
use ssdlab_lab::Lab;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Setup, Target};
use ssdlab_workload::Workload;

use super::assignment::Assignment;
use super::books::Books;
use super::failure::Failure;
use super::message::Message;
use super::performed::Performed;
use super::{ConductorError, Desk, Event, Stage};

/// This machine.
pub struct Here<'a> {
    /// Where trials take place.
    pub target: &'a Target,
    /// The lab there.
    pub lab: &'a mut dyn Lab,
    /// The workload.
    pub workload: &'a mut Workload,
    /// The journal of changes to the machine.
    pub journal: &'a mut Journal,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
    /// The records of requests and their kinds of bytes.
    pub books: Books,
    /// Where aged images are kept.
    pub aged: &'a Store,
    /// The versions of the programs that trials use, for their records.
    pub tools: Vec<String>,
}

impl Stage for Here<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        self.lab.missing(setup)
    }

    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        for trial in trials {
            // An earlier trial of this treatment may have found that it cannot run.
            if desk.is_open(trial) && !self.one(*trial, desk)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Here<'_> {
    /// Runs one trial and stores its record. False means that it was interrupted.
    fn one(&mut self, trial: Trial, desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        if self.interrupt.is_set() {
            return Ok(false);
        }
        let mut tell = |told: &Told| {
            desk.observer.notice(Event::Trouble { text: &says(told) });
        };
        // Two trials at the same time would disturb each other, whoever started them.
        let turn = Turn::take(self.interrupt, &mut tell);
        let turn = match turn {
            Ok(Some(turn)) => turn,
            Ok(None) => return Ok(false),
            Err(cause) => return Err(ConductorError::Turn { cause }),
        };
        desk.begin(trial);
        let mark = self.journal.mark();
        self.books.turn_to(trial);
        let mut performed = match Assignment::of(desk.schedule, trial) {
            Ok(assignment) => self.perform_one(&assignment, &mut |message| {
                if let Message::Begins(name) = message {
                    desk.phase(trial, &name);
                }
            }),
            Err(failure) => Performed::from(failure),
        };
        performed.ended = match performed.ended {
            Err(failure) => Err(failure.seen_by(self.interrupt)),
            // What ends the run may have ended a program's child, too, before its time.
            Ok(()) if self.interrupt.is_set() => Err(Failure::Interrupted),
            Ok(()) => Ok(()),
        };
        let record = match performed.ended {
            Err(Failure::Interrupted) => None,
            _ => Some(performed.record(desk.schedule, trial)),
        };
        let undone = self.journal.undo_to(mark);
        let is_done = record.is_some();
        // The record is safe before anything else can go wrong.
        record.map_or(Ok(()), |record| desk.keep(record))?;
        undone?;
        self.give_back(desk);
        drop(turn);
        Ok(is_done)
    }

    /// A device that cannot be released is gone: the next trial's record says so.
    fn give_back(&mut self, desk: &mut Desk<'_>) {
        if let Err(error) = self.finish_trial() {
            desk.observer.notice(Event::Trouble { text: &error.to_string() });
        }
    }
}

/// A message that says who has the turn.
fn says(told: &Told) -> String {
    let who = |holder: &Option<Holder>| {
        holder.as_ref().map_or_else(|| "somebody".to_owned(), Holder::to_string)
    };
    match told {
        Told::Waiting { lock, holder } => format!(
            "waiting for the measurement lock: {} is held by {}",
            lock.display(),
            who(holder)
        ),
        Told::Beside { lock, holder } => format!(
            "measuring beside others, waited long enough: {} is still held by {}; end it if it \
             measures nothing",
            lock.display(),
            who(holder)
        ),
        Told::Unusable { cause } => format!(
            "measuring without the measurement lock that all users share: {cause}; remove what is \
             in its place"
        ),
    }
}

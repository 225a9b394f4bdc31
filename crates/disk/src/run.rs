//! Defines the event loop: one thread that is the guest's clock and its disks.
//!
//! There is one queue of events, ordered by time and then by submission. While the guest runs, only
//! its messages are answered. While it waits, the earlier of the next completion and the guest's
//! timer happens, the completion first if both are due; so nothing depends on the speed of either
//! side.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

use ssdlab_flash::Nanos;

use crate::DiskError;
use crate::calendar::{Calendar, Heard, NEVER};
use crate::disk::Disk;
use crate::fingerprint::{Fingerprint, Witness};
use crate::process::{Process, Silence};
use crate::socket::{Door, wait};
use crate::vhost::Pending;

/// How a guest is run.
#[derive(Debug, Default)]
pub struct Options {
    /// The time of the guest's clock at time 0, in nanoseconds since 1970.
    pub epoch: Nanos,
    /// The limit of the guest's time, if any.
    pub limit: Option<Nanos>,
    /// The guest's process, which detects a guest that never connects or is silent for too long.
    pub process: Option<Process>,
}

/// The outcome of a guest that ended while it was running and waited for no answer.
///
/// That is how it powers off, but also how it ends if it panics or is killed while it computes; the
/// exit status of its process tells which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Its time at the end, as last reported.
    pub now: Nanos,
    /// The fingerprint of all requests to its disks.
    pub fingerprint: Fingerprint,
}

/// Serves a guest's clock and disks until it ends.
///
/// The caller starts the guest with `time-travel=ext:SOCKET` for the calendar; this socket and
/// those of the disks must exist before. The disks are numbered in order.
///
/// It returns when the guest closes the calendar. Any fault of the guest or the machine is an
/// error; the caller must then end the guest's process.
///
/// # Panics
///
/// If there are more than eight disks.
pub fn run(
    calendar: impl Into<Door>,
    disks: &mut [Disk<'_>],
    options: Options,
) -> Result<Outcome, DiskError> {
    assert!(disks.len() <= MOST_DISKS, "a guest has at most {MOST_DISKS} disks");
    let door = calendar.into();
    let mut lab = Lab {
        disks,
        door,
        calendar: None,
        agenda: BTreeMap::new(),
        submitted: 0,
        witness: Witness::default(),
        options,
    };
    let ended = lab.serve();
    let mut finished = Ok(());
    for disk in &mut *lab.disks {
        finished = finished.and(disk.finish());
    }
    ended.and(finished)?;
    Ok(Outcome { now: lab.now(), fingerprint: lab.witness.fingerprint() })
}

/// The name of the calendar's other end, in messages.
const CALENDAR: &str = "calendar";

/// The maximum number of disks (`DISKS` in `kernel/disks.c`): a bit each in a set of them.
const MOST_DISKS: usize = 8;

/// The requests in flight, by completion time and number, each with its disk.
type Agenda = BTreeMap<(Nanos, u64), (usize, Pending)>;

/// A guest, its disks and its time.
struct Lab<'a, 'b> {
    disks: &'a mut [Disk<'b>],
    door: Door,
    calendar: Option<Calendar>,
    agenda: Agenda,
    submitted: u64,
    witness: Witness,
    options: Options,
}

/// Whether the guest still exists.
enum Life {
    Goes,
    Ended,
}

impl Lab<'_, '_> {
    fn now(&self) -> Nanos {
        self.calendar.as_ref().map_or(Nanos::ZERO, Calendar::now)
    }

    fn serve(&mut self) -> Result<(), DiskError> {
        loop {
            let waits_until = self.calendar.as_ref().and_then(Calendar::waits_until);
            let life = match waits_until {
                Some(until) => self.advance(until)?,
                None => self.listen()?,
            };
            if matches!(life, Life::Ended) {
                return Ok(());
            }
        }
    }

    /// Receives one message from any source.
    fn listen(&mut self) -> Result<Life, DiskError> {
        let calendar = self.calendar.as_ref().map_or(self.door.as_fd(), |c| c.socket().as_fd());
        let disks = self.disks.iter().map(Disk::source);
        let process = self.options.process.as_ref().map(AsFd::as_fd);
        let sources: Vec<Option<BorrowedFd<'_>>> =
            [Some(calendar), process].into_iter().chain(disks).collect();
        let ready = self.wait(&sources)?;
        if ready[0] {
            return self.hear_calendar();
        }
        if let Some(disk) = ready[2..].iter().position(|ready| *ready) {
            self.disks[disk].hear()?;
            return Ok(Life::Goes);
        }
        if self.calendar.is_none() {
            return Err(self.gone(CALENDAR, "its connection"));
        }
        Ok(Life::Ended)
    }

    /// Waits until a source is readable, unless the guest is silent for too long.
    fn wait(&self, sources: &[Option<BorrowedFd<'_>>]) -> Result<Vec<bool>, DiskError> {
        let process = self.options.process.as_ref();
        let mut silence = Silence::default();
        loop {
            let ready = wait(sources, process.map(Process::interval));
            let failed =
                |cause| DiskError::Socket { peer: "guest".to_owned(), doing: "wait for", cause };
            if let Some(ready) = ready.map_err(failed)? {
                return Ok(ready);
            }
            if let Some(process) = process.filter(|process| silence.is_too_long(process)) {
                let patience = process.patience();
                return Err(DiskError::Silent { patience, now: self.now() });
            }
        }
    }

    fn hear_calendar(&mut self) -> Result<Life, DiskError> {
        let Some(calendar) = &mut self.calendar else {
            let socket = self.door.enter(CALENDAR)?;
            self.calendar = Some(Calendar::new(socket, self.options.epoch));
            return Ok(Life::Goes);
        };
        match calendar.hear()? {
            Heard::Message => Ok(Life::Goes),
            Heard::Kick(disk) => self.kick(disk),
            Heard::End => Ok(Life::Ended),
        }
    }

    /// Serves the requests waiting in a ring. The guest runs on, so it must know until when it need
    /// not ask.
    fn kick(&mut self, number: u32) -> Result<Life, DiskError> {
        let now = self.now();
        let Self { disks, calendar: Some(calendar), agenda, submitted, witness, .. } = self else {
            return Ok(Life::Goes);
        };
        let count = disks.len();
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(disk) = disks.get_mut(index).filter(|disk| disk.is_started()) else {
            let expected = format!("one of {count} disks, with an enabled ring");
            return Err(calendar.fault("KICK", "the number of the disk", expected, number));
        };
        disk.serve(number, now, witness, |done, pending| {
            agenda.insert((done.min(NEVER), *submitted), (index, pending));
            *submitted += 1;
        })?;
        calendar.free_until(next(agenda))?;
        Ok(Life::Goes)
    }

    /// The guest waits: the next event happens.
    fn advance(&mut self, until: Nanos) -> Result<Life, DiskError> {
        let next = next(&self.agenda);
        if next.min(until) >= NEVER {
            return Err(DiskError::Deadlock { now: self.now() });
        }
        if let Some(limit) = self.options.limit.filter(|limit| next.min(until) > *limit) {
            return Err(DiskError::OutOfTime { limit });
        }
        if next > until {
            self.let_run(until, 0)?;
            return Ok(Life::Goes);
        }
        let called = self.complete_due(next)?;
        if called != 0 {
            self.let_run(next, called)?;
        }
        Ok(Life::Goes)
    }

    /// Returns all requests that are done by a time. Returns the set of disks whose guest wants to
    /// be told.
    fn complete_due(&mut self, now: Nanos) -> Result<u32, DiskError> {
        while let Some(entry) = self.agenda.first_entry()
            && entry.key().0 <= now
        {
            let (disk, pending) = entry.remove();
            self.disks[disk].complete(now, &pending)?;
        }
        let mut called = 0;
        for (number, disk) in self.disks.iter_mut().enumerate() {
            called |= u32::from(disk.wants_call()?) << number;
        }
        Ok(called)
    }

    fn let_run(&mut self, at: Nanos, called: u32) -> Result<(), DiskError> {
        // A guest that no disk will wake must ask once more at its time limit.
        let end = self.options.limit.map_or(NEVER, |limit| limit + Nanos(1));
        let free_until = next(&self.agenda).min(end);
        match &mut self.calendar {
            Some(calendar) => calendar.run(at, called, free_until),
            None => Ok(()),
        }
    }

    fn gone(&self, peer: &str, expected: &'static str) -> DiskError {
        DiskError::GuestGone { peer: peer.to_owned(), expected, now: self.now() }
    }
}

/// When the next completion is due.
fn next(agenda: &Agenda) -> Nanos {
    agenda.first_key_value().map_or(NEVER, |((at, _), _)| *at)
}

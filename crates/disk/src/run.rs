//! Defines the event loop: one thread that is the guest's clock and its disks.
//!
//! There is one queue of events, ordered by time and then by submission. While the guest runs, only
//! its messages are answered. While it waits, the earlier of the next completion and the guest's
//! timer happens, the completion first if both are due; so nothing depends on the speed of either
//! side.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use ssdlab_flash::Nanos;

use crate::DiskError;
use crate::calendar::{Calendar, Heard, NEVER};
use crate::disk::Disk;
use crate::fingerprint::{Fingerprint, Witness};
use crate::socket::{Arrived, Door, wait};
use crate::vhost::{Answer, CALL, Frame, Pending, Purpose, receive_frame, send_frame};

/// How a guest is run.
#[derive(Debug, Default)]
pub struct Options {
    /// The time of the guest's clock at time 0, in nanoseconds since 1970.
    pub epoch: Nanos,
    /// The limit of the guest's time, if any.
    pub limit: Option<Nanos>,
    /// How long the guest may compute without sending a message, in real time, if limited. The
    /// guest's own time does not pass while it computes.
    pub patience: Option<Duration>,
    /// Becomes readable when the guest's process has ended, like a pidfd. This detects a guest that
    /// never connects.
    pub process: Option<OwnedFd>,
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
    /// The number of requests incomplete when it ended.
    pub unfinished: u64,
}

/// Serves a guest's clock and disks until it ends.
///
/// The caller starts the guest with `time-travel=ext:SOCKET` for the calendar; this socket and
/// those of the disks must exist before. The disks are numbered in order.
///
/// It returns when the guest closes the calendar. Any fault of the guest or the machine is an
/// error; the caller must then end the guest's process.
pub fn run(
    calendar: impl Into<Door>,
    disks: &mut [Disk<'_>],
    options: Options,
) -> Result<Outcome, DiskError> {
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
    Ok(Outcome {
        now: lab.now(),
        fingerprint: lab.witness.fingerprint(),
        unfinished: lab.agenda.len() as u64,
    })
}

/// The name of the calendar's other end, in messages.
const CALENDAR: &str = "calendar";

/// A guest, its disks and its time.
struct Lab<'a, 'b> {
    disks: &'a mut [Disk<'b>],
    door: Door,
    calendar: Option<Calendar>,
    /// The requests in flight, by completion time and number, each with its disk.
    agenda: BTreeMap<(Nanos, u64), (usize, Pending)>,
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
            let life = match &self.calendar {
                Some(calendar) if calendar.is_waiting() => self.advance()?,
                _ => self.listen()?,
            };
            if matches!(life, Life::Ended) {
                return Ok(());
            }
        }
    }

    /// Receives one message from any source.
    fn listen(&mut self) -> Result<Life, DiskError> {
        let calendar = self.calendar.as_ref().map_or(self.door.as_fd(), |c| c.socket().as_fd());
        let disks = self.disks.iter().map(|disk| match &disk.socket {
            _ if disk.has_ended => None,
            Some(socket) => Some(socket.as_fd()),
            None => Some(disk.door.as_fd()),
        });
        let process = self.options.process.as_ref().map(AsFd::as_fd);
        let sources: Vec<Option<BorrowedFd<'_>>> =
            [Some(calendar), process].into_iter().chain(disks).collect();
        let ready = wait(&sources, self.options.patience)
            .map_err(|cause| DiskError::Socket {
                peer: "guest".to_owned(),
                doing: "wait for",
                cause,
            })?
            .ok_or_else(|| self.silent())?;
        if ready[0] {
            return self.hear_calendar();
        }
        if let Some(disk) = ready[2..].iter().position(|ready| *ready) {
            return self.hear_disk(disk);
        }
        if self.calendar.is_none() {
            return Err(self.gone(CALENDAR, "its connection"));
        }
        Ok(Life::Ended)
    }

    fn hear_calendar(&mut self) -> Result<Life, DiskError> {
        let Some(calendar) = &mut self.calendar else {
            let socket = self.door.enter(CALENDAR)?;
            self.calendar = Some(Calendar::new(socket, self.options.epoch));
            return Ok(Life::Goes);
        };
        match calendar.hear()? {
            Heard::End => Ok(Life::Ended),
            Heard::Message => Ok(Life::Goes),
            Heard::Acknowledgement(number) => {
                Err(calendar.fault("ACK", "its number", &"none", &number))
            }
        }
    }

    fn hear_disk(&mut self, index: usize) -> Result<Life, DiskError> {
        let disk = &mut self.disks[index];
        let Some(socket) = &disk.socket else {
            disk.socket = Some(disk.door.enter(&format!("disk {}", disk.name()))?);
            return Ok(Life::Goes);
        };
        let Some(frame) = receive_frame(socket)? else {
            // The guest ends, or has released the disk; the calendar will tell which.
            disk.has_ended = true;
            disk.session.ring.disable();
            return Ok(Life::Goes);
        };
        let Frame { request, purpose, .. } = frame;
        let answer = disk.handle(frame)?;
        let body = match answer {
            Answer::Reply(body) => body,
            Answer::Acknowledge(number) if purpose == Purpose::Acknowledge => {
                number.to_le_bytes().to_vec()
            }
            Answer::Acknowledge(_) => return Ok(Life::Goes),
            Answer::Kick => {
                self.kick(index)?;
                if purpose != Purpose::Acknowledge {
                    return Ok(Life::Goes);
                }
                0_u64.to_le_bytes().to_vec()
            }
        };
        if let Some(socket) = &self.disks[index].socket {
            // If the guest is gone, the calendar will tell.
            send_frame(socket, request, Purpose::Reply, &body)?;
        }
        Ok(Life::Goes)
    }

    /// Serves the requests waiting in a ring. The guest runs, so it must know until when it need
    /// not ask.
    fn kick(&mut self, index: usize) -> Result<(), DiskError> {
        let now = self.now();
        let Self { disks, agenda, submitted, witness, .. } = self;
        let number = u32::try_from(index).expect("there are fewer than 2^32 disks");
        disks[index].serve(number, now, witness, |done, pending| {
            agenda.insert((done.min(NEVER), *submitted), (index, pending));
            *submitted += 1;
        })?;
        let next = self.next();
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        if calendar.may_pass(next) {
            let sent = calendar.free_until(next)?;
            self.await_acknowledgement(sent)?;
        }
        Ok(())
    }

    /// When the next completion is due.
    fn next(&self) -> Nanos {
        self.agenda.first_key_value().map_or(NEVER, |((at, _), _)| *at)
    }

    /// The guest waits: the next event happens.
    fn advance(&mut self) -> Result<Life, DiskError> {
        let (next, now) = (self.next(), self.now());
        let Some(calendar) = &mut self.calendar else { return Ok(Life::Goes) };
        let request = calendar.request();
        if next.min(request) >= NEVER {
            return Err(DiskError::Deadlock { now });
        }
        if let Some(limit) = self.options.limit.filter(|limit| next.min(request) > *limit) {
            return Err(DiskError::OutOfTime { limit });
        }
        if next <= request {
            calendar.advance(next);
            self.complete_due()?;
        } else {
            // A guest that no disk will wake must ask once more at its time limit.
            let end = self.options.limit.map_or(NEVER, |limit| limit + Nanos(1));
            let sent = calendar.run(next.min(end))?;
            self.await_acknowledgement(sent)?;
        }
        Ok(Life::Goes)
    }

    /// Returns all requests that are done by now, then notifies the guest.
    fn complete_due(&mut self) -> Result<(), DiskError> {
        let now = self.now();
        while let Some(entry) = self.agenda.first_entry()
            && entry.key().0 <= now
        {
            let (disk, pending) = entry.remove();
            self.disks[disk].complete(now, &pending)?;
        }
        for index in 0..self.disks.len() {
            if self.disks[index].wants_call()? {
                self.call(index)?;
            }
        }
        Ok(())
    }

    /// Notifies the guest that requests of a disk are done, and waits for its acknowledgement.
    /// Meanwhile it asks for the time, and asks to run.
    fn call(&mut self, index: usize) -> Result<(), DiskError> {
        const ANSWER: &str = "its answer to a completion";
        let now = self.now();
        let Self { disks, calendar: Some(calendar), options, .. } = self else { return Ok(()) };
        let Some(calls) = &disks[index].session.calls else { return Ok(()) };
        let gone = || DiskError::GuestGone { peer: calls.peer().to_owned(), expected: ANSWER, now };
        // Ring 0, and padding.
        let body = [0; 8];
        if send_frame(calls, CALL, Purpose::Acknowledge, &body)? == Arrived::End {
            return Err(gone());
        }
        loop {
            let process = options.process.as_ref().map(AsFd::as_fd);
            let sources = [Some(calendar.socket().as_fd()), Some(calls.as_fd()), process];
            let ready = wait(&sources, options.patience)
                .map_err(|cause| calls.fault("wait for", cause))?
                .ok_or_else(|| silent(options, now))?;
            if ready[0] {
                match calendar.hear()? {
                    Heard::Message => {}
                    Heard::End => return Err(gone()),
                    Heard::Acknowledgement(number) => {
                        return Err(calendar.fault("ACK", "its number", &"none", &number));
                    }
                }
            } else if ready[1] {
                let frame = receive_frame(calls)?.ok_or_else(gone)?;
                let found = (frame.request, frame.purpose, &frame.body[..]);
                if found == (CALL, Purpose::Reply, &body) {
                    return Ok(());
                }
                return Err(DiskError::Message {
                    peer: calls.peer().to_owned(),
                    message: format!("message {}", frame.request),
                    what: "the answer to a completion",
                    expected: format!("a reply to {CALL} that says 0"),
                    found: format!("{:?} with {:?}", frame.purpose, frame.body),
                });
            } else {
                return Err(gone());
            }
        }
    }

    /// Waits for the guest's acknowledgement of a calendar message, answering other messages.
    fn await_acknowledgement(&mut self, sent: Option<u32>) -> Result<(), DiskError> {
        const ANSWER: &str = "its acknowledgement";
        let now = self.now();
        let gone = || DiskError::GuestGone { peer: CALENDAR.to_owned(), expected: ANSWER, now };
        let number = sent.ok_or_else(gone)?;
        let Some(calendar) = &mut self.calendar else { return Ok(()) };
        loop {
            let process = self.options.process.as_ref().map(AsFd::as_fd);
            let sources = [Some(calendar.socket().as_fd()), process];
            let ready = wait(&sources, self.options.patience)
                .map_err(|cause| calendar.socket().fault("wait for", cause))?
                .ok_or_else(|| silent(&self.options, now))?;
            if !ready[0] {
                return Err(gone());
            }
            match calendar.hear()? {
                Heard::Message => {}
                Heard::End => return Err(gone()),
                Heard::Acknowledgement(found) if found == number => return Ok(()),
                // The first of two that were sent together.
                Heard::Acknowledgement(found) if found.wrapping_add(1) == number => {}
                Heard::Acknowledgement(found) => {
                    return Err(calendar.fault("ACK", "its number", &number, &found));
                }
            }
        }
    }

    fn silent(&self) -> DiskError {
        silent(&self.options, self.now())
    }

    fn gone(&self, peer: &str, expected: &'static str) -> DiskError {
        DiskError::GuestGone { peer: peer.to_owned(), expected, now: self.now() }
    }
}

/// The error for a guest that is silent for too long.
fn silent(options: &Options, now: Nanos) -> DiskError {
    DiskError::Silent { patience: options.patience.unwrap_or_default(), now }
}

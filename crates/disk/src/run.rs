//! Defines the event loop: one thread that is the guest's disks and its clock.
//!
//! There is one queue of things to come, ordered by time and then by submission. While the guest
//! runs, only its messages are answered. While it waits, the earlier of the next completion and the
//! guest's own timer happens, the completion first if both are due; so nothing depends on how fast
//! either side computes.

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
    /// What the guest's clock says at time 0, in nanoseconds since 1970.
    pub epoch: Nanos,
    /// How far the guest's time may go; without a limit, as far as it likes.
    pub limit: Option<Nanos>,
    /// How long, in real time, the guest may compute without asking for anything; without it, as
    /// long as it likes. For a guest that computes for ever no time of its own passes.
    pub patience: Option<Duration>,
    /// Becomes readable when the guest's process has ended, as a pidfd does. With it a guest that
    /// never connects is noticed too.
    pub process: Option<OwnedFd>,
}

/// A guest that has ended while it was running and was owed no answer.
///
/// That is how it powers off. It is also how it ends if it panics or is killed while it computes:
/// which of them, the exit status of its process tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Its time at the end, as far as it was told to us.
    pub now: Nanos,
    /// Everything that was asked of its disks.
    pub fingerprint: Fingerprint,
    /// The requests that were not done when it ended.
    pub unfinished: u64,
}

/// Serves a guest its time and its disks until it ends.
///
/// The guest is started by the caller with `time-travel=ext:SOCKET` for the calendar; both this
/// and the disks' sockets must exist before. The disks are numbered as they stand here.
///
/// It returns when the guest closes the calendar. Whatever else the guest does wrong, or the
/// machine, is an error; then the caller ends the guest's process.
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
    /// The requests to be completed, by time and number, each with its disk.
    agenda: BTreeMap<(Nanos, u64), (usize, Pending)>,
    submitted: u64,
    witness: Witness,
    options: Options,
}

/// Whether there is still a guest.
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

    /// Takes in one message, from whoever sent one.
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
            // The guest ends, or has let go of the disk; which of them, the calendar will tell.
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
            // If the guest is gone, the calendar tells.
            send_frame(socket, request, Purpose::Reply, &body)?;
        }
        Ok(Life::Goes)
    }

    /// Serves what waits in a ring. The guest runs, so it has to know before which time it must
    /// ask again.
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

    /// The guest waits: the next thing happens.
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
            // A guest that no disk will wake has to ask once more when its time is up.
            let end = self.options.limit.map_or(NEVER, |limit| limit + Nanos(1));
            let sent = calendar.run(next.min(end))?;
            self.await_acknowledgement(sent)?;
        }
        Ok(Life::Goes)
    }

    /// Gives back all requests that are done by now, then tells the guest.
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

    /// Tells the guest that requests of a disk are done, and waits until it has noted that. In
    /// between it asks for the time, and asks to run.
    fn call(&mut self, index: usize) -> Result<(), DiskError> {
        const ANSWER: &str = "its answer to a completion";
        let now = self.now();
        let Self { disks, calendar: Some(calendar), options, .. } = self else { return Ok(()) };
        let Some(calls) = &disks[index].session.calls else { return Ok(()) };
        let gone = || DiskError::GuestGone { peer: calls.peer().to_owned(), expected: ANSWER, now };
        // Which ring, and nothing.
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

    /// Waits until the guest has acknowledged a message of the calendar, and answers it meanwhile.
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

/// The guest has not been heard of for as long as anybody waits.
fn silent(options: &Options, now: Nanos) -> DiskError {
    DiskError::Silent { patience: options.patience.unwrap_or_default(), now }
}

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
use crate::disk::Disk;
use crate::fingerprint::{Fingerprint, TraceHasher};
use crate::process::{GuestProcess, SilenceTimer};
use crate::socket::{Listener, wait};
use crate::time_controller::{GuestRequest, NEVER, TimeController};
use crate::vhost::PendingRequest;

/// How a guest is run.
#[derive(Debug, Default)]
pub struct GuestOptions {
    /// The time of the guest's clock at time 0, in nanoseconds since 1970.
    pub epoch: Nanos,
    /// The limit of the guest's time, if any.
    pub limit: Option<Nanos>,
    /// The guest's process, which detects a guest that never connects or is silent for too long.
    pub process: Option<GuestProcess>,
}

/// The outcome of a guest that ended while it was running and waited for no answer.
///
/// That is how it powers off, but also how it ends if it panics or is killed while it computes; the
/// exit status of its process tells which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestOutcome {
    /// Its time at the end, as last reported.
    pub now: Nanos,
    /// The fingerprint of all requests to its disks.
    pub fingerprint: Fingerprint,
}

/// Serves a guest's clock and disks until it ends.
///
/// The caller starts the guest with `time-travel=ext:SOCKET` for the time controller; this socket
/// and those of the disks must exist before. The disks are numbered in order.
///
/// It returns when the guest closes the time controller. Any fault of the guest or the machine is
/// an error; the caller must then end the guest's process.
///
/// # Panics
///
/// If there are more than eight disks.
pub fn run(
    controller: impl Into<Listener>,
    disks: &mut [Disk<'_>],
    options: GuestOptions,
) -> Result<GuestOutcome, DiskError> {
    assert!(disks.len() <= MOST_DISKS, "a guest has at most {MOST_DISKS} disks");
    let listener = controller.into();
    let mut lab = GuestServer {
        disks,
        listener,
        controller: None,
        events: BTreeMap::new(),
        submitted: 0,
        hasher: TraceHasher::default(),
        options,
    };
    let ended = lab.serve();
    let mut finished = Ok(());
    for disk in &mut *lab.disks {
        finished = finished.and(disk.finish());
    }
    ended.and(finished)?;
    Ok(GuestOutcome { now: lab.now(), fingerprint: lab.hasher.fingerprint() })
}

/// The name of the time controller's other end, in messages.
const CALENDAR: &str = "calendar";

/// The maximum number of disks (`DISKS` in `kernel/disks.c`): a bit each in a set of them.
const MOST_DISKS: usize = 8;

/// The requests in flight, by completion time and number, each with its disk.
type EventQueue = BTreeMap<(Nanos, u64), (usize, PendingRequest)>;

/// A guest, its disks and its time.
struct GuestServer<'a, 'b> {
    disks: &'a mut [Disk<'b>],
    listener: Listener,
    controller: Option<TimeController>,
    events: EventQueue,
    submitted: u64,
    hasher: TraceHasher,
    options: GuestOptions,
}

/// Whether the guest still exists.
enum GuestState {
    Goes,
    Ended,
}

impl GuestServer<'_, '_> {
    fn now(&self) -> Nanos {
        self.controller.as_ref().map_or(Nanos::ZERO, TimeController::now)
    }

    fn serve(&mut self) -> Result<(), DiskError> {
        loop {
            let waits_until = self.controller.as_ref().and_then(TimeController::waits_until);
            let life = match waits_until {
                Some(until) => self.advance(until)?,
                None => self.listen()?,
            };
            if matches!(life, GuestState::Ended) {
                return Ok(());
            }
        }
    }

    /// Receives one message from any source.
    fn listen(&mut self) -> Result<GuestState, DiskError> {
        let controller =
            self.controller.as_ref().map_or(self.listener.as_fd(), |c| c.socket().as_fd());
        let disks = self.disks.iter().map(Disk::source);
        let process = self.options.process.as_ref().map(AsFd::as_fd);
        let sources: Vec<Option<BorrowedFd<'_>>> =
            [Some(controller), process].into_iter().chain(disks).collect();
        let ready = self.wait(&sources)?;
        if ready[0] {
            return self.receive_time_message();
        }
        if let Some(disk) = ready[2..].iter().position(|ready| *ready) {
            self.disks[disk].hear()?;
            return Ok(GuestState::Goes);
        }
        if self.controller.is_none() {
            return Err(self.gone(CALENDAR, "its connection"));
        }
        Ok(GuestState::Ended)
    }

    /// Waits until a source is readable, unless the guest is silent for too long.
    fn wait(&self, sources: &[Option<BorrowedFd<'_>>]) -> Result<Vec<bool>, DiskError> {
        let process = self.options.process.as_ref();
        let mut silence = SilenceTimer::default();
        loop {
            let ready = wait(sources, process.map(GuestProcess::interval));
            let failed =
                |cause| DiskError::Socket { peer: "guest".to_owned(), doing: "wait for", cause };
            if let Some(ready) = ready.map_err(failed)? {
                return Ok(ready);
            }
            if let Some(process) = process.filter(|process| silence.is_too_long(process)) {
                let timeout = process.timeout();
                return Err(DiskError::Silent { timeout, now: self.now() });
            }
        }
    }

    fn receive_time_message(&mut self) -> Result<GuestState, DiskError> {
        let Some(controller) = &mut self.controller else {
            let socket = self.listener.accept(CALENDAR)?;
            self.controller = Some(TimeController::new(socket, self.options.epoch));
            return Ok(GuestState::Goes);
        };
        match controller.receive()? {
            GuestRequest::Message => Ok(GuestState::Goes),
            GuestRequest::Kick(disk) => self.kick(disk),
            GuestRequest::End => Ok(GuestState::Ended),
        }
    }

    /// Serves the requests waiting in a ring. The guest runs on, so it must know until when it need
    /// not ask.
    fn kick(&mut self, number: u32) -> Result<GuestState, DiskError> {
        let now = self.now();
        let Self { disks, controller: Some(controller), events, submitted, hasher, .. } = self
        else {
            return Ok(GuestState::Goes);
        };
        let count = disks.len();
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(disk) = disks.get_mut(index).filter(|disk| disk.is_started()) else {
            let expected = format!("one of {count} disks, with an enabled ring");
            return Err(controller.fault("KICK", "the number of the disk", expected, number));
        };
        disk.serve(number, now, hasher, |done, pending| {
            events.insert((done.min(NEVER), *submitted), (index, pending));
            *submitted += 1;
        })?;
        controller.free_until(next(events))?;
        Ok(GuestState::Goes)
    }

    /// The guest waits: the next event happens.
    fn advance(&mut self, until: Nanos) -> Result<GuestState, DiskError> {
        let next = next(&self.events);
        if next.min(until) >= NEVER {
            return Err(DiskError::Deadlock { now: self.now() });
        }
        if let Some(limit) = self.options.limit.filter(|limit| next.min(until) > *limit) {
            return Err(DiskError::OutOfTime { limit });
        }
        if next > until {
            self.let_run(until, 0)?;
            return Ok(GuestState::Goes);
        }
        let called = self.complete_due(next)?;
        if called != 0 {
            self.let_run(next, called)?;
        }
        Ok(GuestState::Goes)
    }

    /// Returns all requests that are done by a time. Returns the set of disks whose guest wants to
    /// be told.
    fn complete_due(&mut self, now: Nanos) -> Result<u32, DiskError> {
        while let Some(entry) = self.events.first_entry()
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
        let free_until = next(&self.events).min(end);
        match &mut self.controller {
            Some(controller) => controller.run(at, called, free_until),
            None => Ok(()),
        }
    }

    fn gone(&self, peer: &str, expected: &'static str) -> DiskError {
        DiskError::GuestGone { peer: peer.to_owned(), expected, now: self.now() }
    }
}

/// When the next completion is due.
fn next(events: &EventQueue) -> Nanos {
    events.first_key_value().map_or(NEVER, |((at, _), _)| *at)
}

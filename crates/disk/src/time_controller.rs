//! Defines the time controller of a guest: until when a guest may run, in its time.
//!
//! A User-Mode Linux guest in external time travel asks before its time passes. The messages have
//! the form of those of Linux's `include/uapi/linux/um_timetravel.h`; the guest's side is
//! `arch/um/kernel/time.c` as `kernel/apply` changes it: Linux's guests take ten messages and as
//! many acknowledgements for a request, the lab kernel's two.
//!
//! | the guest says | and is told |
//! |---|---|
//! | START, GET, `GET_TOD` | ACK, with the time |
//! | KICK: requests of a disk wait in its ring | `FREE_UNTIL`: until when it may run |
//! | WAIT: for a disk, until its next timer | `FREE_UNTIL`, RUN: the time, and which disks call |
//!
//! Invariants:
//!
//! - Time never goes backwards, neither the guest's nor ours; a guest panics if it does.
//! - The guest says nothing more before it is told what it waits for, and is told nothing else.

use std::fmt::Display;
use std::io::pipe;
use std::os::fd::{AsFd, BorrowedFd};

use ssdlab_flash::Nanos;
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DiskError;
use crate::invalid::InvalidValue;
use crate::socket::{GuestSocket, SocketRead};

/// Later than anything: the guest panics before it sleeps for 2^63 ns.
pub const NEVER: Nanos = Nanos(1 << 62);

const ACK: u32 = 0;
const START: u32 = 1;
const WAIT: u32 = 3;
const GET: u32 = 4;
const RUN: u32 = 6;
const FREE_UNTIL: u32 = 7;
const GET_TOD: u32 = 8;
/// Not one of Linux's (`kernel/ssdlab.h`).
const KICK: u32 = 0x100;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Message {
    operation: U32,
    /// The number of the message; of a KICK the disk, of a RUN the set of disks.
    number: U32,
    time: U64,
}

impl Message {
    fn new(operation: u32, number: u32, time: Nanos) -> Self {
        Self { operation: operation.into(), number: number.into(), time: time.0.into() }
    }
}

/// A message from the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestRequest {
    /// A message that needs nothing more.
    Message,
    /// Requests of this disk wait; the guest waits for [`TimeController::free_until`].
    Kick(u32),
    /// The guest has ended.
    End,
}

/// The time of a guest, and what it waits for.
#[derive(Debug)]
pub struct TimeController {
    socket: GuestSocket,
    /// The time of its clock at time 0, in nanoseconds since 1970.
    epoch: Nanos,
    now: Nanos,
    has_started: bool,
    /// When it wants to run again, if it waits.
    waits_until: Option<Nanos>,
    /// Until when it may run without asking.
    free_until: Nanos,
}

impl TimeController {
    /// A time controller for the guest at the other end of a socket.
    pub fn new(socket: GuestSocket, epoch: Nanos) -> Self {
        Self {
            socket,
            epoch,
            now: Nanos::ZERO,
            has_started: false,
            waits_until: None,
            free_until: Nanos::ZERO,
        }
    }

    /// The socket, to wait for.
    pub fn socket(&self) -> &GuestSocket {
        &self.socket
    }

    pub fn now(&self) -> Nanos {
        self.now
    }

    /// When the guest wants to run again, if it waits.
    pub fn waits_until(&self) -> Option<Nanos> {
        self.waits_until
    }

    /// Receives one message of the guest, and answers it unless it waits or kicks.
    pub fn receive(&mut self) -> Result<GuestRequest, DiskError> {
        let mut message = Message::new_zeroed();
        let mut descriptors = Vec::new();
        if self.socket.fill(message.as_mut_bytes(), &mut descriptors)? == SocketRead::End {
            return Ok(GuestRequest::End);
        }
        let (number, time) = (message.number.get(), Nanos(message.time.get()));
        let answer = match message.operation.get() {
            START => {
                if self.has_started {
                    return Err(self.fault("START", "the number of starts", 1, 2));
                }
                self.has_started = true;
                self.answer_start(number)?;
                return Ok(GuestRequest::Message);
            }
            WAIT => {
                self.check_order("WAIT", time)?;
                self.waits_until = Some(time);
                return Ok(GuestRequest::Message);
            }
            KICK => {
                self.check_order("KICK", time)?;
                // Otherwise a completion in between would come too late.
                if time > self.now && time >= self.free_until {
                    let expected = format!("before {} ns", self.free_until.0);
                    return Err(self.fault("KICK", "the time", expected, time.0));
                }
                self.now = time;
                return Ok(GuestRequest::Kick(number));
            }
            GET => self.now,
            GET_TOD => self.epoch + self.now,
            other => {
                return Err(self.fault("a message", "its operation", "1, 3, 4, 8 or 256", other));
            }
        };
        self.tell(&[Message::new(ACK, number, answer)], &[])?;
        Ok(GuestRequest::Message)
    }

    /// Tells a guest what it waits for; it is gone only if it was killed. All goes in one write,
    /// as each costs the guest a wake-up.
    fn tell(&self, messages: &[Message], descriptors: &[BorrowedFd<'_>]) -> Result<(), DiskError> {
        match self.socket.send(messages.as_bytes(), descriptors)? {
            SocketRead::All => Ok(()),
            SocketRead::End => Err(DiskError::GuestGone {
                peer: self.socket.peer().to_owned(),
                expected: "anything more",
                now: self.now,
            }),
        }
    }

    /// From Linux 6.12 on the acknowledgement of a start may carry shared memory for the time, and
    /// the guest receives and closes two file descriptors whether they exist or not. So two are
    /// sent that cannot be mapped, and the guest continues without. Earlier kernels ignore them.
    fn answer_start(&self, number: u32) -> Result<(), DiskError> {
        let (reader, writer) =
            pipe().map_err(|cause| self.socket.fault("make a pipe for", cause))?;
        self.tell(&[Message::new(ACK, number, Nanos::ZERO)], &[reader.as_fd(), writer.as_fd()])
    }

    /// Tells a guest that has kicked until when it may run without asking: not past `next`.
    pub fn free_until(&mut self, next: Nanos) -> Result<(), DiskError> {
        self.free_until = self.free_until.min(next);
        self.tell(&[Message::new(FREE_UNTIL, 0, self.free_until)], &[])
    }

    /// Lets a waiting guest run from `at` on, and without asking until `free_until`; the disks of
    /// this set, a bit each, have returned requests.
    pub fn run(&mut self, at: Nanos, called: u32, free_until: Nanos) -> Result<(), DiskError> {
        self.now = self.now.max(at);
        self.waits_until = None;
        self.free_until = free_until;
        let messages =
            [Message::new(FREE_UNTIL, 0, free_until), Message::new(RUN, called, self.now)];
        self.tell(&messages, &[])
    }

    fn check_order(&self, message: &str, time: Nanos) -> Result<(), DiskError> {
        if time < self.now {
            let expected = format!("at least {} ns", self.now.0);
            return Err(self.fault(message, "the time", expected, time.0));
        }
        Ok(())
    }

    /// The error for an invalid message.
    pub fn fault(
        &self,
        message: &str,
        what: &str,
        expected: impl Display,
        found: impl Display,
    ) -> DiskError {
        let cause = InvalidValue::new(what, expected, found).of(message);
        DiskError::Message { peer: self.socket.peer().to_owned(), cause }
    }
}

//! Defines the calendar: until when a guest may run, in its time.
//!
//! A User-Mode Linux guest in external time travel asks before its time passes. The messages are
//! those of Linux's `include/uapi/linux/um_timetravel.h`; the guest's side is
//! `arch/um/kernel/time.c`. Invariants:
//!
//! - Time never goes backwards, neither the guest's nor ours; a guest panics if it does.
//! - A waiting guest has sent its next timer once, before waiting; it stays valid until the guest
//!   runs.
//! - Every message is acknowledged, and a guest that waits for one acknowledgement still answers
//!   other messages.

use std::fmt::Display;
use std::io::pipe;
use std::os::fd::AsFd;

use ssdlab_flash::Nanos;
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DiskError;
use crate::socket::{Arrived, Socket};

/// Later than anything: the guest panics before it sleeps for 2^63 ns.
pub const NEVER: Nanos = Nanos(1 << 62);

const ACK: u32 = 0;
const START: u32 = 1;
const REQUEST: u32 = 2;
const WAIT: u32 = 3;
const GET: u32 = 4;
const UPDATE: u32 = 5;
const RUN: u32 = 6;
const FREE_UNTIL: u32 = 7;
const GET_TOD: u32 = 8;

/// Distinguishes our sequence numbers from the guest's, in its log and in ours.
const OURS: u32 = 1 << 31;

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Message {
    operation: U32,
    sequence: U32,
    time: U64,
}

impl Message {
    fn new(operation: u32, sequence: u32, time: Nanos) -> Self {
        Self { operation: operation.into(), sequence: sequence.into(), time: time.0.into() }
    }
}

/// A message from the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A message that has been handled.
    Message,
    /// It acknowledges a message of ours.
    Acknowledgement(u32),
    /// The guest has ended.
    End,
}

/// The time of a guest, and what it waits for.
#[derive(Debug)]
pub struct Calendar {
    socket: Socket,
    /// The time of its clock at time 0, in nanoseconds since 1970.
    epoch: Nanos,
    now: Nanos,
    has_started: bool,
    is_waiting: bool,
    /// When it wants to run again.
    request: Option<Nanos>,
    /// Until when it may run without asking.
    free_until: Nanos,
    sequence: u32,
}

impl Calendar {
    /// A calendar for the guest at the other end of a socket.
    pub fn new(socket: Socket, epoch: Nanos) -> Self {
        Self {
            socket,
            epoch,
            now: Nanos::ZERO,
            has_started: false,
            is_waiting: false,
            request: None,
            free_until: Nanos::ZERO,
            sequence: 0,
        }
    }

    /// The socket, to wait for.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Whether the guest waits.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// When the guest wants to run again.
    pub fn request(&self) -> Nanos {
        self.request.unwrap_or(NEVER)
    }

    /// Whether the guest may run past a time without asking.
    pub fn may_pass(&self, time: Nanos) -> bool {
        time < self.free_until
    }

    /// Advances the time of a waiting guest.
    pub fn advance(&mut self, to: Nanos) {
        self.now = self.now.max(to);
    }

    /// Receives one message of the guest and answers it.
    pub fn hear(&mut self) -> Result<Heard, DiskError> {
        let mut message = Message::new_zeroed();
        let mut descriptors = Vec::new();
        if self.socket.fill(message.as_mut_bytes(), &mut descriptors)? == Arrived::End {
            return Ok(Heard::End);
        }
        let time = Nanos(message.time.get());
        let answer = match message.operation.get() {
            ACK => return Ok(Heard::Acknowledgement(message.sequence.get())),
            START => {
                if self.has_started {
                    return Err(self.fault("START", "the number of starts", &1, &2));
                }
                self.has_started = true;
                return self.answer_start(message.sequence.get());
            }
            REQUEST => {
                self.check_order("REQUEST", time)?;
                self.request = Some(time);
                Nanos::ZERO
            }
            WAIT => {
                self.is_waiting = true;
                Nanos::ZERO
            }
            GET => self.now,
            UPDATE => {
                self.check_order("UPDATE", time)?;
                // Otherwise a completion in between would come too late.
                if time > self.now && !self.may_pass(time) {
                    let expected = format!("before {} ns", self.free_until.0);
                    return Err(self.fault("UPDATE", "the time", &expected, &time.0));
                }
                self.now = time;
                Nanos::ZERO
            }
            GET_TOD => self.epoch + self.now,
            other => {
                return Err(self.fault("a message", "its operation", &"1 to 5 or 8", &other));
            }
        };
        self.acknowledge(message.sequence.get(), answer)
    }

    fn acknowledge(&self, sequence: u32, time: Nanos) -> Result<Heard, DiskError> {
        self.answered(self.socket.send(Message::new(ACK, sequence, time).as_bytes(), &[])?)
    }

    /// A guest waits for the answer, unless it was killed.
    fn answered(&self, sent: Arrived) -> Result<Heard, DiskError> {
        match sent {
            Arrived::All => Ok(Heard::Message),
            Arrived::End => Err(DiskError::GuestGone {
                peer: self.socket.peer().to_owned(),
                expected: "anything more",
                now: self.now,
            }),
        }
    }

    /// From Linux 6.12 on the acknowledgement of a start may carry shared memory for the time, and
    /// the guest receives and closes two file descriptors whether they exist or not. So two are
    /// sent that cannot be mapped, and the guest continues without. Earlier kernels ignore them.
    fn answer_start(&self, sequence: u32) -> Result<Heard, DiskError> {
        let (reader, writer) =
            pipe().map_err(|cause| self.socket.fault("make a pipe for", cause))?;
        let message = Message::new(ACK, sequence, Nanos::ZERO);
        self.answered(self.socket.send(message.as_bytes(), &[reader.as_fd(), writer.as_fd()])?)
    }

    /// Tells the guest how long it may run without asking. Returns the number of the
    /// acknowledgement to expect; `None` if the guest has ended.
    pub fn free_until(&mut self, time: Nanos) -> Result<Option<u32>, DiskError> {
        self.free_until = time;
        self.tell(&[(FREE_UNTIL, time)])
    }

    /// Lets the guest run at the time it requested, and without asking until `free_until`. Returns
    /// the number of the last acknowledgement to expect; `None` if the guest has ended.
    pub fn run(&mut self, free_until: Nanos) -> Result<Option<u32>, DiskError> {
        self.now = self.now.max(self.request());
        self.request = None;
        self.is_waiting = false;
        self.free_until = free_until;
        // Both in one write: each costs the guest a wake-up.
        self.tell(&[(FREE_UNTIL, free_until), (RUN, self.now)])
    }

    fn tell(&mut self, what: &[(u32, Nanos)]) -> Result<Option<u32>, DiskError> {
        let mut bytes = Vec::with_capacity(2 * size_of::<Message>());
        for (operation, time) in what {
            self.sequence = self.sequence.wrapping_add(1) | OURS;
            bytes.extend_from_slice(Message::new(*operation, self.sequence, *time).as_bytes());
        }
        let sent = self.socket.send(&bytes, &[])?;
        Ok((sent == Arrived::All).then_some(self.sequence))
    }

    fn check_order(&self, message: &str, time: Nanos) -> Result<(), DiskError> {
        if time < self.now {
            let expected = format!("at least {} ns", self.now.0);
            return Err(self.fault(message, "the time", &expected, &time.0));
        }
        Ok(())
    }

    /// The error for an invalid message.
    pub fn fault(
        &self,
        message: &str,
        what: &'static str,
        expected: &dyn Display,
        found: &dyn Display,
    ) -> DiskError {
        DiskError::Message {
            peer: self.socket.peer().to_owned(),
            message: message.to_owned(),
            what,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

//! Defines the session in which a guest sets up a disk, message by message, and then exchanges
//! requests with it through a ring.
//!
//! Nothing here waits: a message goes in, and its answer comes out.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_setfl};
use virtio_queue::DescriptorChain;
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes, Unaligned};

use crate::DiskError;
use crate::device::{CompletedRequest, Features, VirtioDevice};
use crate::invalid::InvalidValue;

use super::frame::{Frame, VhostReply};
use super::memory::{SharedMemory, Unmapped};
use super::ring::{Addresses, PendingRequest, Ring};

/// The features of the ring and the transport: indirect descriptors, event indices, protocol
/// features, and version 1 of virtio.
const RING_FEATURES: u64 = 1 << 28 | EVENT_INDEX | PROTOCOL_FEATURES | 1 << 32;
const EVENT_INDEX: u64 = 1 << 29;
const PROTOCOL_FEATURES: u64 = 1 << 30;

/// Acknowledgements and a configuration space.
const PROTOCOL: u64 = 1 << 3 | 1 << 9;

/// Requests from the disk, and notifications in-band.
const IN_BAND: u64 = 1 << 5 | 1 << 14;

/// The maximum size of the configuration space.
const CONFIG_BYTES: u32 = 256;

/// How guest and disk notify each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notifications {
    /// By messages of the time controller, so that no time passes unnoticed.
    Calendar,
    /// By events (eventfd(2)).
    Events,
}

/// The messages of a guest, by number and name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TryFromBytes, Immutable, KnownLayout)]
#[repr(u32)]
#[expect(dead_code, non_camel_case_types, reason = "made of numbers; named as in the protocol")]
pub enum VhostRequest {
    GET_FEATURES = 1,
    SET_FEATURES = 2,
    SET_OWNER = 3,
    RESET_OWNER = 4,
    SET_MEM_TABLE = 5,
    SET_VRING_NUM = 8,
    SET_VRING_ADDR = 9,
    SET_VRING_BASE = 10,
    GET_VRING_BASE = 11,
    SET_VRING_KICK = 12,
    SET_VRING_CALL = 13,
    SET_VRING_ERR = 14,
    GET_PROTOCOL_FEATURES = 15,
    SET_PROTOCOL_FEATURES = 16,
    SET_VRING_ENABLE = 18,
    SET_BACKEND_REQ_FD = 21,
    GET_CONFIG = 24,
    SET_CONFIG = 25,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct ConfigPart {
    offset: U32,
    size: U32,
    flags: U32,
}

#[derive(FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RingAddresses {
    index: U32,
    flags: U32,
    descriptors: U64,
    used: U64,
    available: U64,
    log: U64,
}

/// A session with a guest about one disk.
#[derive(Debug)]
pub struct Session {
    disk: String,
    notifications: Notifications,
    memory: Option<SharedMemory>,
    ring: Ring,
    /// Whether the guest has enabled the ring, which then starts as soon as it has a kick.
    is_enabled: bool,
    kick: Option<Arc<File>>,
    /// For notifying the guest. One in time travel takes the end of this socket for ours.
    call: Option<File>,
}

impl VhostRequest {
    /// The request with this number, if a guest may send it.
    pub fn numbered(number: u32, notifications: Notifications) -> Option<Self> {
        let request = Self::try_read_from_bytes(number.as_bytes()).ok()?;
        let needs = match request {
            Self::SET_BACKEND_REQ_FD => Notifications::Calendar,
            Self::GET_VRING_BASE
            | Self::SET_VRING_KICK
            | Self::SET_VRING_CALL
            | Self::SET_VRING_ERR => Notifications::Events,
            _ => notifications,
        };
        (needs == notifications).then_some(request)
    }
}

impl Session {
    /// A new session; the disk's name is for messages.
    pub fn new(disk: &str, notifications: Notifications) -> Self {
        Self {
            disk: disk.to_owned(),
            notifications,
            memory: None,
            ring: Ring::default(),
            is_enabled: false,
            kick: None,
            call: None,
        }
    }

    /// Handles a message.
    pub fn handle(
        &mut self,
        frame: Frame,
        device: &mut VirtioDevice<'_>,
    ) -> Result<VhostReply, DiskError> {
        let number = frame.request;
        let Some(request) = VhostRequest::numbered(number, self.notifications) else {
            let value = InvalidValue::new("its number", "one of a disk's", number);
            return Err(self.invalid(value.of(format!("message {number}"))));
        };
        self.follow(request, frame, device).map_err(|error| match error {
            Unmapped::Invalid(value) => self.invalid(value.of(format!("{request:?}"))),
            Unmapped::Failed(cause) => DiskError::Memory { disk: self.disk.clone(), cause },
        })
    }

    fn follow(
        &mut self,
        request: VhostRequest,
        frame: Frame,
        device: &mut VirtioDevice<'_>,
    ) -> Result<VhostReply, Unmapped> {
        let Frame { body, descriptors, .. } = frame;
        let mut files = descriptors.into_iter().map(File::from);
        match request {
            VhostRequest::SET_OWNER | VhostRequest::RESET_OWNER | VhostRequest::SET_VRING_ERR => {}
            VhostRequest::GET_FEATURES => {
                return Ok(reply(device.features().bits() | RING_FEATURES));
            }
            VhostRequest::SET_FEATURES => self.choose(fixed::<U64>(&body)?.get(), device)?,
            VhostRequest::GET_PROTOCOL_FEATURES => return Ok(reply(self.protocol())),
            VhostRequest::SET_PROTOCOL_FEATURES => {
                self.choose_protocol(fixed::<U64>(&body)?.get())?;
            }
            VhostRequest::GET_CONFIG => return Ok(VhostReply::Reply(read_config(&body, device)?)),
            VhostRequest::SET_CONFIG => {
                let (part, bytes) = config_part(&body)?;
                let is_done = device.configure(part.offset.get() as usize, bytes);
                return Ok(VhostReply::Acknowledge(u64::from(!is_done)));
            }
            VhostRequest::SET_MEM_TABLE => {
                let memory = SharedMemory::map(&body, files.collect())?;
                if self.ring.is_enabled() {
                    self.ring.enable(&memory).then_some(()).ok_or_else(misplaced)?;
                }
                self.memory = Some(memory);
            }
            VhostRequest::SET_BACKEND_REQ_FD => self.call = files.next(),
            VhostRequest::SET_VRING_NUM => {
                let slots = self.stopped_ring(&body)?;
                self.ring.resize(slots).map_err(|_| {
                    let expected = "a power of two up to 32768";
                    InvalidValue::new("the number of slots", expected, slots)
                })?;
            }
            VhostRequest::SET_VRING_BASE => {
                let base = self.stopped_ring(&body)?;
                let base = u16::try_from(base)
                    .map_err(|_| InvalidValue::new("the base", "below 65536", base))?;
                self.ring.start_at(base);
            }
            VhostRequest::SET_VRING_ADDR => self.place_ring(&body)?,
            VhostRequest::GET_VRING_BASE => {
                ring_state(&body)?;
                self.ring.disable();
                (self.kick, self.call) = (None, None);
                return Ok(reply(u64::from(self.ring.next_index()) << 32));
            }
            VhostRequest::SET_VRING_KICK => {
                ring_event(&body)?;
                let kick = files.next().filter(|file| fcntl_setfl(file, OFlags::NONBLOCK).is_ok());
                let kick = kick.ok_or_else(|| {
                    InvalidValue::new("its file descriptor", "an event", "something else")
                })?;
                self.kick = Some(Arc::new(kick));
                self.start()?;
            }
            VhostRequest::SET_VRING_CALL => {
                ring_event(&body)?;
                self.call = files.next();
            }
            VhostRequest::SET_VRING_ENABLE => {
                self.is_enabled = ring_state(&body)? != 0;
                if !self.is_enabled {
                    self.ring.disable();
                }
                self.start()?;
            }
        }
        Ok(VhostReply::Acknowledge(0))
    }

    /// The features of the protocol that are offered.
    fn protocol(&self) -> u64 {
        match self.notifications {
            Notifications::Calendar => PROTOCOL | IN_BAND,
            Notifications::Events => PROTOCOL,
        }
    }

    fn choose_protocol(&self, chosen: u64) -> Result<(), InvalidValue> {
        let offered = self.protocol();
        // Without all of them a guest in time travel would make pipes for notifications.
        let needs_all = self.notifications == Notifications::Calendar;
        if chosen & !offered == 0 && !(needs_all && chosen != offered) {
            return Ok(());
        }
        let set = if needs_all { "all" } else { "part" };
        let (expected, found) = (format!("{set} of {offered:#x}"), format!("{chosen:#x}"));
        Err(InvalidValue::new("the guest's protocol features", expected, found))
    }

    fn choose(&mut self, chosen: u64, device: &mut VirtioDevice<'_>) -> Result<(), InvalidValue> {
        let offered = device.features().bits() | RING_FEATURES;
        if chosen & !offered != 0 {
            let (expected, found) = (format!("part of {offered:#x}"), format!("{chosen:#x}"));
            return Err(InvalidValue::new("the set of features", expected, found));
        }
        // Without protocol features there is no message that enables it.
        self.is_enabled |= chosen & PROTOCOL_FEATURES == 0;
        self.ring.use_events(chosen & EVENT_INDEX != 0);
        device.accept(Features::from_bits_truncate(chosen));
        Ok(())
    }

    fn place_ring(&mut self, body: &[u8]) -> Result<(), InvalidValue> {
        let at = fixed::<RingAddresses>(body)?;
        only_ring(at.index.get())?;
        self.must_be_stopped()?;
        let memory = self.memory.as_ref();
        let place = |user: U64| memory.and_then(|memory| memory.translate(user.get()));
        let place = |user| place(user).ok_or_else(misplaced);
        let addresses = Addresses {
            descriptors: place(at.descriptors)?,
            used: place(at.used)?,
            available: place(at.available)?,
        };
        self.ring
            .place(addresses)
            .map_err(|cause| InvalidValue::new("an address", "aligned as the ring needs", cause))
    }

    /// Starts the ring, if the guest has enabled it and can kick.
    fn start(&mut self) -> Result<(), InvalidValue> {
        let can_kick = self.notifications == Notifications::Calendar || self.kick.is_some();
        if !self.is_enabled || !can_kick || self.ring.is_enabled() {
            return Ok(());
        }
        let is_valid = self.memory.as_ref().is_some_and(|memory| self.ring.enable(memory));
        is_valid.then_some(()).ok_or_else(misplaced)
    }

    /// The number in a message about a ring that must be stopped.
    fn stopped_ring(&self, body: &[u8]) -> Result<u32, InvalidValue> {
        let number = ring_state(body)?;
        self.must_be_stopped()?;
        Ok(number)
    }

    fn must_be_stopped(&self) -> Result<(), InvalidValue> {
        if self.ring.is_enabled() {
            return Err(InvalidValue::new("the ring", "disabled", "enabled"));
        }
        Ok(())
    }

    /// Whether the ring is started.
    pub fn is_started(&self) -> bool {
        self.ring.is_enabled()
    }

    /// Stops the ring: the guest has gone.
    pub fn stop(&mut self) {
        self.ring.disable();
    }

    /// What becomes readable when requests wait, if the ring is started.
    pub fn kick(&self) -> Option<Arc<File>> {
        self.kick.clone().filter(|_| self.ring.is_enabled())
    }

    /// Takes the next waiting request; if none waits, the guest will kick.
    pub fn take(&mut self) -> Result<Option<DescriptorChain<SharedMemory>>, DiskError> {
        let Some(memory) = self.memory.as_ref().filter(|_| self.ring.is_enabled()) else {
            return Ok(None);
        };
        let taken = self.ring.take(memory);
        if memory.has_shrunk() {
            let what = "the file of its memory";
            return Err(self.invalid(InvalidValue::new(what, "as long as it was", "shorter")));
        }
        taken.map_err(|cause| self.broken(&cause))
    }

    /// Notes a taken request as in flight, unless it cannot be returned.
    pub fn accept(&mut self, served: &CompletedRequest) -> Option<PendingRequest> {
        self.ring.accept(served)
    }

    /// Returns a request to the guest.
    pub fn complete(&mut self, pending: &PendingRequest) -> Result<(), DiskError> {
        let Some(memory) = &self.memory else { return Ok(()) };
        self.ring.complete(memory, pending).map_err(|cause| self.broken(&cause))
    }

    /// Whether the guest wants to be notified of returned requests.
    pub fn wants_call(&mut self) -> Result<bool, DiskError> {
        let Some(memory) = &self.memory else { return Ok(false) };
        self.ring.wants_call(memory).map_err(|cause| self.broken(&cause))
    }

    /// Notifies the guest by its event.
    pub fn call(&self) {
        if let Some(mut call) = self.call.as_ref() {
            // A guest that does not take it has itself to blame.
            let _ = call.write(&1_u64.to_ne_bytes());
        }
    }

    fn invalid(&self, cause: InvalidValue) -> DiskError {
        DiskError::Message { peer: format!("disk {}", self.disk), cause }
    }

    fn broken(&self, cause: &impl ToString) -> DiskError {
        DiskError::Ring { disk: self.disk.clone(), cause: cause.to_string() }
    }
}

fn reply(number: u64) -> VhostReply {
    VhostReply::Reply(number.to_le_bytes().to_vec())
}

fn misplaced() -> InvalidValue {
    InvalidValue::new("the place of the ring", "in its memory", "beyond it")
}

fn fixed<T: FromBytes>(body: &[u8]) -> Result<T, InvalidValue> {
    T::read_from_bytes(body)
        .map_err(|_| InvalidValue::new("the size of its body", size_of::<T>(), body.len()))
}

/// The number in a message about the ring.
fn ring_state(body: &[u8]) -> Result<u32, InvalidValue> {
    let [index, number] = fixed::<[U32; 2]>(body)?;
    only_ring(index.get())?;
    Ok(number.get())
}

/// Checks a message about an event of the ring: the number of the ring is its first byte.
fn ring_event(body: &[u8]) -> Result<(), InvalidValue> {
    let [index, ..] = fixed::<[u8; 8]>(body)?;
    only_ring(index.into())
}

fn only_ring(index: u32) -> Result<(), InvalidValue> {
    match index {
        0 => Ok(()),
        found => Err(InvalidValue::new("the number of the ring", 0, found)),
    }
}

/// The part of the configuration space that a message concerns.
fn config_part(body: &[u8]) -> Result<(ConfigPart, &[u8]), InvalidValue> {
    let (part, rest) = ConfigPart::read_from_prefix(body)
        .map_err(|_| InvalidValue::new("the size of its body", "at least 12", body.len()))?;
    let end = part.offset.get().checked_add(part.size.get());
    if end.is_none_or(|end| end > CONFIG_BYTES) {
        let found = format!("{} bytes at {}", part.size, part.offset);
        return Err(InvalidValue::new("the part of the configuration", "within 256 bytes", found));
    }
    if part.size.get() as usize != rest.len() {
        return Err(InvalidValue::new("the size of what follows", part.size, rest.len()));
    }
    Ok((part, rest))
}

/// The reply has the size of the request; what the device does not define is 0.
fn read_config(body: &[u8], device: &VirtioDevice<'_>) -> Result<Vec<u8>, InvalidValue> {
    let (part, _) = config_part(body)?;
    let mut config = device.config().to_vec();
    config.resize(CONFIG_BYTES as usize, 0);
    let offset = part.offset.get() as usize;
    Ok([part.as_bytes(), &config[offset..offset + part.size.get() as usize]].concat())
}

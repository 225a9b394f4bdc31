//! Defines the session in which a guest sets up a disk, message by message.
//!
//! Nothing here waits or sends: a message goes in, and the action to take comes out.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::net::SocketType;
use rustix::net::sockopt::socket_type;
use vm_memory::mmap::MmapRegion;
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionMmap};
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, IntoBytes};

use crate::DiskError;
use crate::device::{Device, Features};

use super::frame::Frame;
use super::ring::{Addresses, Ring};
use super::rules::{
    CONFIG_BYTES, ConfigPart, Fault, MemoryTable, RULES, Region, Request, RingAddresses, RingState,
    Stage,
};

/// The features of the ring and the transport: indirect descriptors, event indices, protocol
/// features, and version 1 of virtio.
const RING_FEATURES: u64 = INDIRECT | EVENT_INDEX | PROTOCOL_FEATURES | VERSION_1;
const INDIRECT: u64 = 1 << 28;
const EVENT_INDEX: u64 = 1 << 29;
const PROTOCOL_FEATURES: u64 = 1 << 30;
const VERSION_1: u64 = 1 << 32;

/// Acknowledgements, requests from the device, a configuration space, and notifications in-band. A
/// guest of the lab needs all four: without them it would make pipes for notifications.
const PROTOCOL: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// The action to take after a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// Acknowledge it if the guest waits for that, with 0 for success.
    Acknowledge(u64),
    /// Send this reply.
    Reply(Vec<u8>),
}

/// A session with a guest about one disk.
#[derive(Debug)]
pub struct Session {
    disk: String,
    stage: Stage,
    /// A socket for notifying the guest. The calendar does that; the guest takes its end for ours.
    calls: Option<OwnedFd>,
    /// The guest's memory.
    pub memory: Option<GuestMemoryMmap>,
    /// The ring of requests.
    pub ring: Ring,
}

/// Why a message cannot be executed.
enum Failure {
    Fault(Fault),
    Memory(String),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Session {
    /// A new session.
    pub fn new(disk: &str) -> Self {
        Self {
            disk: disk.to_owned(),
            stage: Stage::Connected,
            calls: None,
            memory: None,
            ring: Ring::default(),
        }
    }

    /// Handles a message.
    pub fn handle(&mut self, frame: Frame, device: &mut Device<'_>) -> Result<Answer, DiskError> {
        let (peer, number) = (format!("disk {}", self.disk), frame.request);
        let error = |message: String, Fault(what, expected, found): Fault| {
            let peer = peer.clone();
            DiskError::Message { peer, message, what, expected, found }
        };
        let Some(rule) = RULES.iter().find(|rule| rule.number == number) else {
            let fault = Fault::new("its number", &"one of a block device in time travel", &number);
            return Err(error(format!("message {number}"), fault));
        };
        rule.check(&frame, self.stage).map_err(|fault| error(rule.name.to_owned(), fault))?;
        let answer = self.follow(rule.request, frame, device).map_err(|failure| match failure {
            Failure::Fault(fault) => error(rule.name.to_owned(), fault),
            Failure::Memory(cause) => DiskError::Memory { disk: self.disk.clone(), cause },
        })?;
        self.stage = self.stage.max(rule.then);
        Ok(answer)
    }

    fn follow(
        &mut self,
        request: Request,
        frame: Frame,
        device: &mut Device<'_>,
    ) -> Result<Answer, Failure> {
        let body = &frame.body[..];
        match request {
            Request::SetOwner => {}
            Request::GetFeatures => return Ok(reply(device.features().bits() | RING_FEATURES)),
            Request::GetProtocolFeatures => return Ok(reply(PROTOCOL)),
            Request::SetProtocolFeatures => {
                let chosen = fixed::<U64>(body)?.get();
                if chosen != PROTOCOL {
                    let [expected, found] = [PROTOCOL, chosen].map(|set| format!("{set:#x}"));
                    return Err(Fault(
                        "the guest's protocol features",
                        format!("all of {expected}"),
                        found,
                    )
                    .into());
                }
            }
            Request::SetCallSocket => self.take_call_socket(frame)?,
            Request::SetFeatures => self.choose(fixed::<U64>(body)?.get(), device)?,
            Request::GetConfig => return Ok(Answer::Reply(read_config(body, device)?)),
            Request::SetConfig => {
                let is_done = write_config(body, device)?;
                return Ok(Answer::Acknowledge(u64::from(!is_done)));
            }
            Request::SetMemoryTable => self.map(frame)?,
            Request::SetRingSlots
            | Request::SetRingBase
            | Request::SetRingAddresses
            | Request::EnableRing => self.set_up_ring(request, body)?,
        }
        Ok(Answer::Acknowledge(0))
    }

    fn take_call_socket(&mut self, frame: Frame) -> Result<(), Fault> {
        let descriptor = frame.descriptors.into_iter().next();
        let is_stream = |fd: &_| socket_type(fd).is_ok_and(|kind| kind == SocketType::STREAM);
        let Some(descriptor) = descriptor.filter(is_stream) else {
            return Err(Fault::new("its file descriptor", &"a stream socket", &"something else"));
        };
        self.calls = Some(descriptor);
        Ok(())
    }

    fn choose(&mut self, chosen: u64, device: &mut Device<'_>) -> Result<(), Fault> {
        let offered = device.features().bits() | RING_FEATURES;
        if chosen & !offered != 0 {
            let [expected, found] = [offered, chosen].map(|set| format!("{set:#x}"));
            return Err(Fault::new("the set of features", &format!("part of {expected}"), &found));
        }
        if chosen & VERSION_1 == 0 {
            let found = format!("{chosen:#x}");
            return Err(Fault::new("the set of features", &"one with VERSION_1", &found));
        }
        self.ring.use_events(chosen & EVENT_INDEX != 0);
        device.accept(Features::from_bits_truncate(chosen));
        Ok(())
    }

    fn map(&mut self, frame: Frame) -> Result<(), Failure> {
        let table = fixed::<MemoryTable>(&frame.body)?;
        if table.count.get() as usize != frame.descriptors.len() {
            let (expected, found) = (frame.descriptors.len(), table.count.get());
            return Err(Fault::new("the number of regions", &expected, &found).into());
        }
        if self.ring.is_enabled() {
            return Err(Fault::new("the ring", &"disabled", &"enabled").into());
        }
        let mut regions = Vec::new();
        for (region, descriptor) in table.regions.iter().zip(frame.descriptors) {
            regions.push(map_region(region, File::from(descriptor))?);
        }
        regions.sort_by_key(vm_memory::GuestMemoryRegion::start_addr);
        let memory = GuestMemoryMmap::from_regions(regions)
            .map_err(|cause| Failure::Memory(cause.to_string()))?;
        self.memory = Some(memory);
        Ok(())
    }

    fn set_up_ring(&mut self, request: Request, body: &[u8]) -> Result<(), Fault> {
        if request == Request::SetRingAddresses {
            let at = fixed::<RingAddresses>(body)?;
            only_ring(at.index)?;
            self.must_be_disabled()?;
            let addresses = Addresses {
                descriptors: at.descriptors.get(),
                used: at.used.get(),
                available: at.available.get(),
            };
            return self
                .ring
                .place(addresses)
                .map_err(|cause| Fault::new("an address", &"aligned as the ring needs", &cause));
        }
        let state = fixed::<RingState>(body)?;
        only_ring(state.index)?;
        let number = state.number.get();
        match request {
            Request::EnableRing if number == 0 => self.ring.disable(),
            Request::EnableRing => {
                let is_valid = self.memory.as_ref().is_some_and(|memory| self.ring.enable(memory));
                if !is_valid {
                    return Err(Fault::new("the place of the ring", &"in memory", &"beyond it"));
                }
            }
            Request::SetRingSlots => {
                self.must_be_disabled()?;
                self.ring.resize(number).map_err(|_| {
                    Fault::new("the number of slots", &"a power of two up to 256", &number)
                })?;
            }
            _ => {
                self.must_be_disabled()?;
                let base = u16::try_from(number)
                    .map_err(|_| Fault::new("the base", &"below 65536", &number))?;
                self.ring.start_at(base);
            }
        }
        Ok(())
    }

    fn must_be_disabled(&self) -> Result<(), Fault> {
        if self.ring.is_enabled() {
            return Err(Fault::new("the ring", &"disabled", &"enabled"));
        }
        Ok(())
    }
}

fn reply(number: u64) -> Answer {
    Answer::Reply(number.to_le_bytes().to_vec())
}

/// Parses a body whose size was checked by its rule.
fn fixed<T: FromBytes>(body: &[u8]) -> Result<T, Fault> {
    T::read_from_bytes(body)
        .map_err(|_| Fault::new("the size of its body", &size_of::<T>(), &body.len()))
}

fn only_ring(index: U32) -> Result<(), Fault> {
    match index.get() {
        0 => Ok(()),
        found => Err(Fault::new("the number of the ring", &0, &found)),
    }
}

/// The part of the configuration space that a message concerns.
fn config_part(body: &[u8]) -> Result<(ConfigPart, &[u8]), Fault> {
    let (part, rest) = ConfigPart::read_from_prefix(body)
        .map_err(|_| Fault::new("the size of its body", &"at least 12", &body.len()))?;
    let end = part.offset.get().checked_add(part.size.get());
    if end.is_none_or(|end| end > CONFIG_BYTES) {
        let found = format!("{} bytes at {}", part.size, part.offset);
        return Err(Fault::new("the part of the configuration", &"within 256 bytes", &found));
    }
    if part.size.get() as usize != rest.len() {
        return Err(Fault::new("the size of what follows", &part.size.get(), &rest.len()));
    }
    Ok((part, rest))
}

/// The reply has the size of the request; what the device does not define is 0.
fn read_config(body: &[u8], device: &Device<'_>) -> Result<Vec<u8>, Fault> {
    let (part, _) = config_part(body)?;
    let mut config = device.config().to_vec();
    config.resize(CONFIG_BYTES as usize, 0);
    let offset = part.offset.get() as usize;
    let mut answer = part.as_bytes().to_vec();
    answer.extend_from_slice(&config[offset..offset + part.size.get() as usize]);
    Ok(answer)
}

fn write_config(body: &[u8], device: &mut Device<'_>) -> Result<bool, Fault> {
    let (part, bytes) = config_part(body)?;
    Ok(device.configure(part.offset.get() as usize, bytes))
}

fn map_region(region: &Region, file: File) -> Result<GuestRegionMmap, Failure> {
    let (guest, user) = (region.guest_address.get(), region.user_address.get());
    if guest != user {
        let [expected, found] = [guest, user].map(|address| format!("{address:#x}"));
        return Err(Fault::new("the guest's own address of a region", &expected, &found).into());
    }
    let memory = |cause: String| Failure::Memory(cause);
    // Access beyond the end of the file would kill this process (SIGBUS).
    let file_bytes = file.metadata().map_err(|cause| memory(cause.to_string()))?.len();
    let end = region.file_offset.get().checked_add(region.size.get());
    if end.is_none_or(|end| end > file_bytes) || region.size.get() == 0 {
        let found = format!("{} at {}", region.size, region.file_offset);
        let expected = format!("within the {file_bytes} of its file, and not 0");
        return Err(Fault::new("the bytes of a region", &expected, &found).into());
    }
    let bytes = usize::try_from(region.size.get()).map_err(|cause| memory(cause.to_string()))?;
    let place = FileOffset::new(file, region.file_offset.get());
    let mapping = MmapRegion::from_file(place, bytes).map_err(|cause| memory(cause.to_string()))?;
    GuestRegionMmap::new(mapping, GuestAddress(guest))
        .ok_or_else(|| memory("a region ends beyond the address space".to_owned()))
}

//! Defines the block device: descriptor chains in, statuses and times out.
//!
//! It knows virtio's requests and a backend, but not how chains arrive or how the guest is
//! notified, so it works with any transport, in virtual or real time.

mod buffers;
mod errors;
mod request;
mod shape;

use std::ops::Deref;

use ssdlab_flash::{Extent, Nanos};
use ssdlab_trace::{Flags, RequestKind};
use virtio_queue::DescriptorChain;
use vm_memory::{Bytes, GuestAddress, GuestMemory, Permissions};
use zerocopy::IntoBytes;

use crate::backend::{Backend, BackendError};
use crate::fingerprint::TraceHasher;
use crate::invalid::InvalidValue;

use buffers::{Buffers, ChainError};
use request::{DiskCommand, HEADER_BYTES};
use shape::{ConfigSpace, ID_BYTES, WRITEBACK_AT};

pub use errors::RequestErrors;
pub use request::{KernelHints, VirtioStatus};
pub use shape::{CacheMode, DiskShape, Features};

/// The backend of a device.
pub type AnyBackend<'a> = Box<dyn Backend + Send + 'a>;

/// A block device.
pub struct VirtioDevice<'a> {
    backend: AnyBackend<'a>,
    shape: DiskShape,
    config: ConfigSpace,
    /// The features accepted by the guest.
    accepted: Features,
    buffers: Buffers,
    data: Vec<u8>,
    errors: Option<RequestErrors>,
}

/// The outcome of a request.
#[derive(Debug)]
pub struct CompletedRequest {
    /// The head of its chain, which identifies it to the guest.
    pub head: u16,
    /// Its number in virtio; `u32::MAX` if it has none.
    pub number: u32,
    /// What the guest's kernel says about it.
    pub told: KernelHints,
    /// When it is done.
    pub done: Nanos,
    /// The number of bytes returned to the guest, including the status.
    pub used_bytes: u32,
    /// The address of the status, and its value; `None` if there is no valid address.
    pub answer: Option<(GuestAddress, VirtioStatus)>,
    /// The commands performed; several if a request has several ranges.
    pub commands: Vec<(RequestKind, Extent)>,
    /// Whether writes are durable as soon as they are done.
    pub writes_through: bool,
}

/// The result of a performed request.
struct Done {
    at: Nanos,
    returned_bytes: usize,
    commands: Vec<(RequestKind, Extent)>,
}

/// Why a request was not performed.
enum RequestFailure {
    /// The guest gets this status.
    Answer(VirtioStatus),
    /// The machine failed, so the rest of the guest's run is meaningless.
    Failed(BackendError),
}

impl From<VirtioStatus> for RequestFailure {
    fn from(status: VirtioStatus) -> Self {
        Self::Answer(status)
    }
}

impl From<BackendError> for RequestFailure {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Refused(_) => Self::Answer(VirtioStatus::IoError),
            BackendError::File { .. } => Self::Failed(error),
        }
    }
}

impl<'a> VirtioDevice<'a> {
    pub fn new(backend: AnyBackend<'a>, shape: DiskShape) -> Result<Self, InvalidValue> {
        let capacity_bytes = backend.capacity_bytes();
        shape.check(capacity_bytes)?;
        Ok(Self {
            config: shape.config(capacity_bytes),
            accepted: shape.features(),
            backend,
            shape,
            buffers: Buffers::default(),
            data: Vec::new(),
            errors: None,
        })
    }

    /// Has some requests fail.
    pub fn fail(&mut self, errors: RequestErrors) {
        self.errors = Some(errors);
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.backend.capacity_bytes()
    }

    pub fn features(&self) -> Features {
        self.shape.features()
    }

    /// Sets the features accepted by the guest.
    pub fn accept(&mut self, features: Features) {
        self.accepted = features;
    }

    /// The configuration space.
    pub fn config(&self) -> &[u8] {
        self.config.as_bytes()
    }

    /// Handles a write of the guest to the configuration space. Returns whether it is allowed: only
    /// the write cache byte is writable.
    pub fn configure(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let may = offset == WRITEBACK_AT && self.accepted.contains(Features::CONFIG_WCE);
        match bytes {
            [writeback @ (0 | 1)] if may => {
                self.config.writeback = *writeback;
                true
            }
            _ => false,
        }
    }

    /// Whether a write is only done once it is durable (VIRTIO 1.2, 5.2.5 and 5.2.6.2).
    pub fn writes_through(&self) -> bool {
        let is_off = self.accepted.contains(Features::CONFIG_WCE) && self.config.writeback == 0;
        is_off || !self.accepted.contains(Features::FLUSH)
    }

    /// Serves a request submitted at `now`. It takes effect on the disk and on the guest's memory
    /// immediately; the guest must be notified when it is done. The chain may contain anything:
    /// invalid requests get an I/O error, or are returned without a status.
    pub fn serve<M>(
        &mut self,
        chain: DescriptorChain<M>,
        now: Nanos,
        hasher: &mut TraceHasher,
    ) -> Result<CompletedRequest, BackendError>
    where
        M: Deref + Clone,
        M::Target: GuestMemory + Sized,
    {
        let mut served = CompletedRequest {
            head: chain.head_index(),
            number: u32::MAX,
            told: KernelHints::default(),
            done: now,
            used_bytes: 0,
            answer: None,
            commands: Vec::new(),
            writes_through: self.writes_through(),
        };
        let memory = chain.clone();
        let memory = memory.memory();
        let (place, performed) = match self.buffers.walk(chain, self.shape.segments) {
            Err(ChainError::Unanswerable) => return Ok(served),
            Err(ChainError::Answer(place)) => (place, Err(VirtioStatus::IoError.into())),
            Ok(place) => {
                let buffers = &self.buffers;
                let parsed = request::parse(memory, buffers, &self.shape, self.capacity_bytes());
                (served.number, served.told) = (parsed.number, parsed.told);
                let performed = parsed
                    .asked
                    .map_err(RequestFailure::from)
                    .and_then(|asked| self.perform(memory, asked, parsed.told, now, hasher));
                (place, performed)
            }
        };
        let status = match performed {
            Ok(done) => {
                served.done = done.at.max(now);
                served.commands = done.commands;
                served.used_bytes = u32::try_from(done.returned_bytes + 1).unwrap_or(u32::MAX);
                VirtioStatus::Ok
            }
            Err(RequestFailure::Answer(status)) => {
                served.used_bytes = 1;
                status
            }
            Err(RequestFailure::Failed(error)) => return Err(error),
        };
        served.answer = Some((place, status));
        Ok(served)
    }

    fn perform<M: GuestMemory>(
        &mut self,
        memory: &M,
        asked: DiskCommand,
        told: KernelHints,
        now: Nanos,
        hasher: &mut TraceHasher,
    ) -> Result<Done, RequestFailure> {
        if self.errors.as_mut().is_some_and(|errors| errors.fails(&asked, told)) {
            return Err(VirtioStatus::IoError.into());
        }
        match asked {
            DiskCommand::Read(extent) => self.read(memory, extent, now),
            DiskCommand::Write(extent) => {
                let is_forced = told.flags.contains(Flags::FUA) || self.writes_through();
                self.write(memory, extent, is_forced, now, hasher)
            }
            DiskCommand::Flush => {
                let at = self.backend.flush(now)?;
                let nowhere = Extent { offset_bytes: 0, length_bytes: 0 };
                Ok(Done { at, returned_bytes: 0, commands: vec![(RequestKind::Flush, nowhere)] })
            }
            DiskCommand::Discard(ranges) => {
                self.each(&ranges, RequestKind::Discard, now, |backend, extent| {
                    backend.discard(now, extent)
                })
            }
            DiskCommand::WriteZeroes(ranges) => {
                let mut done =
                    self.each(&ranges, RequestKind::WriteZeroes, now, |backend, extent| {
                        backend.write_zeroes(now, extent)
                    })?;
                if self.writes_through() {
                    done.at = done.at.max(self.backend.flush(now)?);
                }
                Ok(done)
            }
            DiskCommand::Identify => {
                let mut id = [0; ID_BYTES];
                id[..self.shape.id.len()].copy_from_slice(self.shape.id.as_bytes());
                if !self.buffers.writable.store(memory, &id) {
                    return Err(VirtioStatus::IoError.into());
                }
                Ok(Done { at: now, returned_bytes: ID_BYTES, commands: Vec::new() })
            }
        }
    }

    fn read<M: GuestMemory>(
        &mut self,
        memory: &M,
        extent: Extent,
        now: Nanos,
    ) -> Result<Done, RequestFailure> {
        let room = &self.buffers.writable;
        if !room.exist(memory, Permissions::Write) {
            return Err(VirtioStatus::IoError.into());
        }
        let returned_bytes = room.length();
        let data = first(&mut self.data, returned_bytes);
        let at = self.backend.read(now, extent.offset_bytes, data)?;
        if !room.store(memory, data) {
            return Err(VirtioStatus::IoError.into());
        }
        Ok(Done { at, returned_bytes, commands: vec![(RequestKind::Read, extent)] })
    }

    fn write<M: GuestMemory>(
        &mut self,
        memory: &M,
        extent: Extent,
        is_forced: bool,
        now: Nanos,
        hasher: &mut TraceHasher,
    ) -> Result<Done, RequestFailure> {
        let data = first(&mut self.data, self.buffers.readable.length() - HEADER_BYTES);
        if !self.buffers.readable.load(memory, HEADER_BYTES, data) {
            return Err(VirtioStatus::IoError.into());
        }
        let at = if is_forced {
            self.backend.write_fua(now, extent.offset_bytes, data)?
        } else {
            self.backend.write(now, extent.offset_bytes, data)?
        };
        hasher.data(data);
        Ok(Done { at, returned_bytes: 0, commands: vec![(RequestKind::Write, extent)] })
    }

    /// Performs a command for each range. They are submitted together, and done when the last is.
    fn each(
        &mut self,
        ranges: &[Extent],
        kind: RequestKind,
        now: Nanos,
        mut submit: impl FnMut(&mut AnyBackend<'a>, Extent) -> Result<Nanos, BackendError>,
    ) -> Result<Done, RequestFailure> {
        let mut at = now;
        for extent in ranges {
            at = at.max(submit(&mut self.backend, *extent)?);
        }
        let commands = ranges.iter().map(|extent| (kind, *extent)).collect();
        Ok(Done { at, returned_bytes: 0, commands })
    }
}

/// The first bytes of a buffer that only grows, so that nothing is zeroed to be overwritten.
fn first(data: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if data.len() < length {
        data.resize(length, 0);
    }
    &mut data[..length]
}

/// Writes a status into the guest's memory. Returns whether that succeeded.
pub fn answer<M: GuestMemory>(memory: &M, place: GuestAddress, status: VirtioStatus) -> bool {
    memory.write_obj(status as u8, place).is_ok()
}

#[cfg(test)]
mod tests;

//! The driver's side of a ring: requests put in, answers taken out, and a disk made of it, so that
//! what holds for backends can be checked of it.

use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use ssdlab_disk::{Backend, BackendError};
use ssdlab_flash::{Extent, Nanos, Refusal};
use vm_memory::{
    Bytes, FileOffset, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, GuestMemoryRegion,
    GuestRegionMmap,
};

/// Where the guest's memory begins, in its own addresses and in its file.
pub const BASE: u64 = 1 << 20;
pub const MEMORY_BYTES: u64 = 2 << 20;
pub const DESCRIPTORS: u64 = BASE;
pub const AVAILABLE: u64 = BASE + 0x1000;
pub const USED: u64 = BASE + 0x2000;
/// The headers, statuses and data of requests, one stretch for each slot.
pub const BUFFERS: u64 = BASE + 0x1_0000;
pub const SLOTS: u16 = 16;
const BUFFER_BYTES: u64 = 0x1_0000 + 0x1000;

/// A request: its number, its first sector, and what goes with it.
pub struct Request<'a> {
    pub number: u32,
    pub sector: u64,
    pub data: &'a [u8],
}

/// A ring, and the memory it lies in.
pub struct Ring {
    pub memory: GuestMemoryMmap,
    pub slots: u16,
    available: u16,
    seen: u16,
}

impl Ring {
    pub fn new() -> Self {
        Self::with(SLOTS)
    }

    /// A ring with so many slots. [`Self::submit`] takes [`SLOTS`] for granted.
    pub fn with(slots: u16) -> Self {
        let file = memfd_create("guest", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, BASE + MEMORY_BYTES).unwrap();
        let place = FileOffset::new(file.into(), BASE);
        let bytes = usize::try_from(MEMORY_BYTES).unwrap();
        let region = GuestRegionMmap::from_range(GuestAddress(BASE), bytes, Some(place));
        let memory = GuestMemoryMmap::from_regions(vec![region.unwrap()]).unwrap();
        Self { memory, slots, available: 0, seen: 0 }
    }

    /// The file that the memory is in.
    pub fn file(&self) -> OwnedFd {
        let region = self.memory.iter().next().unwrap();
        region.file_offset().unwrap().file().try_clone().unwrap().into()
    }

    pub fn write(&self, bytes: &[u8], at: u64) {
        self.memory.write_slice(bytes, GuestAddress(at)).unwrap();
    }

    /// Puts a request into the ring: a header, data, a status. Returns its slot.
    pub fn submit(&mut self, request: &Request<'_>, room: usize) -> u16 {
        let slot = self.available % (SLOTS / 3);
        let at = BUFFERS + u64::from(slot) * BUFFER_BYTES;
        let mut header = request.number.to_le_bytes().to_vec();
        header.extend([0; 4]);
        header.extend(request.sector.to_le_bytes());
        self.write(&header, at);
        self.write(&[0xFF], at + 16);
        let mut parts = vec![(at, 16, 0)];
        if !request.data.is_empty() {
            self.write(request.data, at + 0x1000);
            parts.push((at + 0x1000, request.data.len(), 0));
        }
        if room > 0 {
            parts.push((at + 0x1000, room, 2));
        }
        parts.push((at + 16, 1, 2));
        let last = parts.len() - 1;
        let head = slot * 3;
        for (index, (address, length, flags)) in parts.into_iter().enumerate() {
            let index = u16::try_from(index).unwrap();
            let goes_on = u16::from(usize::from(index) != last);
            let length = u32::try_from(length).unwrap();
            self.describe(head + index, address, length, flags | goes_on, head + index + 1);
        }
        self.offer(head);
        slot
    }

    pub fn describe(&self, index: u16, address: u64, length: u32, flags: u16, next: u16) {
        let mut descriptor = address.to_le_bytes().to_vec();
        descriptor.extend(length.to_le_bytes());
        descriptor.extend(flags.to_le_bytes());
        descriptor.extend(next.to_le_bytes());
        self.write(&descriptor, DESCRIPTORS + 16 * u64::from(index));
    }

    /// Puts the head of a chain where the disk looks.
    pub fn offer(&mut self, head: u16) {
        let slot = u64::from(self.available % self.slots);
        self.write(&head.to_le_bytes(), AVAILABLE + 4 + 2 * slot);
        self.available = self.available.wrapping_add(1);
        self.write(&self.available.to_le_bytes(), AVAILABLE + 2);
    }

    /// The next request that was given back: its head, and how many bytes it got. The disk is
    /// asked to tell of the one after.
    pub fn next_used(&mut self) -> Option<(u32, u32)> {
        let index: u16 = self.memory.read_obj(GuestAddress(USED + 2)).unwrap();
        if index == self.seen {
            return None;
        }
        let at = USED + 4 + 8 * u64::from(self.seen % self.slots);
        self.seen = self.seen.wrapping_add(1);
        self.write(&self.seen.to_le_bytes(), AVAILABLE + 4 + 2 * u64::from(self.slots));
        let element: [u32; 2] = self.memory.read_obj(GuestAddress(at)).unwrap();
        Some((element[0], element[1]))
    }

    /// The status of a request that was given back, and what it returned.
    pub fn result(&self, slot: u16, request: &Request<'_>, room: &mut [u8]) -> u8 {
        let at = BUFFERS + u64::from(slot) * BUFFER_BYTES;
        if request.data.is_empty() {
            self.memory.read_slice(room, GuestAddress(at + 0x1000)).unwrap();
        }
        self.memory.read_obj(GuestAddress(at + 16)).unwrap()
    }
}

/// What does requests, one at a time.
pub trait Driver {
    fn capacity_bytes(&self) -> u64;

    /// Does a request, not before `now`. Returns its status, and when it was done.
    fn perform(&mut self, now: Nanos, request: &Request<'_>, room: &mut [u8]) -> (u8, Nanos);
}

/// A driver's disk as a backend.
pub struct Driven<D>(pub D);

impl<D: Driver> Driven<D> {
    fn perform(
        &mut self,
        now: Nanos,
        request: &Request<'_>,
        room: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        match self.0.perform(now, request, room) {
            (0, done) => Ok(done),
            _ => Err(refused()),
        }
    }

    fn range(&mut self, now: Nanos, number: u32, extent: Extent) -> Result<Nanos, BackendError> {
        let whole = |bytes: u64| bytes.is_multiple_of(512).then_some(bytes / 512);
        let first = whole(extent.offset_bytes).ok_or_else(refused)?;
        let length = whole(extent.length_bytes).ok_or_else(refused)?;
        let mut data = first.to_le_bytes().to_vec();
        data.extend(u32::try_from(length).unwrap().to_le_bytes());
        data.extend([0; 4]);
        self.perform(now, &Request { number, sector: 0, data: &data }, &mut [])
    }
}

fn refused() -> BackendError {
    let extent = Extent { offset_bytes: 0, length_bytes: 0 };
    Refusal::Misaligned { extent }.into()
}

impl<D: Driver> Backend for Driven<D> {
    fn capacity_bytes(&self) -> u64 {
        self.0.capacity_bytes()
    }

    fn read(&mut self, now: Nanos, at: u64, into: &mut [u8]) -> Result<Nanos, BackendError> {
        if !at.is_multiple_of(512) {
            return Err(refused());
        }
        self.perform(now, &Request { number: 0, sector: at / 512, data: &[] }, into)
    }

    fn write(&mut self, now: Nanos, at: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        if !at.is_multiple_of(512) {
            return Err(refused());
        }
        self.perform(now, &Request { number: 1, sector: at / 512, data: from }, &mut [])
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.range(now, 11, extent)
    }

    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.range(now, 13, extent)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        self.perform(now, &Request { number: 4, sector: 0, data: &[] }, &mut [])
    }
}

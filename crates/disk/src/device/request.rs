//! Defines the requests of a guest to a block device, and their layout.
//!
//! The layout is that of `struct virtio_blk_req` in VIRTIO 1.2, 5.2.6.

use ssdlab_flash::{Extent, SECTOR_BYTES};
use ssdlab_trace::{Flags, WriteOrigin};
use vm_memory::GuestMemory;
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::buffers::Buffers;
use super::shape::{DISCARD, DiskShape, ID_BYTES, RangeLimits, WRITE_ZEROES};

/// The maximum size of a transfer. Linux sends at most 1.25 MiB by default; the limit keeps a
/// broken guest from causing copies of gigabytes.
pub const LONGEST_TRANSFER_BYTES: usize = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VirtioStatus {
    /// It succeeded.
    Ok = 0,
    /// It failed.
    IoError = 1,
    /// It is not supported.
    Unsupported = 2,
}

/// A request of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskCommand {
    /// Return data.
    Read(Extent),
    /// Store data.
    Write(Extent),
    /// Make earlier writes durable.
    Flush,
    /// Discard data.
    Discard(Vec<Extent>),
    /// Zero data.
    WriteZeroes(Vec<Extent>),
    /// Return the disk's name.
    Identify,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    kind: U32,
    priority: U32,
    sector: U64,
}

/// The size of the header, after which data to write begin.
pub const HEADER_BYTES: usize = size_of::<Header>();

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone)]
#[repr(C)]
struct Range {
    sector: U64,
    sectors: U32,
    flags: U32,
}

/// What the lab kernel says about a request in place of its priority (`kernel/origin.c`). Other
/// kernels say nothing: their priorities have at most 16 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelHints {
    pub origin: Option<WriteOrigin>,
    pub flags: Flags,
}

impl KernelHints {
    fn of(priority: u32) -> Self {
        if priority >> 31 == 0 {
            return Self::default();
        }
        let mut flags = Flags::empty();
        flags.set(Flags::METADATA, priority & 1 << 30 != 0);
        flags.set(Flags::SYNC, priority & 1 << 29 != 0);
        flags.set(Flags::FUA, priority & 1 << 28 != 0);
        let sectors = |shift: u32| u64::from(priority >> shift & 0x3fff) * SECTOR_BYTES;
        let origin = WriteOrigin { directory_bytes: sectors(14), metadata_bytes: sectors(0) };
        Self { origin: Some(origin), flags }
    }
}

/// A parsed request, with its number in the header.
pub struct ParsedRequest {
    pub number: u32,
    pub told: KernelHints,
    pub asked: Result<DiskCommand, VirtioStatus>,
}

/// Parses a request. Everything is checked before anything is done, so that a refused request has
/// changed nothing.
pub fn parse<M: GuestMemory>(
    memory: &M,
    buffers: &Buffers,
    shape: &DiskShape,
    capacity_bytes: u64,
) -> ParsedRequest {
    let mut header = Header::new_zeroed();
    if !buffers.readable.load(memory, 0, header.as_mut_bytes()) {
        let (told, asked) = (KernelHints::default(), Err(VirtioStatus::IoError));
        return ParsedRequest { number: u32::MAX, told, asked };
    }
    let number = header.kind.get();
    let sector = header.sector.get();
    let (sent, room) = (buffers.readable.length() - HEADER_BYTES, buffers.writable.length());
    let fits = CapacityLimit { capacity_bytes };
    let asked = match number {
        0 if sent == 0 => fits.transfer(sector, room).map(DiskCommand::Read),
        1 if room == 0 => fits.transfer(sector, sent).map(DiskCommand::Write),
        4 if sent == 0 && room == 0 => Ok(DiskCommand::Flush),
        8 if sent == 0 && room == ID_BYTES => Ok(DiskCommand::Identify),
        11 if room == 0 && !shape.discards => Err(VirtioStatus::Unsupported),
        11 if room == 0 => fits.ranges(memory, buffers, &DISCARD).map(DiskCommand::Discard),
        13 if room == 0 => {
            fits.ranges(memory, buffers, &WRITE_ZEROES).map(DiskCommand::WriteZeroes)
        }
        0 | 1 | 4 | 8 | 11 | 13 => Err(VirtioStatus::IoError),
        _ => Err(VirtioStatus::Unsupported),
    };
    ParsedRequest { number, told: KernelHints::of(header.priority.get()), asked }
}

/// What a request must fit into.
struct CapacityLimit {
    capacity_bytes: u64,
}

impl CapacityLimit {
    /// The extent of a transfer that starts at a sector.
    fn transfer(&self, sector: u64, length: usize) -> Result<Extent, VirtioStatus> {
        if length == 0 || length > LONGEST_TRANSFER_BYTES {
            return Err(VirtioStatus::IoError);
        }
        self.extent(sector, length as u64)
    }

    fn extent(&self, sector: u64, length_bytes: u64) -> Result<Extent, VirtioStatus> {
        let offset_bytes = sector.checked_mul(SECTOR_BYTES).ok_or(VirtioStatus::IoError)?;
        let extent = Extent { offset_bytes, length_bytes };
        extent.within(self.capacity_bytes).map_err(|_| VirtioStatus::IoError)
    }

    /// The ranges of a command, without empty ones.
    fn ranges<M: GuestMemory>(
        &self,
        memory: &M,
        buffers: &Buffers,
        limits: &RangeLimits,
    ) -> Result<Vec<Extent>, VirtioStatus> {
        let sent = buffers.readable.length() - HEADER_BYTES;
        let count = sent / size_of::<Range>();
        if count == 0 || !sent.is_multiple_of(size_of::<Range>()) || count > limits.ranges as usize
        {
            return Err(VirtioStatus::IoError);
        }
        let mut ranges = vec![Range::new_zeroed(); count];
        if !buffers.readable.load(memory, HEADER_BYTES, ranges.as_mut_bytes()) {
            return Err(VirtioStatus::IoError);
        }
        let mut extents = Vec::with_capacity(count);
        for range in &ranges {
            if range.flags.get() & !limits.flags != 0 {
                return Err(VirtioStatus::Unsupported);
            }
            if range.sectors.get() > limits.sectors {
                return Err(VirtioStatus::IoError);
            }
            let length_bytes = u64::from(range.sectors.get()) * SECTOR_BYTES;
            let extent = self.extent(range.sector.get(), length_bytes)?;
            if length_bytes > 0 {
                extents.push(extent);
            }
        }
        Ok(extents)
    }
}

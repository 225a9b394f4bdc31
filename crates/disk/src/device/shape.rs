//! Defines the shape of a disk as seen by its guest: sizes, limits and caches, and the
//! configuration space.
//!
//! Layout and meaning are those of `struct virtio_blk_config` in "Virtual I/O Device (VIRTIO)
//! Version 1.2", 5.2.4. Linux takes its queue limits from there, such as the maximum length of a
//! discard.

use bitflags::bitflags;
use ssdlab_flash::{SECTOR_BYTES, Specification, specification};
use zerocopy::byteorder::little_endian::{U16, U32, U64};
use zerocopy::{Immutable, IntoBytes, Unaligned};

use crate::invalid::InvalidValue;

/// The maximum length of a disk's name (5.2.6).
pub const ID_BYTES: usize = 20;

/// The segments of a request to a SATA drive (`AHCI_MAX_SG` in drivers/ata/ahci.h).
const SATA_SEGMENTS: u32 = 168;

/// The offset of the write cache mode in the configuration space.
pub const WRITEBACK_AT: usize = 32;

bitflags! {
    /// The features of a block device (5.2.3). Those of the ring belong to the transport.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Features: u64 {
        /// The number of segments of a request is limited.
        const SEG_MAX = 1 << 2;
        /// The size of a logical block is given.
        const BLK_SIZE = 1 << 6;
        /// It supports flushes.
        const FLUSH = 1 << 9;
        /// The size of a physical block is given.
        const TOPOLOGY = 1 << 10;
        /// The guest may change the write cache mode.
        const CONFIG_WCE = 1 << 11;
        /// It supports discards.
        const DISCARD = 1 << 13;
        /// It supports write-zeroes.
        const WRITE_ZEROES = 1 << 14;
    }
}

/// The smallest unit that can be read or written: a sector.
const LOGICAL_BLOCK_BYTES: u32 = 512;

/// A physical block, the preferred unit of writes, is a page of 4 KiB.
const PHYSICAL_BLOCK_EXPONENT: u8 = 3;

/// The limits of commands with ranges.
pub struct RangeLimits {
    /// The longest range, in sectors.
    pub sectors: u32,
    /// The maximum number of ranges.
    pub ranges: u32,
    /// The flags that a range may have.
    pub flags: u32,
}

/// The flag that a range may be unmapped.
const UNMAP: u32 = 1;

/// Up to 1 GiB in each of 256 ranges, as with a typical SSD.
pub const DISCARD: RangeLimits = RangeLimits { sectors: 1 << 21, ranges: 256, flags: 0 };

pub const WRITE_ZEROES: RangeLimits = RangeLimits { sectors: 1 << 15, ranges: 1, flags: UNMAP };

/// The shape of a disk as seen by its guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskShape {
    /// Its name, of at most 20 bytes; Linux shows it as `/sys/block/vda/serial`.
    pub id: String,
    /// The maximum number of memory segments of a request.
    pub segments: u32,
    /// The durability of writes that no flush has followed.
    pub write_cache: CacheMode,
    /// Whether writes with forced unit access are supported, by a guest that is the lab kernel.
    pub fua: bool,
    /// Whether discards are supported.
    pub discards: bool,
}

/// The durability of writes that no flush has followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// They may be lost; the guest flushes.
    WriteBack,
    /// They may be lost, and the guest may switch to write-through.
    Switchable,
    /// They are durable: the disk flushes after each of them, and the guest never does.
    WriteThrough,
}

impl Default for DiskShape {
    /// A disk with a write cache and discards.
    fn default() -> Self {
        Self {
            id: "ssdlab".to_owned(),
            segments: 126,
            write_cache: CacheMode::WriteBack,
            fua: false,
            discards: true,
        }
    }
}

/// The configuration space in its memory layout.
#[derive(Debug, Clone, Copy, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
pub struct ConfigSpace {
    capacity_sectors: U64,
    size_max: U32,
    segments_max: U32,
    geometry: [u8; 4],
    block_bytes: U32,
    physical_block_exponent: u8,
    alignment_offset: u8,
    min_io_blocks: U16,
    optimal_io_blocks: U32,
    pub writeback: u8,
    /// Reserved in VIRTIO, which has no FUA: 1 tells the lab kernel that it may ask for it.
    fua: u8,
    queues: U16,
    max_discard_sectors: U32,
    max_discard_ranges: U32,
    discard_alignment_sectors: U32,
    max_write_zeroes_sectors: U32,
    max_write_zeroes_ranges: U32,
    write_zeroes_may_unmap: u8,
    reserved_too: [u8; 3],
}

impl DiskShape {
    /// The shape of a drive; one that does not honour discards does not offer them.
    pub fn of(drive: &Specification) -> Self {
        Self {
            id: drive.name.chars().filter(char::is_ascii_graphic).take(ID_BYTES).collect(),
            segments: SATA_SEGMENTS,
            write_cache: match drive.write_cache {
                specification::WriteCache::Back => CacheMode::Switchable,
                specification::WriteCache::Through => CacheMode::WriteThrough,
            },
            fua: drive.takes_fua(),
            discards: drive.trim.honoured,
        }
    }

    /// Checks that the shape is valid for a disk of this capacity.
    pub fn check(&self, capacity_bytes: u64) -> Result<(), InvalidValue> {
        let rules = [
            (
                self.id.len() <= ID_BYTES,
                "the disk's id",
                "at most 20 bytes",
                self.id.escape_debug().to_string(),
            ),
            (
                capacity_bytes > 0 && capacity_bytes.is_multiple_of(SECTOR_BYTES),
                "the capacity in bytes",
                "a multiple of 512, and not 0",
                capacity_bytes.to_string(),
            ),
            (
                self.segments > 0,
                "the maximum number of segments of a request",
                "at least 1",
                self.segments.to_string(),
            ),
        ];
        rules.into_iter().try_for_each(|(holds, what, expected, found)| {
            if holds { Ok(()) } else { Err(InvalidValue::new(what, expected, found)) }
        })
    }

    /// The features of the device.
    pub fn features(&self) -> Features {
        let mut features =
            Features::SEG_MAX | Features::BLK_SIZE | Features::TOPOLOGY | Features::WRITE_ZEROES;
        features.set(Features::FLUSH, self.write_cache != CacheMode::WriteThrough);
        features.set(Features::CONFIG_WCE, self.write_cache == CacheMode::Switchable);
        features.set(Features::DISCARD, self.discards);
        features
    }

    /// The configuration space of a disk of this capacity.
    pub fn config(&self, capacity_bytes: u64) -> ConfigSpace {
        let of_discards = |value: u32| U32::new(if self.discards { value } else { 0 });
        ConfigSpace {
            capacity_sectors: (capacity_bytes / SECTOR_BYTES).into(),
            size_max: 0.into(),
            segments_max: self.segments.into(),
            geometry: [0; 4],
            block_bytes: LOGICAL_BLOCK_BYTES.into(),
            physical_block_exponent: PHYSICAL_BLOCK_EXPONENT,
            alignment_offset: 0,
            min_io_blocks: 1.into(),
            optimal_io_blocks: 0.into(),
            writeback: u8::from(self.write_cache != CacheMode::WriteThrough),
            fua: u8::from(self.fua),
            queues: 1.into(),
            max_discard_sectors: of_discards(DISCARD.sectors),
            max_discard_ranges: of_discards(DISCARD.ranges),
            discard_alignment_sectors: of_discards(1 << PHYSICAL_BLOCK_EXPONENT),
            max_write_zeroes_sectors: WRITE_ZEROES.sectors.into(),
            max_write_zeroes_ranges: WRITE_ZEROES.ranges.into(),
            write_zeroes_may_unmap: 1,
            reserved_too: [0; 3],
        }
    }
}

#[cfg(test)]
mod tests;

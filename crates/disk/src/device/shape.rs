//! Defines the shape of a disk as seen by its guest: sizes, limits and caches, and the
//! configuration space.
//!
//! Layout and meaning are those of `struct virtio_blk_config` in "Virtual I/O Device (VIRTIO)
//! Version 1.2", 5.2.4. Linux takes its queue limits from there, such as the maximum length of a
//! discard.

use bitflags::bitflags;
use ssdlab_flash::{SECTOR_BYTES, Specification};
use zerocopy::byteorder::little_endian::{U16, U32, U64};
use zerocopy::{Immutable, IntoBytes, Unaligned};

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

/// The shape of a disk as seen by its guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its name, of at most 20 bytes; Linux shows it as `/sys/block/vda/serial`.
    pub id: String,
    /// The smallest unit that can be read or written, in bytes: 512 or a larger power of two.
    pub logical_block_bytes: u32,
    /// The preferred unit of writes, in bytes: a power of two.
    pub physical_block_bytes: u32,
    /// The optimal length of requests, in bytes; 0 if there is none.
    pub optimal_io_bytes: u32,
    /// The maximum number of memory segments of a request.
    pub segments: u32,
    /// The durability of writes that no flush has followed.
    pub write_cache: WriteCache,
    /// The limits of discards, if supported.
    pub discard: Option<DiscardLimits>,
    /// The limits of write-zeroes, if supported.
    pub write_zeroes: Option<WriteZeroesLimits>,
}

/// The durability of writes that no flush has followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// They may be lost; the guest flushes.
    WriteBack,
    /// They may be lost, and the guest may switch to write-through.
    Switchable,
    /// They are durable: the disk flushes after each of them, and the guest never does.
    WriteThrough,
}

/// The limits of discards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscardLimits {
    /// The longest range, in sectors of 512 bytes.
    pub longest_sectors: u32,
    /// The maximum number of ranges in a command.
    pub ranges: u32,
    /// The preferred alignment of ranges, in sectors.
    pub alignment_sectors: u32,
}

/// The limits of write-zeroes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteZeroesLimits {
    /// The longest range, in sectors of 512 bytes.
    pub longest_sectors: u32,
    /// The maximum number of ranges in a command.
    pub ranges: u32,
}

impl Default for Shape {
    /// A typical SSD: sectors of 512 bytes and pages of 4 KiB, a write cache, and discards of up to
    /// 1 GiB in each of 256 ranges.
    fn default() -> Self {
        Self {
            id: "ssdlab".to_owned(),
            logical_block_bytes: 512,
            physical_block_bytes: 4096,
            optimal_io_bytes: 0,
            segments: 126,
            write_cache: WriteCache::WriteBack,
            discard: Some(DiscardLimits {
                longest_sectors: 1 << 21,
                ranges: 256,
                alignment_sectors: 8,
            }),
            write_zeroes: Some(WriteZeroesLimits { longest_sectors: 1 << 15, ranges: 1 }),
        }
    }
}

/// What is wrong with a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeFault {
    /// Which value.
    pub what: &'static str,
    /// What is valid.
    pub expected: &'static str,
    /// Its value.
    pub found: String,
}

/// The configuration space in its memory layout.
#[derive(Debug, Clone, Copy, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
pub struct Config {
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
    reserved: u8,
    queues: U16,
    max_discard_sectors: U32,
    max_discard_ranges: U32,
    discard_alignment_sectors: U32,
    max_write_zeroes_sectors: U32,
    max_write_zeroes_ranges: U32,
    write_zeroes_may_unmap: u8,
    reserved_too: [u8; 3],
}

impl Shape {
    /// The shape of a drive; one that does not honour discards does not offer them.
    #[must_use]
    pub fn of(drive: &Specification) -> Self {
        let usual = Self::default();
        Self {
            id: drive.name.chars().filter(char::is_ascii_graphic).take(ID_BYTES).collect(),
            discard: usual.discard.filter(|_| drive.trim.honoured),
            segments: SATA_SEGMENTS,
            write_cache: WriteCache::Switchable,
            ..usual
        }
    }

    /// Checks that the shape is valid for a disk of this capacity.
    pub fn check(&self, capacity_bytes: u64) -> Result<(), ShapeFault> {
        let logical = u64::from(self.logical_block_bytes);
        let physical = u64::from(self.physical_block_bytes);
        let discard_alignment = self.discard.map_or(1, |limits| limits.alignment_sectors);
        let lengths = [
            self.discard.map_or(1, |limits| limits.longest_sectors),
            self.discard.map_or(1, |limits| limits.ranges),
            self.write_zeroes.map_or(1, |limits| limits.longest_sectors),
            self.write_zeroes.map_or(1, |limits| limits.ranges),
            discard_alignment,
            self.segments,
        ];
        let rules = [
            (
                self.id.len() <= ID_BYTES,
                "the disk's id",
                "at most 20 bytes",
                self.id.escape_debug().to_string(),
            ),
            (
                logical >= SECTOR_BYTES && logical.is_power_of_two(),
                "the size of a logical block in bytes",
                "512 or a larger power of two",
                logical.to_string(),
            ),
            (
                physical >= logical && physical.is_power_of_two(),
                "the size of a physical block in bytes",
                "the size of a logical block, or a larger power of two",
                physical.to_string(),
            ),
            (
                capacity_bytes > 0 && capacity_bytes.is_multiple_of(logical.max(1)),
                "the capacity in bytes",
                "a multiple of the logical block, and not 0",
                capacity_bytes.to_string(),
            ),
            (
                !lengths.contains(&0),
                "a limit on the length, ranges, alignment or segments of commands",
                "at least 1",
                "0".to_owned(),
            ),
        ];
        rules.into_iter().try_for_each(|(holds, what, expected, found)| {
            if holds { Ok(()) } else { Err(ShapeFault { what, expected, found }) }
        })
    }

    /// The features of the device.
    #[must_use]
    pub fn features(&self) -> Features {
        let mut features = Features::SEG_MAX | Features::BLK_SIZE | Features::TOPOLOGY;
        features.set(Features::FLUSH, self.write_cache != WriteCache::WriteThrough);
        features.set(Features::CONFIG_WCE, self.write_cache == WriteCache::Switchable);
        features.set(Features::DISCARD, self.discard.is_some());
        features.set(Features::WRITE_ZEROES, self.write_zeroes.is_some());
        features
    }

    /// The configuration space of a disk of this capacity.
    #[must_use]
    pub fn config(&self, capacity_bytes: u64) -> Config {
        let discard = self.discard;
        let zeroes = self.write_zeroes;
        let logical = self.logical_block_bytes;
        let exponent = self.physical_block_bytes.ilog2() - logical.ilog2();
        Config {
            capacity_sectors: (capacity_bytes / SECTOR_BYTES).into(),
            size_max: 0.into(),
            segments_max: self.segments.into(),
            geometry: [0; 4],
            block_bytes: logical.into(),
            physical_block_exponent: u8::try_from(exponent).expect("a logarithm of a u32"),
            alignment_offset: 0,
            min_io_blocks: 1.into(),
            optimal_io_blocks: (self.optimal_io_bytes / logical).into(),
            writeback: u8::from(self.write_cache != WriteCache::WriteThrough),
            reserved: 0,
            queues: 1.into(),
            max_discard_sectors: discard.map_or(0, |limits| limits.longest_sectors).into(),
            max_discard_ranges: discard.map_or(0, |limits| limits.ranges).into(),
            discard_alignment_sectors: discard.map_or(0, |limits| limits.alignment_sectors).into(),
            max_write_zeroes_sectors: zeroes.map_or(0, |limits| limits.longest_sectors).into(),
            max_write_zeroes_ranges: zeroes.map_or(0, |limits| limits.ranges).into(),
            write_zeroes_may_unmap: u8::from(zeroes.is_some()),
            reserved_too: [0; 3],
        }
    }
}

#[cfg(test)]
mod tests;

//! The specification of a drive: everything a [`crate::Drive`] is made from, with every default
//! filled in.
//!
//! [`Specification::parse`] makes one from a drive file; see [`crate::drive_file`].

use std::str::FromStr;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::units::{MILLION, Nanos};

/// A drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    pub name: String,
    /// The drive that it models, in a sentence.
    pub description: String,
    /// The bytes of a page: a power of two.
    pub page_bytes: u32,
    /// The pages the host sees (U).
    pub logical_pages: u32,
    /// The pages of a block, that is, of the unit of erasing: a superblock if there are any. On a
    /// drive that compresses it is the number of *compressed* pages that fit.
    pub pages_per_block: u32,
    /// How many erase blocks, each on a die of its own, make up a block.
    pub superblock: u32,
    /// The blocks that may hold data (T / `pages_per_block`). The blocks that the drive needs to
    /// write to while it collects come on top.
    pub blocks: u32,
    /// The compressed size of a page, in millionths of its size.
    pub compression_ppm: u32,
    /// How logical pages are mapped to flash.
    pub mapping: Mapping,
    /// How blocks wear.
    pub wear: Wear,
    /// The effect and the cost of a discard.
    pub trim: Trim,
    /// The effect of a power cut.
    pub power_loss: PowerLoss,
    /// What the drive tells its host about its write cache.
    pub write_cache: WriteCache,
    /// Memory for data on their way to the flash.
    pub write_buffer: Option<WriteBuffer>,
    /// Flash with one bit a cell, which takes all writes first.
    pub slc_cache: Option<SlcCache>,
    /// The part of the map in memory, if the whole does not fit.
    pub map_cache: Option<MapCache>,
    /// The times of operations; none for a drive without times.
    pub timing: Option<Timing>,
    /// The drive's work when it is idle.
    pub background: Option<Background>,
}

impl Specification {
    /// The bytes the host sees.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.logical_pages) * u64::from(self.page_bytes)
    }

    /// Whether the host sends it writes with forced unit access.
    pub fn takes_fua(&self) -> bool {
        self.write_cache == WriteCache::Back
            && self.timing.is_some_and(|timing| timing.fua_latency.is_some())
    }

    /// The bytes of flash that a number of pages take, after compression.
    pub(crate) fn stored_bytes(&self, pages: u64) -> u64 {
        let one = u64::from(self.page_bytes) * u64::from(self.compression_ppm);
        pages * (one / u64::from(MILLION))
    }

    /// The spare factor, `(T - U) / T`, in pages as stored.
    pub fn spare_factor(&self) -> f64 {
        let usable = f64::from(self.blocks) * f64::from(self.pages_per_block);
        1.0 - f64::from(self.logical_pages) / usable
    }
}

/// How logical pages are mapped to the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    Page {
        /// Which full block is collected.
        collection: VictimPolicy,
        /// Which pages are written side by side.
        frontiers: Frontiers,
    },
    /// A whole block at a time; writing a page out of order rewrites its block.
    Block {
        /// How many blocks may be open for writing at once.
        open_blocks: u32,
    },
    /// A log block for each of a few blocks (Kim et al., "A space-efficient flash translation
    /// layer for compactflash systems", 2002).
    Bast { log_blocks: u32 },
    /// Log blocks shared by all blocks, and one for a sequential stream (Lee et al., "A log
    /// buffer-based flash translation layer using fully-associative sector translation", 2007).
    Fast { log_blocks: u32 },
}

/// Which full block is collected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VictimPolicy {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one that was filled first.
    Fifo,
    Random,
    /// The one with the fewest valid pages among this many drawn at random.
    Choices(u32),
    /// The one with the best ratio of age and free space to work.
    CostBenefit,
}

/// Which pages are written into the same block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Frontiers {
    /// All.
    #[default]
    One,
    /// Pages written by the host separate from those copied by the collector.
    Collector,
    /// Pages the host tags as hot separate from the rest, each with its own spare space.
    HotCold,
}

impl Frontiers {
    /// How many blocks are open at once.
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Collector | Self::HotCold => 2,
        }
    }
}

/// How blocks wear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wear {
    /// How the drive spreads erases.
    pub levelling: Levelling,
    /// How often a block can be erased; none for no limit.
    pub endurance: Option<u32>,
}

/// How a drive spreads erases over its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Levelling {
    /// Not at all: the block erased last is used next.
    None,
    /// The least worn of the free blocks is used next; data that do not change stay.
    Dynamic,
    /// Data that do not change are moved, too.
    Static {
        /// The most that the erase counts of blocks may differ before data move.
        threshold: u32,
    },
}

impl Levelling {
    /// The default threshold of static wear levelling.
    pub const THRESHOLD: u32 = 100;
}

impl FromStr for Levelling {
    type Err = &'static str;

    /// Reads `none`, `dynamic`, `static` or, with its threshold, `static:N`; the error lists these.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (class, threshold) = text.split_once(':').map_or((text, None), |(c, t)| (c, Some(t)));
        match (class, threshold) {
            ("none", None) => Ok(Self::None),
            ("dynamic", None) => Ok(Self::Dynamic),
            ("static", None) => Ok(Self::Static { threshold: Self::THRESHOLD }),
            ("static", Some(threshold)) => match threshold.parse() {
                Ok(threshold) if threshold > 0 => Ok(Self::Static { threshold }),
                _ => Err("static:N takes a whole number of erases, 1 or more"),
            },
            _ => Err("one of none, dynamic, static, static:N"),
        }
    }
}

/// The effect and the cost of a discard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trim {
    /// Whether the drive forgets what is discarded (default true).
    pub honoured: bool,
    /// Whether a discard waits for all commands before it and blocks all after it (default false).
    pub blocking: bool,
    /// What discarded sectors read after a power cut: `zeros` (default) or `old-or-zeros`.
    pub reads: TrimmedReads,
    /// The time of a command.
    pub per_command: Nanos,
    /// The additional time of each discarded page that held data.
    pub per_mapped_page: Nanos,
    /// The additional time of each discarded MiB without data.
    #[schemars(example = &"1 us")]
    pub per_unmapped_mib: Nanos,
}

impl Default for Trim {
    fn default() -> Self {
        Self {
            honoured: true,
            blocking: false,
            reads: TrimmedReads::default(),
            per_command: Nanos::ZERO,
            per_mapped_page: Nanos::ZERO,
            per_unmapped_mib: Nanos::ZERO,
        }
    }
}

/// What reads after a power cut return of sectors whose discard was flushed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrimmedReads {
    /// Zeros.
    #[default]
    Zeros,
    /// Zeros, or what they held before.
    OldOrZeros,
}

/// The effect of a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerLoss {
    /// Whether the drive has the energy to save its write buffer.
    pub protection: bool,
    /// What a flush does.
    pub flush: Flush,
    /// What else it may do to the flash.
    pub fault: PowerFault,
    /// The size of aligned units that are written as a whole or not at all: a power of two.
    pub atomic_write_bytes: u32,
}

/// What a flush, or a write with forced unit access, does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Flush {
    /// It is acknowledged once the data are safe.
    #[default]
    Honest,
    /// It is acknowledged, but does nothing.
    Ignored,
}

/// What a drive tells its host about its write cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteCache {
    /// It is volatile: the host flushes it.
    #[default]
    Back,
    /// Whatever the drive has acknowledged is safe: the host sends no flushes.
    Through,
}

/// What a power cut may do to data that were safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PowerFault {
    /// Nothing.
    #[default]
    None,
    /// It may lose a part of the map: one cut in eight costs a third of the blocks. Of 15 drives
    /// one lost a third of its blocks, with its eighth cut (M. Zheng and others, "Understanding the
    /// Robustness of SSDs under Power Fault", FAST 2013).
    LostMap,
}

/// Memory for data on their way to the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBuffer {
    /// How many pages fit.
    pub pages: u32,
}

/// Flash with one bit a cell, which takes all writes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcCache {
    /// How many blocks, besides those for data.
    pub blocks: u32,
    /// The pages such a block holds.
    pub pages_per_block: u32,
    /// The times of reading and programming a page there.
    pub cell: Option<Cell>,
    /// What it holds on the real drive, if the capacity leaves less.
    pub cut_from_bytes: Option<u64>,
}

/// The part of the map in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapCache {
    /// How many pages of the map fit.
    pub map_pages: u32,
    /// How many logical pages a page of the map covers.
    pub covers_pages: u32,
}

/// The times of a page's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// To read a page into the die's register.
    pub read: Nanos,
    /// To program a page from the die's register.
    pub program: Nanos,
}

/// The times of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Buses to the dies.
    pub channels: u32,
    pub dies_per_channel: u32,
    /// Planes per die; each works independently.
    pub planes: u32,
    /// The data cells.
    pub cell: Cell,
    /// To erase a block.
    pub erase: Nanos,
    /// To carry a page between the controller and a die.
    pub transfer: Nanos,
    /// To interrupt a program or an erase for a read of the host, if the dies can.
    pub suspend: Option<Nanos>,
    /// Bytes a second from the drive to the host.
    pub link_read_rate: u64,
    /// Bytes a second from the host to the drive.
    pub link_write_rate: u64,
    /// The controller's own time, in which it does nothing else.
    pub controller: Controller,
    /// The additional time of a read that does not occupy the controller.
    pub read_latency: Nanos,
    /// The additional time of a write that does not occupy the controller.
    pub write_latency: Nanos,
    /// The additional time of a flush, once the buffer is on the flash, if anything was changed
    /// since the last: most of a flush's time on drives that then write their map.
    pub flush_latency: Nanos,
    /// The additional time of a write with forced unit access, once its data are on the flash; none
    /// if the host sends no such writes, but flushes instead.
    pub fua_latency: Option<Nanos>,
}

impl Timing {
    /// Planes that work independently of each other.
    pub const fn units(&self) -> u32 {
        self.channels * self.dies_per_channel * self.planes
    }
}

/// The controller's own time, by what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Controller {
    /// A command that reads.
    pub per_read: Nanos,
    /// A command that writes.
    pub per_write: Nanos,
    /// A page it copies for itself.
    pub per_copy: Nanos,
}

/// The drive's work when it is idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Background {
    /// The idle time after which it begins.
    pub after: Nanos,
    /// The number of blocks that it then makes free.
    pub free_blocks: u32,
}

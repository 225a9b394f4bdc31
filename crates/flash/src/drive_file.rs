//! The TOML file that describes a drive, and how it becomes a fully explicit
//! [`Specification`](crate::Specification).
//!
//! Unknown keys are refused, so a typo cannot change a drive silently. Keys that matter only to
//! another mapping or collection than the file's are allowed, so that one file can be tried with
//! several.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use ssdlab_quantity::{Bytes, Rate, Share, in_words, was_meant};
use toml::Spanned;

use crate::evidence::{Evidence, EvidenceByKey, Value};
use crate::figures::DriveFigures;
use crate::specification::{Flush, Frontiers, PowerFault, Trim, WriteCache};
use crate::units::Nanos;

mod capacity;
mod resolve;

/// The default page size in bytes.
const PAGE_BYTES: u32 = 4096;

/// The default number of pages per block.
const PAGES_PER_BLOCK: u32 = 256;

/// An invalid drive file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DriveFileError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the file it is about, if any.
    pub at: Option<Range<usize>>,
    /// What to do.
    pub help: String,
}

/// A drive as written in a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveFile {
    /// Its name.
    #[schemars(example = &"my-drive")]
    pub name: String,
    /// The drive that it models, in a sentence.
    #[serde(default)]
    #[schemars(example = &"a drive of 2026 with a small write buffer")]
    pub description: String,
    /// The capacity that the host sees.
    #[schemars(with = "Bytes")]
    pub capacity: Spanned<Bytes>,
    /// The part of the flash that is spare: (T - U) / T, where U is the capacity and T the flash
    /// that may hold data.
    #[schemars(with = "f64")]
    pub spare_factor: Spanned<f64>,
    /// The page size, in which pages are mapped and programmed (default 4 KiB).
    #[schemars(with = "Option<Bytes>")]
    pub page: Option<Spanned<Bytes>>,
    /// The pages of an erase block (default 256).
    #[schemars(with = "Option<u32>")]
    pub pages_per_block: Option<Spanned<u32>>,
    /// How many erase blocks, each on a die of its own, are filled and erased together
    /// (default 1).
    #[schemars(with = "Option<u32>")]
    pub superblock: Option<Spanned<u32>>,
    /// The compressed size of a page, as a share of its size (default 1).
    #[schemars(with = "Option<f64>")]
    pub compression: Option<Spanned<f64>>,
    /// How logical pages are mapped to flash (default `page`).
    #[serde(default)]
    pub mapping: MappingName,
    /// For `block`: how many blocks may be open for writing at once (default 1).
    #[schemars(with = "Option<u32>")]
    pub open_blocks: Option<Spanned<u32>>,
    /// For `bast` and `fast`: the number of log blocks, as a share of the data blocks.
    #[schemars(with = "Option<f64>")]
    #[schemars(example = 0.03)]
    pub log_fraction: Option<Spanned<f64>>,
    /// For `page`: which full block is collected (default `greedy`).
    #[serde(default)]
    pub collection: CollectionName,
    /// For `d-choices`: how many blocks are drawn (default 10).
    #[schemars(with = "Option<u32>")]
    #[schemars(example = 10)]
    pub choices: Option<Spanned<u32>>,
    /// For `page`: which pages share a block being filled (default `one`).
    #[serde(default)]
    pub frontiers: Frontiers,
    /// Whether the drive has the energy to save its write buffer when the power fails (default
    /// false).
    #[serde(default)]
    pub power_loss_protection: bool,
    /// What a flush does: `honest` (default) makes what was written safe, `ignored` does nothing.
    #[serde(default)]
    pub flush: Flush,
    /// What the drive tells its host about its write cache: `back` (default), that it has to be
    /// flushed, or `through`, that whatever is acknowledged is safe, as many drives with capacitors
    /// do: Linux sends these no flushes.
    #[schemars(with = "Option<WriteCache>")]
    #[schemars(example = &"through")]
    pub write_cache: Option<Spanned<WriteCache>>,
    /// What a power failure may do to data that were safe: `none` (default), or `lost-map`: one in
    /// eight costs a third of the blocks, which then read as before the trial.
    #[serde(default)]
    #[schemars(example = &"lost-map")]
    pub power_fault: PowerFault,
    /// The size of aligned units that survive a power failure as a whole or not at all (default 512
    /// bytes, a sector).
    #[schemars(with = "Option<Bytes>")]
    pub atomic_write_unit: Option<Spanned<Bytes>>,
    /// How blocks wear.
    #[serde(default)]
    pub wear: WearTable,
    /// The effect and the cost of a discard.
    #[serde(default)]
    pub trim: Trim,
    /// Memory for data on their way to the flash.
    pub write_buffer: Option<WriteBufferTable>,
    /// Flash with one bit a cell, which takes all writes first.
    pub slc_cache: Option<SlcCacheTable>,
    /// The part of the map in memory, if the whole does not fit.
    pub map_cache: Option<MapCacheTable>,
    /// The times of operations; `"none"` (the default) for a drive without times.
    #[serde(default)]
    #[schemars(with = "Option<TimingTable>")]
    pub timing: MaybeTiming,
    /// The drive's work when it is idle.
    pub background: Option<BackgroundTable>,
    /// The evidence for the values, by their keys: [`[evidence.KEY]`](#evidencekey).
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Evidence>")]
    pub evidence: EvidenceByKey,
    /// Published figures of the real drive, by names: `ssdlab drive show vertex-le` has some.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Value>>")]
    pub figures: DriveFigures,
}

/// How logical pages find their place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MappingName {
    /// Every page on its own.
    #[default]
    Page,
    /// A whole block at a time.
    Block,
    /// By blocks, with a log block for each of a few.
    Bast,
    /// By blocks, with log blocks that all share.
    Fast,
}

/// Which full block is collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CollectionName {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// Any.
    Random,
    /// The one with the fewest valid pages among a few drawn at random.
    DChoices,
    /// The one with the best relation of age and free space to work.
    CostBenefit,
}

/// How blocks wear.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WearTable {
    /// How the drive spreads erases (default `none`).
    #[serde(default)]
    pub levelling: LevellingName,
    /// For `static`: the most that erase counts may differ before data move (default 100).
    #[schemars(with = "Option<u32>")]
    pub threshold: Option<Spanned<u32>>,
    /// How often a block can be erased (default: for ever).
    #[schemars(with = "Option<u32>")]
    pub endurance: Option<Spanned<u32>>,
}

/// How a drive spreads erases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LevellingName {
    /// Not at all.
    #[default]
    None,
    /// The least worn free block is used next.
    Dynamic,
    /// Data that do not change are moved, too.
    Static,
}

/// Memory for data on their way to the flash.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteBufferTable {
    /// Its size.
    #[schemars(with = "Bytes")]
    pub size: Spanned<Bytes>,
}

/// Flash with one bit a cell.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCacheTable {
    /// What it holds.
    #[schemars(with = "Bytes")]
    pub size: Spanned<Bytes>,
    /// The bits a cell holds outside the cache: a block holds so many times fewer pages in it.
    #[schemars(with = "u32")]
    pub bits_per_cell: Spanned<u32>,
    /// Its size in the file, if the drive was given a capacity whose flash cannot hold it.
    #[serde(skip)]
    pub cut_from: Option<Bytes>,
    /// To read a page there into the die's register.
    pub read: Option<Nanos>,
    /// To program a page there from the die's register.
    pub program: Option<Nanos>,
}

/// The part of the map in memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapCacheTable {
    /// Its size.
    #[schemars(with = "Bytes")]
    pub size: Spanned<Bytes>,
    /// The size of an entry (default 4 bytes).
    #[schemars(with = "Option<Bytes>")]
    #[schemars(example = &"4 B")]
    pub entry: Option<Spanned<Bytes>>,
}

/// The times of operations, or `"none"`.
#[derive(Debug, Clone, Default)]
pub struct MaybeTiming(pub Option<TimingTable>);

/// The times of operations.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimingTable {
    /// Buses to the dies.
    #[schemars(with = "u32")]
    pub channels: Spanned<u32>,
    /// Dies per channel.
    #[schemars(with = "u32")]
    pub dies_per_channel: Spanned<u32>,
    /// Planes per die, each of which works independently (default 1).
    #[schemars(with = "Option<u32>")]
    pub planes: Option<Spanned<u32>>,
    /// To read a page into the die's register.
    pub read: Nanos,
    /// To program a page from the die's register.
    pub program: Nanos,
    /// To erase a block.
    pub erase: Nanos,
    /// The bandwidth of a channel.
    pub bus: Rate,
    /// To interrupt a program or an erase for a read of the host (default: they cannot be).
    #[schemars(example = &"50 us")]
    pub suspend: Option<Nanos>,
    /// The bandwidth of the link from the drive to the host.
    pub link_read: Rate,
    /// The bandwidth of the link from the host to the drive.
    pub link_write: Rate,
    /// The controller's own time for a command that reads.
    #[serde(default)]
    pub controller_read: Nanos,
    /// The controller's own time for a command that writes.
    #[serde(default)]
    pub controller_write: Nanos,
    /// The controller's own time for a page it copies for itself.
    #[serde(default)]
    pub controller_copy: Nanos,
    /// The additional time of a read that does not occupy the controller.
    #[serde(default)]
    pub read_latency: Nanos,
    /// The additional time of a write that does not occupy the controller.
    #[serde(default)]
    pub write_latency: Nanos,
    /// The additional time of a flush, once the buffer is on the flash, if anything was changed
    /// since the last.
    #[serde(default)]
    pub flush_latency: Nanos,
    /// The additional time of a write with forced unit access (FUA), once its data are on the
    /// flash. Without it Linux sends a write and a flush instead, as to SATA drives, whose FUA it
    /// does not use by default.
    #[schemars(example = &"800 us")]
    pub fua_latency: Option<Nanos>,
}

/// The drive's work when it is idle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundTable {
    /// The idle time after which it begins.
    pub after: Nanos,
    /// The share of its blocks that it then makes free.
    pub free: Share,
}

impl<'de> Deserialize<'de> for MaybeTiming {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NoneOrTable;

        impl<'de> Visitor<'de> for NoneOrTable {
            type Value = MaybeTiming;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"none\" or a table [timing]")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MaybeTiming, E> {
                match text {
                    "none" => Ok(MaybeTiming(None)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MaybeTiming, A::Error> {
                TimingTable::deserialize(MapAccessDeserializer::new(map))
                    .map(|timing| MaybeTiming(Some(timing)))
            }
        }

        deserializer.deserialize_any(NoneOrTable)
    }
}

impl DriveFile {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Self, DriveFileError> {
        toml::from_str(text).map_err(|error| DriveFileError {
            message: in_words(error.message()),
            at: error.span(),
            help: was_meant(error.message())
                .unwrap_or_else(|| "`ssdlab drive show ideal` is a complete drive file".to_owned()),
        })
    }
}

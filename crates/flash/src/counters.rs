//! The counters: the host's commands, and the flash's operations by reason.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::Nanos;

/// What the host has asked for since counting began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostCounters {
    /// Commands of any kind.
    pub commands: u64,
    /// Bytes read.
    #[serde(rename = "host_read_bytes")]
    pub read_bytes: u64,
    /// Bytes written, zeros included.
    #[serde(rename = "host_written_bytes")]
    pub written_bytes: u64,
    /// Pages written, in whole or in part.
    #[serde(rename = "host_pages")]
    pub written_pages: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Pages that held data when they were discarded.
    pub trimmed_pages: u64,
    /// Flushes.
    pub flushes: u64,
}

/// Why the flash is read, programmed or erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationReason {
    /// The host asked for it.
    Host,
    /// To collect invalid pages into erased blocks.
    Collection,
    /// To merge new pages with a block's other pages (block and hybrid mapping).
    Merge,
    /// To fold the SLC cache into the data blocks.
    Fold,
    /// To wear blocks evenly.
    Levelling,
    /// To read or write the mapping itself.
    Map,
}

impl OperationReason {
    pub const ALL: [Self; 6] =
        [Self::Host, Self::Collection, Self::Merge, Self::Fold, Self::Levelling, Self::Map];

    /// The name it has in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Collection => "collection",
            Self::Merge => "merge",
            Self::Fold => "fold",
            Self::Levelling => "levelling",
            Self::Map => "map",
        }
    }
}

/// Counts of one kind of flash operation, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlashOperations {
    counts: [u64; OperationReason::ALL.len()],
}

impl FlashOperations {
    pub const fn count(&self, why: OperationReason) -> u64 {
        self.counts[why as usize]
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn add(&mut self, why: OperationReason) {
        self.add_all(why, 1);
    }

    pub(crate) fn add_all(&mut self, why: OperationReason, count: u32) {
        self.counts[why as usize] += u64::from(count);
    }
}

/// The flash's operations since counting began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlashCounters {
    /// Pages read.
    pub reads: FlashOperations,
    /// Pages programmed.
    pub programs: FlashOperations,
    /// Blocks erased; with superblocks, superblocks.
    pub erases: FlashOperations,
    /// How long the host's pages have waited for dies that were busy with the drive's own work,
    /// summed over pages.
    pub stalled: Nanos,
}

//! What a simulated drive went through in a trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A simulated drive from the first phase of a trial to its end. The lists are moments: the nth
/// numbers of all belong together, and there are at most some dozen of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveCourse {
    /// When each phase began, in ns since the first one did.
    pub phases_ns: BTreeMap<String, u64>,
    /// The moments, in ns since the first phase began.
    pub at_ns: Vec<u64>,
    /// Erased blocks ready to be written; with superblocks, superblocks.
    pub free_blocks: Vec<u32>,
    /// Bytes of the pages that the host had written since then.
    pub host_page_bytes: Vec<u64>,
    /// Bytes programmed since then, for the host and for the drive's own work.
    pub flash_written_bytes: Vec<u64>,
    /// How long the host's pages had waited since then for dies that were busy with the drive's
    /// own work, summed over pages, in ns.
    pub stalled_ns: Vec<u64>,
    /// How worn it was at the end, its life before the trial included.
    pub wear: Wear,
}

/// Erase counts of the blocks for data; with superblocks, of superblocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wear {
    /// How many blocks there are.
    pub blocks: u32,
    /// The fewest erases of a block.
    pub least: u32,
    /// Half of the blocks have at most so many.
    pub median: u32,
    /// The most erases of a block.
    pub most: u32,
    /// The mean.
    pub mean: f64,
    /// What a block can take; absent if for ever.
    pub endurance: Option<u32>,
    /// Bins of equal width from the fewest to the most erases.
    pub histogram: Vec<WearBin>,
}

/// A bin of a histogram of erase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WearBin {
    /// The fewest erases that belong here.
    pub from: u32,
    /// The most erases that belong here.
    pub to: u32,
    /// How many blocks have so many.
    pub blocks: u32,
}

//! What came of a simulation, as it is printed and written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::{Conditioned, Specification, WearSummary};

use super::Settings;

/// What came of a simulation. Everything is counted from the end of conditioning and warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The drive's name.
    pub drive: String,
    /// What the host sees.
    pub capacity_bytes: u64,
    /// The spare factor: (T - U) / T, to whole blocks.
    pub spare_factor: f64,
    /// A page.
    pub page_bytes: u32,
    /// The seed of everything random.
    pub seed: u64,
    /// What else it was run with.
    #[serde(flatten)]
    pub settings: Settings,
    /// Rounds of random overwrites on the way to the steady state, if that was asked for.
    pub conditioning_rounds: u32,
    /// Whether the steady state was reached, if it was asked for.
    pub is_steady: Option<bool>,
    /// What was read of a trace, if there was one.
    pub trace: Option<Replayed>,

    /// Bytes written to flash for each byte the host has written; none if it has written none.
    pub write_amplification: Option<f64>,
    /// Pages the host has written, in whole or in part.
    pub host_pages: u64,
    /// Pages programmed.
    pub flash_pages: u64,
    /// Pages programmed for each reason.
    pub flash_pages_by_reason: BTreeMap<String, u64>,
    /// Pages read from flash.
    pub flash_read_pages: u64,
    /// Blocks erased; of a superblock each counts.
    pub erases: u64,
    /// Bytes the host has written.
    pub host_written_bytes: u64,
    /// Bytes the host has read.
    pub host_read_bytes: u64,
    /// Bytes the host has discarded.
    pub discarded_bytes: u64,
    /// Pages that held data when they were discarded.
    pub trimmed_pages: u64,
    /// Commands.
    pub commands: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes written to flash.
    pub flash_written_bytes: u64,

    /// How worn the blocks are at the end, conditioning included.
    pub wear: WearOutcome,
    /// How long the drive would last; none if it lasts for ever or nothing was erased.
    pub lifetime: Option<Lifetime>,
    /// Whether too many blocks are worn out to go on writing.
    pub is_worn_out: bool,

    /// Virtual time; none for a drive outside time.
    pub simulated_ns: Option<u64>,
    /// Bytes the host has written each second of virtual time.
    pub written_bytes_per_second: Option<f64>,
    /// Bytes the host has read each second of virtual time.
    pub read_bytes_per_second: Option<f64>,
    /// How long the host's pages have waited for the drive's own work, summed over pages.
    pub stalled_ns: Option<u64>,
    /// What commands have taken, by kind.
    pub latencies: Vec<Latency>,

    /// The drive's state over time; not in lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sample>,
}

/// What was read of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replayed {
    /// The trace.
    #[serde(flatten)]
    pub of: TraceFiles,
    /// Requests.
    pub requests: u64,
    /// From the first request to the last.
    pub duration_ns: u64,
    /// Where and how the trace is cut off, if it is.
    pub cut_off: Option<String>,
}

/// A trace, and what is taken of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceFiles {
    /// Its files, as they were named.
    pub files: Vec<String>,
    /// Which drive of a trace with several, if that was said.
    pub drive: Option<String>,
    /// Whether its requests are taken as they were queued, not as they were issued to the drive.
    pub is_queued: bool,
}

/// What commands of a kind have taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The kind.
    pub command: String,
    /// How many.
    pub count: u64,
    /// Half took at most so long.
    pub p50_ns: u64,
    /// 90 % took at most so long.
    pub p90_ns: u64,
    /// 99 % took at most so long.
    pub p99_ns: u64,
    /// 99.9 % took at most so long.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// A moment of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When; 0 for a drive outside time.
    pub at_ns: u64,
    /// Pages the host had written by then.
    pub host_pages: u64,
    /// Erased blocks ready to be written.
    pub free_blocks: u32,
    /// The same in the SLC cache, where there is one.
    pub free_slc_blocks: Option<u32>,
    /// Pages that held data.
    pub mapped_pages: u32,
    /// Write amplification since the sample before.
    pub write_amplification: Option<f64>,
}

/// How worn blocks are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WearOutcome {
    /// The fewest erases of a block.
    pub least: u32,
    /// Half of the blocks have at most so many.
    pub median: u32,
    /// The most erases of a block.
    pub most: u32,
    /// The mean.
    pub mean: f64,
    /// What a block can take; none for ever.
    pub endurance: Option<u32>,
    /// Bins of erase counts; not in lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<WearBin>,
}

/// A bin of erase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WearBin {
    /// The fewest erases that belong here.
    pub from: u32,
    /// The most erases that belong here.
    pub to: u32,
    /// How many blocks (with superblocks: superblocks) have so many.
    pub blocks: u32,
}

/// How long a drive would last if it went on so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lifetime {
    /// Bytes the host can still write until the first block is worn out.
    pub host_bytes_to_first_block: f64,
    /// Bytes the host can still write until the average block is worn out.
    pub host_bytes_to_average: f64,
    /// The years until the average block is worn out; none for a drive outside time.
    pub years_to_average: Option<f64>,
    /// The years until the first block is worn out.
    pub years_to_first_block: Option<f64>,
}

/// Outcomes as JSON: one is an object, several are a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Sequence<T> {
    /// One.
    One(T),
    /// Several.
    Several(Vec<T>),
}

impl<T> From<Vec<T>> for Sequence<T> {
    fn from(mut several: Vec<T>) -> Self {
        match several.pop() {
            Some(one) if several.is_empty() => Self::One(one),
            last => {
                several.extend(last);
                Self::Several(several)
            }
        }
    }
}

impl Outcome {
    /// An outcome of which only the beginning is known.
    pub(super) fn new(
        specification: &Specification,
        seed: u64,
        settings: Settings,
        conditioned: &Conditioned,
    ) -> Self {
        Self {
            drive: specification.name.clone(),
            capacity_bytes: specification.capacity_bytes(),
            spare_factor: specification.spare_factor(),
            page_bytes: specification.page_bytes,
            seed,
            settings,
            conditioning_rounds: conditioned.rounds,
            is_steady: conditioned.is_steady,
            trace: None,
            write_amplification: None,
            host_pages: 0,
            flash_pages: 0,
            flash_pages_by_reason: BTreeMap::new(),
            flash_read_pages: 0,
            erases: 0,
            host_written_bytes: 0,
            host_read_bytes: 0,
            discarded_bytes: 0,
            trimmed_pages: 0,
            commands: 0,
            flushes: 0,
            flash_written_bytes: 0,
            wear: WearOutcome {
                least: 0,
                median: 0,
                most: 0,
                mean: 0.0,
                endurance: specification.wear.endurance,
                histogram: Vec::new(),
            },
            lifetime: None,
            is_worn_out: false,
            simulated_ns: None,
            written_bytes_per_second: None,
            read_bytes_per_second: None,
            stalled_ns: None,
            latencies: Vec::new(),
            series: Vec::new(),
        }
    }

    /// As a line of a sweep has it: without what takes more room than everything else.
    #[must_use]
    pub fn without_series(mut self) -> Self {
        self.series = Vec::new();
        self.wear.histogram = Vec::new();
        self
    }
}

impl WearOutcome {
    pub(super) fn new(wear: &WearSummary, endurance: Option<u32>) -> Self {
        let bins = wear.histogram.iter();
        Self {
            least: wear.least,
            median: wear.median,
            most: wear.most,
            mean: wear.mean(),
            endurance,
            histogram: bins
                .map(|bin| WearBin { from: bin.from, to: bin.to, blocks: bin.blocks })
                .collect(),
        }
    }
}

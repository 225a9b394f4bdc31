//! What came of a simulation, as it is printed and written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_flash::{HostCounters, Lifetime, Moment, WearSummary};
use ssdlab_latency::LatencySummary;

use super::Settings;

/// What came of a simulation. Everything is counted from the end of conditioning and warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    /// What the host has asked for.
    #[serde(flatten)]
    pub host: HostCounters,
    /// Pages programmed.
    pub flash_pages: u64,
    /// Pages programmed for each reason.
    pub flash_pages_by_reason: BTreeMap<String, u64>,
    /// Pages read from flash.
    pub flash_read_pages: u64,
    /// Blocks erased; of a superblock each counts.
    pub erases: u64,
    /// Bytes written to flash.
    pub flash_written_bytes: u64,

    /// How worn the blocks are at the end, conditioning included.
    pub wear: WearSummary,
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
    pub latencies: Vec<CommandLatency>,

    /// The drive's state over time; not in lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sample>,
}

/// What was read of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceFiles {
    /// Its files, as they were named.
    pub files: Vec<String>,
    /// Which drive of a trace with several, if that was said.
    pub drive: Option<String>,
    /// Whether its requests are taken as they were queued, not as they were issued to the drive.
    pub is_queued: bool,
}

/// What commands of a kind have taken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommandLatency {
    /// The kind.
    pub command: String,
    /// How many.
    pub count: u64,
    /// How long they took.
    #[serde(flatten)]
    pub summary: LatencySummary,
}

/// A moment of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sample {
    /// The drive by then.
    #[serde(flatten)]
    pub moment: Moment,
    /// Write amplification since the sample before.
    pub write_amplification: Option<f64>,
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
    /// As a line of a sweep has it: without what takes more room than everything else.
    #[must_use]
    pub fn without_series(mut self) -> Self {
        self.series = Vec::new();
        self.wear.histogram = Vec::new();
        self
    }
}

//! The outcome of a simulation, as printed and written.

use std::collections::BTreeMap;

use crate::{DriveSample, HostCounters, Lifetime, WearSummary};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::latency::LatencySummary;
use ssdlab_trace::ClampedTimes;

use super::Settings;

/// The outcome of a simulation. Everything is counted from the end of conditioning and warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub struct SimulationOutcome {
    /// The drive's name.
    pub drive: String,
    /// The capacity visible to the host.
    pub capacity_bytes: u64,
    /// The spare factor, (T - U) / T, in whole blocks.
    pub spare_factor: f64,
    /// The size of a page.
    pub page_bytes: u32,
    /// The seed of everything random.
    pub seed: u64,
    /// The other settings.
    #[serde(flatten)]
    pub settings: Settings,
    /// Rounds of random overwrites until the steady state, if that was requested.
    pub conditioning_rounds: u32,
    /// Whether the steady state was reached, if it was requested.
    pub is_steady: Option<bool>,
    /// The replayed trace, if there was one.
    pub trace: Option<Replayed>,

    /// Bytes written to flash for each byte written by the host; absent if there are none.
    pub write_amplification: Option<f64>,
    /// The host's commands.
    #[serde(flatten)]
    pub host: HostCounters,
    /// Pages programmed.
    pub flash_pages: u64,
    /// Pages programmed for each reason.
    pub flash_pages_by_reason: BTreeMap<String, u64>,
    /// Pages read from flash.
    pub flash_read_pages: u64,
    /// Blocks erased, counting each block of a superblock.
    pub erases: u64,
    /// Bytes written to flash.
    pub flash_written_bytes: u64,

    /// The wear of the blocks at the end, including conditioning.
    pub wear: WearSummary,
    /// How long the drive would last; absent if for ever, or if nothing was erased.
    pub lifetime: Option<Lifetime>,
    /// Whether too many blocks are worn out to continue writing.
    pub is_worn_out: bool,

    /// Virtual time; absent for a drive without timing.
    pub simulated_ns: Option<u64>,
    /// Bytes written by the host per second of virtual time.
    pub written_bytes_per_second: Option<f64>,
    /// Bytes read by the host per second of virtual time.
    pub read_bytes_per_second: Option<f64>,
    /// How long the host's pages waited for the drive's own work, summed over pages.
    pub stalled_ns: Option<u64>,
    /// The latencies of commands, by kind.
    pub latencies: Vec<CommandLatency>,

    /// The drive's state over time; omitted from lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SimulationSample>,
}

/// A replayed trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Replayed {
    /// The trace.
    #[serde(flatten)]
    pub of: TraceFiles,
    /// Requests.
    pub requests: u64,
    /// From the first request to the last.
    pub duration_ns: u64,
    /// The times that went backwards, as its reader found.
    pub clamped: ClampedTimes,
    /// Where and how the trace is truncated, if it is.
    pub cut_off: Option<String>,
}

/// A trace, and the selected part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceFiles {
    /// Its files, as named on the command line.
    pub files: Vec<String>,
    /// The selected drive of a trace with several.
    pub drive: Option<String>,
    /// Whether its requests are read as queued, not as issued to the drive.
    pub is_queued: bool,
}

/// The latencies of a kind of command.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommandLatency {
    /// The kind.
    pub command: String,
    /// How many.
    pub count: u64,
    /// Their latencies.
    #[serde(flatten)]
    pub summary: LatencySummary,
}

/// A moment of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Sample")]
pub struct SimulationSample {
    /// The drive's state.
    #[serde(flatten)]
    pub moment: DriveSample,
    /// Write amplification since the previous sample.
    pub write_amplification: Option<f64>,
}

/// Outcomes as JSON: an object if there is one, otherwise a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum OneOrSeveral<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> From<Vec<T>> for OneOrSeveral<T> {
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

impl SimulationOutcome {
    /// The outcome as a line of a sweep, without the largest parts.
    #[must_use]
    pub fn without_series(mut self) -> Self {
        self.series = Vec::new();
        self.wear.histogram = Vec::new();
        self
    }
}

//! The operations of a phase that counts its own: how many, how fast, and their latencies.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_stats::latency::LatencySummary;
use ssdlab_workload::engine::{EngineSeries, OperationTally};

/// The operations of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Operations.
    pub operations: u64,
    /// Operations per second, by the phase's own clock.
    pub ops_per_second: f64,
    /// Bytes read or written per second, by the same clock; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Their latencies.
    pub latency: Latency,
    /// Their ends over time.
    pub series: EngineSeries,
}

/// The latencies of operations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Mean, percentiles and maximum.
    #[serde(flatten)]
    pub summary: LatencySummary,
    /// All of them: an `HdrHistogram` in compressed V2 format, in base64.
    pub histogram: String,
}

impl Work {
    /// The counted operations; `None` if there were none or no time passed.
    pub fn of(counted: &OperationTally) -> Option<Self> {
        let seconds = counted.took.as_secs_f64();
        let summary = LatencySummary::of(&counted.latencies).filter(|_| seconds > 0.0)?;
        let (mut packed, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
        serializer.serialize(&counted.latencies, &mut packed).expect("a Vec takes everything");
        Some(Self {
            operations: counted.operations,
            ops_per_second: counted.operations as f64 / seconds,
            bytes_per_second: (counted.bytes > 0).then(|| counted.bytes as f64 / seconds),
            latency: Latency { summary, histogram: BASE64_STANDARD.encode(packed) },
            series: counted.series.clone(),
        })
    }
}

#[cfg(test)]
mod tests;

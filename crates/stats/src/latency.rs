//! Defines the common summary of latencies, measured by a workload, a trace, a simulation or a
//! served drive.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latencies of operations, to the precision of the histogram they were recorded in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// The mean, in ns.
    pub mean_ns: f64,
    /// The median, in ns.
    pub p50_ns: u64,
    /// What one in ten exceeded, in ns.
    pub p90_ns: u64,
    /// What one in a hundred exceeded, in ns.
    pub p99_ns: u64,
    /// What one in a thousand exceeded, in ns.
    pub p999_ns: u64,
    /// The longest, in ns.
    pub max_ns: u64,
}

impl LatencySummary {
    /// Summarizes a histogram of nanoseconds; `None` if it is empty.
    pub fn of(latencies: &Histogram<u64>) -> Option<Self> {
        let at = |quantile| latencies.value_at_quantile(quantile);
        (!latencies.is_empty()).then(|| Self {
            mean_ns: latencies.mean(),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: latencies.max(),
        })
    }
}

#[cfg(test)]
mod tests;

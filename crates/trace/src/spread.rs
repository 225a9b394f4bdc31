//! Defines the distribution of values, in bounded memory.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::latency::LatencySummary;

/// The distribution of sizes or distances, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Spread")]
pub struct SizeSpread {
    /// The minimum.
    pub least_bytes: u64,
    /// The median; exact for multiples of 512 bytes below 1 MiB, otherwise to three digits.
    pub median_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// The maximum.
    pub most_bytes: u64,
}

/// Accumulates values.
#[derive(Debug)]
pub struct Values {
    histogram: Histogram<u64>,
    least: u64,
    most: u64,
    sum: u128,
}

impl Values {
    pub fn new() -> Self {
        // Three digits are kept; the range grows as needed.
        let histogram = Histogram::new(3).expect("3 digits are in its range");
        Self { histogram, least: u64::MAX, most: 0, sum: 0 }
    }

    pub fn add(&mut self, value: u64) {
        self.histogram.record(value).expect("the histogram grows as needed");
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.sum += u128::from(value);
    }

    /// Their distribution, if there are any.
    pub fn spread(&self) -> Option<SizeSpread> {
        let median = self.histogram.value_at_quantile(0.5);
        (!self.histogram.is_empty()).then(|| SizeSpread {
            least_bytes: self.least,
            // A bin is represented by its lowest value, which is the round one.
            median_bytes: self.histogram.lowest_equivalent(median).clamp(self.least, self.most),
            mean_bytes: self.mean(),
            most_bytes: self.most,
        })
    }

    /// Their summary as latencies, if there are any. Mean and maximum are exact, and no percentile
    /// is above the maximum.
    pub fn latencies(&self) -> Option<LatencySummary> {
        let found = LatencySummary::of(&self.histogram)?;
        Some(LatencySummary {
            mean_ns: self.mean(),
            p50_ns: found.p50_ns.min(self.most),
            p90_ns: found.p90_ns.min(self.most),
            p99_ns: found.p99_ns.min(self.most),
            p999_ns: found.p999_ns.min(self.most),
            max_ns: self.most,
        })
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.histogram.len() as f64
    }
}

#[cfg(test)]
mod tests;

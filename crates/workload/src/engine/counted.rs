//! Operations, counted and timed one by one.

use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_plan::Span;

/// The maximum recorded latency, in ns: an hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The maximum number of steps of a time series; longer ones are coarsened.
pub const MOST_STEPS: usize = 256;

/// The initial step of a time series, in ns.
const FIRST_STEP_NS: u64 = 10_000_000;

/// The decimal digits of precision of latencies.
const DIGITS: u8 = 3;

/// Operations and their latencies.
#[derive(Debug, Clone)]
pub struct OperationTally {
    pub operations: u64,
    /// Bytes read or written; 0 for operations that move none.
    pub bytes: u64,
    /// The total time, from the start of the first to the end of the test.
    pub took: Duration,
    /// The latency of each, in ns.
    pub latencies: Histogram<u64>,
    /// Their ends over time.
    pub series: EngineSeries,
}

impl OperationTally {
    /// No operations yet.
    pub fn new() -> Self {
        Self {
            operations: 0,
            bytes: 0,
            took: Duration::ZERO,
            latencies: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("it is in range"),
            series: EngineSeries::default(),
        }
    }

    /// Counts an operation that ended `at` after the start and took `latency`.
    pub fn count(&mut self, at: Duration, latency: Duration) {
        self.operations += 1;
        self.latencies.saturating_record(Span(latency).nanos().clamp(1, LONGEST_NS));
        self.series.count(Span(at).nanos());
    }

    /// Adds the operations of another part of the same test.
    pub fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.bytes += other.bytes;
        self.took = self.took.max(other.took);
        self.latencies.add(&other.latencies).expect("both have the same bounds");
        self.series.add(&other.series);
    }
}

impl Default for OperationTally {
    fn default() -> Self {
        Self::new()
    }
}

/// Operations over the time of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineSeries {
    /// The length of an interval, in ns.
    pub step_ns: u64,
    /// Operations that ended in each interval.
    pub operations: Vec<u64>,
}

impl Default for EngineSeries {
    fn default() -> Self {
        Self { step_ns: FIRST_STEP_NS, operations: Vec::new() }
    }
}

impl EngineSeries {
    /// Counts an operation that ended this long after the start.
    pub fn count(&mut self, at_ns: u64) {
        while at_ns / self.step_ns >= MOST_STEPS as u64 {
            self.coarsen();
        }
        let step = usize::try_from(at_ns / self.step_ns).expect("it is below MOST_STEPS");
        if self.operations.len() <= step {
            self.operations.resize(step + 1, 0);
        }
        self.operations[step] += 1;
    }

    fn add(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.step_ns < other.step_ns {
            self.coarsen();
        }
        while other.step_ns < self.step_ns {
            other.coarsen();
        }
        self.operations.resize(self.operations.len().max(other.operations.len()), 0);
        for (own, more) in self.operations.iter_mut().zip(other.operations) {
            *own += more;
        }
    }

    fn coarsen(&mut self) {
        self.step_ns *= 2;
        self.operations = self.operations.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
}

#[cfg(test)]
mod tests;

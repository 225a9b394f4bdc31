//! The clock of a test: it runs during the test's passes, and times each operation in them.

use std::time::{Duration, Instant};

use crate::engine::OperationTally;
use ssdlab_host::program::Rules;

use super::super::WorkloadError;
use super::super::player::check_rules;

/// The maximum number of passes of a test.
const MOST_PASSES: u32 = 100_000;

/// A clock that is stopped between passes.
pub(super) struct PassClock<'a> {
    rules: Rules<'a>,
    least: Duration,
    began: Instant,
    passes: u32,
    pass_began: Instant,
    last: Instant,
    counted: OperationTally,
}

impl<'a> PassClock<'a> {
    /// A new clock for a test that must take `least`.
    pub fn new(rules: Rules<'a>, least: Duration) -> Self {
        let now = Instant::now();
        let counted = OperationTally::new();
        Self { rules, least, began: now, passes: 0, pass_began: now, last: now, counted }
    }

    /// Whether the test has not taken long enough yet; a test has at least one pass.
    pub fn is_short(&self) -> bool {
        self.passes == 0 || (self.counted.took < self.least && self.passes < MOST_PASSES)
    }

    /// The number of passes.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Begins a pass.
    pub fn start(&mut self) {
        self.pass_began = Instant::now();
        self.last = self.pass_began;
    }

    /// An operation has ended, and the next begins.
    pub fn lap(&mut self) -> Result<(), WorkloadError> {
        let now = Instant::now();
        self.counted.count(self.counted.took + (now - self.pass_began), now - self.last);
        self.last = now;
        check_rules(self.rules, now - self.began)
    }

    /// Ends a pass.
    pub fn stop(&mut self) {
        self.add(self.pass_began.elapsed(), &[]);
    }

    /// Adds a pass timed by other threads: its duration, and for each operation its end and its
    /// latency.
    pub fn add(&mut self, took: Duration, operations: &[(Duration, Duration)]) {
        for (at, latency) in operations {
            self.counted.count(self.counted.took + *at, *latency);
        }
        self.counted.took += took;
        self.passes += 1;
    }

    /// What was counted, with the bytes that were read or written.
    pub fn counted(self, bytes: u64) -> OperationTally {
        OperationTally { bytes, ..self.counted }
    }
}

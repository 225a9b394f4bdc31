//! Defines how many requests are in flight at each moment.
//!
//! A request is in flight from its submission to its completion. One whose completion is unknown is
//! ignored: it would be in flight for ever.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of tracked requests: far more than drives queue, and 8 MiB.
const MOST: usize = 1 << 20;

/// A time during which the number of requests in flight stayed the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthInterval {
    /// Its start.
    pub from_ns: u64,
    /// Its end, which is later.
    pub to_ns: u64,
    /// How many were in flight.
    pub depth: u64,
}

/// The requests in flight, from time 0 on.
#[derive(Debug, Default)]
pub struct DepthTracker {
    completions_ns: BinaryHeap<Reverse<u64>>,
    /// The end of the last reported interval.
    since_ns: u64,
}

impl DepthTracker {
    /// Submits a request, no earlier than the previous one. Calls `lasted` with the intervals
    /// before it and returns how many are then in flight, including this one.
    ///
    /// A request submitted while 2^20 others are in flight is ignored.
    pub fn submit(
        &mut self,
        submitted_ns: u64,
        completed_ns: u64,
        mut lasted: impl FnMut(DepthInterval),
    ) -> u64 {
        self.advance(submitted_ns, &mut lasted);
        if self.completions_ns.len() < MOST {
            self.completions_ns.push(Reverse(completed_ns));
        }
        self.depth()
    }

    /// Reports the remaining intervals up to `end_ns`.
    pub fn finish(mut self, end_ns: u64, mut lasted: impl FnMut(DepthInterval)) {
        self.advance(end_ns, &mut lasted);
    }

    fn advance(&mut self, to_ns: u64, lasted: &mut impl FnMut(DepthInterval)) {
        while let Some(Reverse(completed_ns)) = self.completions_ns.peek().copied()
            && completed_ns <= to_ns
        {
            self.pass(completed_ns, lasted);
            self.completions_ns.pop();
        }
        self.pass(to_ns, lasted);
    }

    fn pass(&mut self, to_ns: u64, lasted: &mut impl FnMut(DepthInterval)) {
        if to_ns > self.since_ns {
            lasted(DepthInterval { from_ns: self.since_ns, to_ns, depth: self.depth() });
            self.since_ns = to_ns;
        }
    }

    fn depth(&self) -> u64 {
        self.completions_ns.len() as u64
    }
}

#[cfg(test)]
mod tests;

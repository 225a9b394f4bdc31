//! Defines how many requests a drive has at each moment, as they are submitted one after another.
//!
//! A request is in flight from its submission to its completion. One whose completion is not known
//! is in flight at no time: it would otherwise be so for ever.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most requests that are kept account of at once: far more than drives take, and 8 MiB.
const MOST: usize = 1 << 20;

/// A time during which the number of requests in flight stayed the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// When it began.
    pub from_ns: u64,
    /// When it ended, which is later.
    pub to_ns: u64,
    /// How many were in flight.
    pub depth: u64,
}

/// The requests in flight, from time 0 on.
#[derive(Debug, Default)]
pub struct Flights {
    completions_ns: BinaryHeap<Reverse<u64>>,
    /// Until when all stretches were told of.
    since_ns: u64,
}

impl Flights {
    /// A request is submitted, no earlier than the one before. `lasted` is told of the stretches
    /// before it; the result is how many are in flight then, with this one.
    ///
    /// One that is submitted while 2^20 others are in flight is left out.
    pub fn submit(
        &mut self,
        submitted_ns: u64,
        completed_ns: u64,
        mut lasted: impl FnMut(Stretch),
    ) -> u64 {
        self.advance(submitted_ns, &mut lasted);
        if self.completions_ns.len() < MOST {
            self.completions_ns.push(Reverse(completed_ns));
        }
        self.depth()
    }

    /// No more requests come, and nothing is looked at beyond `end_ns`.
    pub fn finish(mut self, end_ns: u64, mut lasted: impl FnMut(Stretch)) {
        self.advance(end_ns, &mut lasted);
    }

    fn advance(&mut self, to_ns: u64, lasted: &mut impl FnMut(Stretch)) {
        while let Some(Reverse(completed_ns)) = self.completions_ns.peek().copied()
            && completed_ns <= to_ns
        {
            self.pass(completed_ns, lasted);
            self.completions_ns.pop();
        }
        self.pass(to_ns, lasted);
    }

    fn pass(&mut self, to_ns: u64, lasted: &mut impl FnMut(Stretch)) {
        if to_ns > self.since_ns {
            lasted(Stretch { from_ns: self.since_ns, to_ns, depth: self.depth() });
            self.since_ns = to_ns;
        }
    }

    fn depth(&self) -> u64 {
        self.completions_ns.len() as u64
    }
}

#[cfg(test)]
mod tests;

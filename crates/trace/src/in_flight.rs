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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stretches(requests: &[(u64, u64)], end_ns: u64) -> Vec<(u64, u64, u64)> {
        let mut flights = Flights::default();
        let mut found = Vec::new();
        let mut lasted = |one: Stretch| found.push((one.from_ns, one.to_ns, one.depth));
        for (submitted_ns, completed_ns) in requests {
            flights.submit(*submitted_ns, *completed_ns, &mut lasted);
        }
        flights.finish(end_ns, lasted);
        found
    }

    #[test]
    fn a_stretch_ends_where_the_number_changes() {
        // The second overlaps the first, the third begins as the second ends, the fourth is alone.
        let requests = [(0, 10), (4, 20), (20, 25), (40, 45)];
        let expected = [
            (0, 4, 1),
            (4, 10, 2),
            (10, 20, 1),
            (20, 25, 1),
            (25, 40, 0),
            (40, 45, 1),
            (45, 50, 0),
        ];
        assert_eq!(stretches(&requests, 50), expected);
    }

    #[test]
    fn what_takes_no_time_is_in_flight_at_no_time() {
        assert_eq!(stretches(&[(0, 0), (5, 5)], 8), [(0, 5, 0), (5, 8, 0)]);
    }

    proptest! {
        #[test]
        fn stretches_cover_the_time_and_count_what_is_in_flight(
            requests in prop::collection::vec((0..50_u64, 0..200_u64), 1..60)
        ) {
            let mut submitted_ns = 0;
            let requests: Vec<(u64, u64)> = requests
                .into_iter()
                .map(|(after_ns, took_ns)| {
                    submitted_ns += after_ns;
                    (submitted_ns, submitted_ns + took_ns)
                })
                .collect();
            let end_ns = requests.iter().map(|(_, completed_ns)| *completed_ns).max().unwrap();
            let mut last_ns = 0;
            for (from_ns, to_ns, depth) in stretches(&requests, end_ns) {
                prop_assert_eq!(from_ns, last_ns);
                prop_assert!(to_ns > from_ns);
                let is_in_flight = |(one, other): &&(u64, u64)| *one <= from_ns && *other >= to_ns;
                prop_assert_eq!(depth, requests.iter().filter(is_in_flight).count() as u64);
                last_ns = to_ns;
            }
            prop_assert_eq!(last_ns, end_ns);
        }
    }
}

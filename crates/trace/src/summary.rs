//! Defines what the requests of a trace come to, kind by kind.
//!
//! Everything follows from one pass over the requests. What the block layer merged before they
//! were issued is not in a trace; only the kernel's counters know it.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_latency::LatencySummary;

use crate::in_flight::{Flights, Stretch};
use crate::spread::{Spread, Values};
use crate::{Flags, Kind, Request};

/// What the requests of a trace come to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// How many there are.
    pub requests: u64,
    /// From the first submission to the last submission or completion.
    pub span_ns: u64,
    /// Where the furthest request ends, in bytes from the start of the drive.
    pub end_bytes: u64,
    /// The kinds that occur, in the order of [`Kind::ALL`].
    pub kinds: Vec<OfKind>,
    /// How busy the drive was; none where no completion is known.
    pub in_flight: Option<InFlight>,
}

/// What the requests of one kind come to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfKind {
    /// The kind.
    pub kind: Kind,
    /// How many there are.
    pub requests: u64,
    /// Their bytes together; 2^64 - 1 if they are more.
    pub bytes: u64,
    /// How long they are; none for flushes.
    pub sizes: Option<Spread>,
    /// From submission to completion, of those whose completion is known.
    pub latencies: Option<LatencySummary>,
    /// How many have no known completion.
    pub incomplete: u64,
    /// How many begin where the one of this kind ended that was submitted before.
    pub sequential: u64,
    /// How many begin elsewhere. The first is neither, and no flush is.
    pub seeks: u64,
    /// How far apart such an end and beginning are, in either direction.
    pub seek_distances: Option<Spread>,
    /// How many somebody waits for.
    pub sync: u64,
    /// How many are marked as metadata of a filesystem.
    pub metadata: u64,
    /// How many are complete only once their data are durable.
    pub fua: u64,
    /// How many make durable what was completed before them.
    pub preflush: u64,
    /// How many read ahead.
    pub readahead: u64,
}

/// How many requests the drive had at once. Those without a known completion are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct InFlight {
    /// The mean over the whole span.
    pub mean: f64,
    /// The most at once.
    pub most: u64,
    /// The mean when a request is submitted, with this one.
    pub mean_at_submission: f64,
    /// How long there was none.
    pub idle_ns: u64,
    /// How often there was none for a while.
    pub idle_gaps: u64,
    /// The longest such while.
    pub longest_idle_ns: u64,
}

impl Summary {
    /// What the requests of a kind come to, if there are any.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Option<&OfKind> {
        self.kinds.iter().find(|of| of.kind == kind)
    }
}

impl OfKind {
    /// The share of sequential requests among those that have one of their kind before them.
    #[must_use]
    pub fn sequential_share(&self) -> Option<f64> {
        let followers = self.sequential + self.seeks;
        (followers > 0).then(|| self.sequential as f64 / followers as f64)
    }
}

/// Sums up requests as they come. Its memory does not grow with their number.
#[derive(Debug)]
pub struct Tally {
    kinds: [TallyOfKind; Kind::ALL.len()],
    span_ns: u64,
    end_bytes: u64,
    flights: Flights,
    busyness: Busyness,
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kinds: Kind::ALL.map(TallyOfKind::new),
            span_ns: 0,
            end_bytes: 0,
            flights: Flights::default(),
            busyness: Busyness::default(),
        }
    }

    /// Adds a request, submitted no earlier than the one before.
    pub fn add(&mut self, request: &Request) {
        let last_ns = request.completed_ns.unwrap_or(request.submitted_ns);
        self.span_ns = self.span_ns.max(last_ns);
        self.end_bytes = self.end_bytes.max(request.offset_bytes + request.length_bytes);
        if let Some(completed_ns) = request.completed_ns {
            let busyness = &mut self.busyness;
            let lasted = |stretch| busyness.lasted(stretch);
            let depth = self.flights.submit(request.submitted_ns, completed_ns, lasted);
            self.busyness.submitted(depth);
        }
        self.kinds[request.kind as usize].add(request);
    }

    /// What all of them come to.
    #[must_use]
    pub fn finish(self) -> Summary {
        let Self { kinds, span_ns, end_bytes, flights, mut busyness } = self;
        flights.finish(span_ns, |stretch| busyness.lasted(stretch));
        let kinds: Vec<OfKind> = kinds.into_iter().filter_map(TallyOfKind::finish).collect();
        Summary {
            requests: kinds.iter().map(|of| of.requests).sum(),
            span_ns,
            end_bytes,
            kinds,
            in_flight: busyness.finish(span_ns),
        }
    }
}

/// The requests of a kind so far.
#[derive(Debug)]
struct TallyOfKind {
    /// What is counted as it comes; the rest is filled in at the end.
    counts: OfKind,
    sizes: Values,
    latencies_ns: Values,
    distances: Values,
    /// Where the last one ended.
    last_end_bytes: Option<u64>,
}

impl TallyOfKind {
    fn new(kind: Kind) -> Self {
        let counts = OfKind {
            kind,
            requests: 0,
            bytes: 0,
            sizes: None,
            latencies: None,
            incomplete: 0,
            sequential: 0,
            seeks: 0,
            seek_distances: None,
            sync: 0,
            metadata: 0,
            fua: 0,
            preflush: 0,
            readahead: 0,
        };
        let [sizes, latencies_ns, distances] = [(); 3].map(|()| Values::new());
        Self { counts, sizes, latencies_ns, distances, last_end_bytes: None }
    }

    fn add(&mut self, request: &Request) {
        let counts = &mut self.counts;
        counts.requests += 1;
        counts.bytes = counts.bytes.saturating_add(request.length_bytes);
        for (flag, count) in [
            (Flags::SYNC, &mut counts.sync),
            (Flags::METADATA, &mut counts.metadata),
            (Flags::FUA, &mut counts.fua),
            (Flags::PREFLUSH, &mut counts.preflush),
            (Flags::READAHEAD, &mut counts.readahead),
        ] {
            *count += u64::from(request.flags.contains(flag));
        }
        match request.completed_ns {
            Some(completed_ns) => self.latencies_ns.add(completed_ns - request.submitted_ns),
            None => counts.incomplete += 1,
        }
        if request.kind != Kind::Flush {
            self.sizes.add(request.length_bytes);
            self.follow(request);
        }
    }

    /// Compares where it begins to where the last one ended.
    fn follow(&mut self, request: &Request) {
        let end_bytes = request.offset_bytes + request.length_bytes;
        match self.last_end_bytes.replace(end_bytes) {
            None => {}
            Some(last) if last == request.offset_bytes => self.counts.sequential += 1,
            Some(last) => {
                self.counts.seeks += 1;
                self.distances.add(last.abs_diff(request.offset_bytes));
            }
        }
    }

    fn finish(self) -> Option<OfKind> {
        (self.counts.requests > 0).then(|| OfKind {
            sizes: self.sizes.spread(),
            latencies: self.latencies_ns.latencies(),
            seek_distances: self.distances.spread(),
            ..self.counts
        })
    }
}

/// How many were in flight, so far.
#[derive(Debug, Default)]
struct Busyness {
    submitted: u64,
    /// Over submissions, how many were in flight.
    depths: u128,
    most: u64,
    /// Over time, how many were in flight.
    depth_ns: u128,
    idle_ns: u64,
    idle_gaps: u64,
    longest_idle_ns: u64,
}

impl Busyness {
    fn submitted(&mut self, depth: u64) {
        self.submitted += 1;
        self.depths += u128::from(depth);
        self.most = self.most.max(depth);
    }

    fn lasted(&mut self, Stretch { from_ns, to_ns, depth }: Stretch) {
        let lasted_ns = to_ns - from_ns;
        self.depth_ns += u128::from(depth) * u128::from(lasted_ns);
        if depth == 0 {
            self.idle_ns += lasted_ns;
            self.idle_gaps += 1;
            self.longest_idle_ns = self.longest_idle_ns.max(lasted_ns);
        }
    }

    fn finish(self, span_ns: u64) -> Option<InFlight> {
        (self.submitted > 0).then(|| InFlight {
            mean: self.depth_ns as f64 / span_ns.max(1) as f64,
            most: self.most,
            mean_at_submission: self.depths as f64 / self.submitted as f64,
            idle_ns: self.idle_ns,
            idle_gaps: self.idle_gaps,
            longest_idle_ns: self.longest_idle_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(submitted_ns: u64, took_ns: u64, kind: Kind, at: u64, length: u64) -> Request {
        Request {
            submitted_ns,
            completed_ns: Some(submitted_ns + took_ns),
            kind,
            offset_bytes: at * 4096,
            length_bytes: length * 4096,
            flags: Flags::empty(),
            origin: None,
        }
    }

    fn summary(requests: &[Request]) -> Summary {
        let mut tally = Tally::new();
        for request in requests {
            tally.add(request);
        }
        tally.finish()
    }

    #[test]
    fn reads_between_writes_break_no_sequence() {
        let found = summary(&[
            request(0, 1, Kind::Write, 10, 2),
            request(1, 1, Kind::Read, 500, 1),
            request(2, 1, Kind::Write, 12, 1),
            request(3, 1, Kind::Write, 3, 1),
            request(4, 1, Kind::Write, 14, 4),
        ]);
        let writes = found.of(Kind::Write).unwrap();
        assert_eq!((writes.requests, writes.bytes), (4, 8 * 4096));
        assert_eq!((writes.sequential, writes.seeks), (1, 2));
        assert_eq!(writes.sequential_share(), Some(1.0 / 3.0));
        // Back from 13 to 3, and on from 4 to 14.
        let distances = writes.seek_distances.unwrap();
        assert_eq!((distances.least_bytes, distances.most_bytes), (10 * 4096, 10 * 4096));
        let sizes = writes.sizes.unwrap();
        assert_eq!((sizes.least_bytes, sizes.median_bytes, sizes.most_bytes), (4096, 4096, 16384));
        assert!((sizes.mean_bytes - 8192.0).abs() < 1e-9);
        let reads = found.of(Kind::Read).unwrap();
        assert_eq!((reads.seeks, reads.sequential_share()), (0, None));
        assert_eq!(found.end_bytes, 501 * 4096);
        assert!(found.of(Kind::Discard).is_none());
    }

    #[test]
    fn idle_time_is_what_no_request_takes() {
        let found = summary(&[
            request(0, 10, Kind::Write, 0, 1),
            request(5, 10, Kind::Write, 1, 1),
            request(35, 5, Kind::Flush, 0, 0),
            request(50, 50, Kind::Read, 0, 1),
        ]);
        assert_eq!(found.span_ns, 100);
        let in_flight = found.in_flight.unwrap();
        assert_eq!(in_flight.most, 2);
        // Flights of 10, 10, 5 and 50 ns in 100 ns.
        assert!((in_flight.mean - 0.75).abs() < 1e-9);
        assert!((in_flight.mean_at_submission - 1.25).abs() < 1e-9);
        assert_eq!((in_flight.idle_ns, in_flight.idle_gaps), (30, 2));
        assert_eq!(in_flight.longest_idle_ns, 20);
        let flushes = found.of(Kind::Flush).unwrap();
        assert_eq!((flushes.bytes, flushes.sizes, flushes.seeks), (0, None, 0));
        assert_eq!(flushes.latencies.unwrap().max_ns, 5);
    }

    #[test]
    fn what_is_not_completed_is_counted_as_that() {
        let mut lost = request(7, 0, Kind::Write, 1, 1);
        lost.completed_ns = None;
        lost.flags = Flags::FUA | Flags::SYNC;
        let found = summary(&[request(0, 2, Kind::Write, 0, 1), lost]);
        let writes = found.of(Kind::Write).unwrap();
        assert_eq!((writes.requests, writes.incomplete), (2, 1));
        assert_eq!((writes.fua, writes.sync, writes.preflush), (1, 1, 0));
        assert_eq!(writes.latencies.unwrap().max_ns, 2);
        let in_flight = found.in_flight.unwrap();
        assert_eq!((in_flight.most, in_flight.idle_ns, found.span_ns), (1, 5, 7));
        assert_eq!(summary(&[lost]).in_flight, None);
    }

    #[test]
    fn nothing_comes_to_nothing() {
        let found = summary(&[]);
        assert_eq!((found.requests, found.span_ns, found.kinds.len()), (0, 0, 0));
        assert_eq!(found.in_flight, None);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(
            requests in prop::collection::vec(
                (0..100_u64, prop::option::of(0..500_u64), 0..5_usize, 0..99_u64, 1..9_u64), 1..80
            )
        ) {
            let mut now_ns = 0;
            let requests: Vec<Request> = requests
                .into_iter()
                .map(|(after_ns, took_ns, kind, at, length)| {
                    now_ns += after_ns;
                    let kind = Kind::ALL[kind];
                    let length = if kind == Kind::Flush { 0 } else { length };
                    let completed_ns = took_ns.map(|took_ns| now_ns + took_ns);
                    Request { completed_ns, ..request(now_ns, 0, kind, at, length) }
                })
                .collect();
            let found = summary(&requests);
            prop_assert_eq!(found.requests, requests.len() as u64);
            let bytes: u64 = requests.iter().map(|request| request.length_bytes).sum();
            prop_assert_eq!(found.kinds.iter().map(|of| of.bytes).sum::<u64>(), bytes);
            for of in &found.kinds {
                let followers = if of.kind == Kind::Flush { 0 } else { of.requests - 1 };
                prop_assert_eq!(of.sequential + of.seeks, followers);
                prop_assert!(of.incomplete <= of.requests);
            }
            let known: Vec<u64> = requests
                .iter()
                .filter_map(|request| Some(request.completed_ns? - request.submitted_ns))
                .collect();
            prop_assert_eq!(found.in_flight.is_some(), !known.is_empty());
            if let Some(in_flight) = found.in_flight {
                // Time in flight, once over time and once over requests (J. Little's law).
                let flown_ns = known.iter().sum::<u64>() as f64;
                let span_ns = found.span_ns.max(1) as f64;
                prop_assert!((in_flight.mean * span_ns - flown_ns).abs() < 1e-6 * flown_ns + 1e-6);
                prop_assert!(in_flight.mean <= in_flight.most as f64);
                prop_assert!(in_flight.idle_ns <= found.span_ns);
                prop_assert!(in_flight.longest_idle_ns <= in_flight.idle_ns);
            }
        }
    }
}

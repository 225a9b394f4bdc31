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
mod tests;

//! Defines summary statistics of a trace, by kind of request.
//!
//! One pass over the requests is enough. Merges in the block layer before issue are not in a trace;
//! only the kernel's counters have them.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::latency::LatencySummary;

use crate::in_flight::{DepthInterval, DepthTracker};
use crate::spread::{SizeSpread, Values};
use crate::{Flags, Request, RequestKind};

/// Summary statistics of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Summary")]
pub struct TraceSummary {
    /// The number of requests.
    pub requests: u64,
    /// From the first submission to the last submission or completion.
    pub span_ns: u64,
    /// The highest end of a request, in bytes from the start of the drive.
    pub end_bytes: u64,
    /// The kinds that occur, in the order of [`RequestKind::ALL`].
    pub kinds: Vec<OfKind>,
    /// How busy the drive was; absent if no completion is known.
    pub in_flight: Option<QueueDepth>,
}

/// Summary statistics of one kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfKind {
    /// The kind.
    pub kind: RequestKind,
    /// The number of requests.
    pub requests: u64,
    /// Their total size; at most 2^64 - 1.
    pub bytes: u64,
    /// Their sizes; absent for flushes.
    pub sizes: Option<SizeSpread>,
    /// From submission to completion, of those whose completion is known.
    pub latencies: Option<LatencySummary>,
    /// The number without a known completion.
    pub incomplete: u64,
    /// The number that begin where the previous request of this kind ended.
    pub sequential: u64,
    /// The number that begin elsewhere. The first request and flushes count as neither.
    pub seeks: u64,
    /// The distances between such an end and beginning, in either direction.
    pub seek_distances: Option<SizeSpread>,
    /// The number that something waits for.
    pub sync: u64,
    /// The number marked as filesystem metadata.
    pub metadata: u64,
    /// The number that complete only once their data are durable.
    pub fua: u64,
    /// The number that make earlier completed requests durable.
    pub preflush: u64,
    /// The number that are read-ahead.
    pub readahead: u64,
}

/// The number of requests in flight. Those without a known completion are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "InFlight")]
pub struct QueueDepth {
    /// The mean over the whole span.
    pub mean: f64,
    /// The maximum.
    pub most: u64,
    /// The mean at submissions, including the submitted request.
    pub mean_at_submission: f64,
    /// The total time without requests in flight.
    pub idle_ns: u64,
    /// The number of periods without requests in flight.
    pub idle_gaps: u64,
    /// The longest such period.
    pub longest_idle_ns: u64,
}

impl TraceSummary {
    /// The statistics of a kind, if there are such requests.
    pub fn of(&self, kind: RequestKind) -> Option<&OfKind> {
        self.kinds.iter().find(|of| of.kind == kind)
    }
}

impl OfKind {
    /// The share of sequential requests among those with a predecessor of their kind.
    pub fn sequential_share(&self) -> Option<f64> {
        let followers = self.sequential + self.seeks;
        (followers > 0).then(|| self.sequential as f64 / followers as f64)
    }
}

/// Accumulates a summary in bounded memory.
#[derive(Debug)]
pub struct Tally {
    kinds: [TallyOfKind; RequestKind::ALL.len()],
    span_ns: u64,
    end_bytes: u64,
    tracker: DepthTracker,
    busyness: Busyness,
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// An empty tally.
    pub fn new() -> Self {
        Self {
            kinds: RequestKind::ALL.map(TallyOfKind::new),
            span_ns: 0,
            end_bytes: 0,
            tracker: DepthTracker::default(),
            busyness: Busyness::default(),
        }
    }

    /// Adds a request, submitted no earlier than the previous one.
    pub fn add(&mut self, request: &Request) {
        let last_ns = request.completed_ns.unwrap_or(request.submitted_ns);
        self.span_ns = self.span_ns.max(last_ns);
        self.end_bytes = self.end_bytes.max(request.offset_bytes + request.length_bytes);
        if let Some(completed_ns) = request.completed_ns {
            let busyness = &mut self.busyness;
            let lasted = |interval| busyness.lasted(interval);
            let depth = self.tracker.submit(request.submitted_ns, completed_ns, lasted);
            self.busyness.submitted(depth);
        }
        self.kinds[request.kind as usize].add(request);
    }

    pub fn finish(self) -> TraceSummary {
        let Self { kinds, span_ns, end_bytes, tracker, mut busyness } = self;
        tracker.finish(span_ns, |interval| busyness.lasted(interval));
        let kinds: Vec<OfKind> = kinds.into_iter().filter_map(TallyOfKind::finish).collect();
        TraceSummary {
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
    /// Counts so far; the rest is filled in at the end.
    counts: OfKind,
    sizes: Values,
    latencies_ns: Values,
    distances: Values,
    last_end_bytes: Option<u64>,
}

impl TallyOfKind {
    fn new(kind: RequestKind) -> Self {
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
        if request.kind != RequestKind::Flush {
            self.sizes.add(request.length_bytes);
            self.follow(request);
        }
    }

    /// Compares its start with the end of the last one.
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

/// The number in flight, so far.
#[derive(Debug, Default)]
struct Busyness {
    submitted: u64,
    /// The sum over submissions of the number in flight.
    depths: u128,
    most: u64,
    /// The integral over time of the number in flight.
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

    fn lasted(&mut self, DepthInterval { from_ns, to_ns, depth }: DepthInterval) {
        let lasted_ns = to_ns - from_ns;
        self.depth_ns += u128::from(depth) * u128::from(lasted_ns);
        if depth == 0 {
            self.idle_ns += lasted_ns;
            self.idle_gaps += 1;
            self.longest_idle_ns = self.longest_idle_ns.max(lasted_ns);
        }
    }

    fn finish(self, span_ns: u64) -> Option<QueueDepth> {
        (self.submitted > 0).then(|| QueueDepth {
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

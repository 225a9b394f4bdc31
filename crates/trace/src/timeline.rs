//! Defines the distribution of a trace's requests over time and over the drive, coarse enough to
//! draw.
//!
//! Time is divided into [`TraceTimeline::STEPS`] steps and the drive into [`TraceTimeline::ROWS`]
//! rows, regardless of the number of requests. Both extents must be known beforehand, from a
//! [`TraceSummary`], so a trace is read twice.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use crate::in_flight::{DepthInterval, DepthTracker};
use crate::{Request, RequestKind, TraceSummary};

/// The distribution of requests over time and over the drive.
#[derive(Debug)]
pub struct TraceTimeline {
    step_ns: u64,
    row_bytes: u64,
    span_ns: u64,
    kinds: [OfKind; RequestKind::ALL.len()],
    depths: Vec<Occupancy>,
    tracker: DepthTracker,
}

/// What was in flight in a step of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelineStep {
    /// The mean over the step.
    pub mean: f64,
    pub least: u64,
    pub most: u64,
}

/// A rectangle of time steps and drive rows, each of which was touched by requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    pub steps: Range<usize>,
    pub rows: Range<usize>,
}

/// The requests of a kind: rows touched and bytes in each step.
#[derive(Debug, Clone)]
struct OfKind {
    /// Whether each row was touched, by step.
    touched: Vec<[bool; TraceTimeline::ROWS]>,
    bytes: Vec<u64>,
}

/// What was in flight in a step so far.
#[derive(Debug, Clone, Copy)]
struct Occupancy {
    /// The integral over time of the number in flight.
    depth_ns: u128,
    covered_ns: u64,
    least: u64,
    most: u64,
}

impl TraceTimeline {
    /// The number of time steps.
    pub const STEPS: usize = 200;

    /// The number of drive rows.
    pub const ROWS: usize = 40;

    /// An empty timeline for the requests with this summary.
    pub fn new(summary: &TraceSummary) -> Self {
        let of_kind =
            OfKind { touched: vec![[false; Self::ROWS]; Self::STEPS], bytes: vec![0; Self::STEPS] };
        let depth = Occupancy { depth_ns: 0, covered_ns: 0, least: u64::MAX, most: 0 };
        Self {
            step_ns: summary.span_ns.div_ceil(Self::STEPS as u64).max(1),
            row_bytes: summary.end_bytes.div_ceil(Self::ROWS as u64).max(1),
            span_ns: summary.span_ns,
            kinds: RequestKind::ALL.map(|_| of_kind.clone()),
            depths: vec![depth; Self::STEPS],
            tracker: DepthTracker::default(),
        }
    }

    /// Adds a request, submitted no earlier than the previous one. Requests beyond the summary's
    /// extents count towards the last step or row.
    pub fn add(&mut self, request: &Request) {
        let step = index(request.submitted_ns, self.step_ns, Self::STEPS);
        let of_kind = &mut self.kinds[request.kind as usize];
        of_kind.bytes[step] = of_kind.bytes[step].saturating_add(request.length_bytes);
        if request.length_bytes > 0 {
            let last_byte = request.offset_bytes + (request.length_bytes - 1);
            let row = |bytes| index(bytes, self.row_bytes, Self::ROWS);
            of_kind.touched[step][row(request.offset_bytes)..=row(last_byte)].fill(true);
        }
        if let Some(completed_ns) = request.completed_ns {
            let (depths, step_ns) = (&mut self.depths, self.step_ns);
            let lasted = |interval| spread_over(depths, step_ns, interval);
            self.tracker.submit(request.submitted_ns, completed_ns, lasted);
        }
    }

    /// Ends the trace.
    pub fn finish(&mut self) {
        let (depths, step_ns) = (&mut self.depths, self.step_ns);
        let lasted = |interval| spread_over(depths, step_ns, interval);
        mem::take(&mut self.tracker).finish(self.span_ns, lasted);
    }

    /// The duration of a step.
    pub fn step_ns(&self) -> u64 {
        self.step_ns
    }

    /// The size of a row.
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// The bytes of a kind submitted in each step, up to the end of the trace.
    pub fn bytes(&self, kind: RequestKind) -> &[u64] {
        &self.kinds[kind as usize].bytes[..self.reached()]
    }

    /// The requests in flight in each step, up to the end of the trace.
    pub fn in_flight(&self) -> Vec<TimelineStep> {
        let step = |depth: &Occupancy| TimelineStep {
            mean: depth.depth_ns as f64 / depth.covered_ns.max(1) as f64,
            least: depth.least.min(depth.most),
            most: depth.most,
        };
        self.depths[..self.reached()].iter().map(step).collect()
    }

    /// When and where there were requests of a kind, by step of submission; patches do not overlap.
    pub fn patches(&self, kind: RequestKind) -> Vec<Patch> {
        let mut patches = Vec::new();
        // The rows of patches that extend to the previous step, and their first steps.
        let mut open: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let ends = &[false; Self::ROWS];
        for (step, touched) in self.kinds[kind as usize].touched.iter().chain([ends]).enumerate() {
            let before = mem::take(&mut open);
            for rows in runs(touched) {
                let key = (rows.start, rows.end);
                open.insert(key, before.get(&key).copied().unwrap_or(step));
            }
            let closed = before.into_iter().filter(|(rows, _)| !open.contains_key(rows));
            patches.extend(
                closed.map(|((from, to), first)| Patch { steps: first..step, rows: from..to }),
            );
        }
        patches
    }

    /// The number of steps in the trace: a short one has fewer nanoseconds than there are steps.
    fn reached(&self) -> usize {
        index(self.span_ns, self.step_ns, Self::STEPS) + 1
    }
}

/// The index of the part of this size that a value falls into; at most the last.
fn index(value: u64, part: u64, parts: usize) -> usize {
    usize::try_from(value / part).unwrap_or(usize::MAX).min(parts - 1)
}

/// Adds an interval to the steps that it overlaps.
fn spread_over(
    depths: &mut [Occupancy],
    step_ns: u64,
    DepthInterval { from_ns, to_ns, depth }: DepthInterval,
) {
    let (first, last) =
        (index(from_ns, step_ns, depths.len()), index(to_ns - 1, step_ns, depths.len()));
    for (step, entry) in (first..=last).zip(&mut depths[first..=last]) {
        let begin_ns = (step as u64 * step_ns).max(from_ns);
        let end_ns = if step == last { to_ns } else { (step as u64 + 1) * step_ns };
        entry.depth_ns += u128::from(depth) * u128::from(end_ns - begin_ns);
        entry.covered_ns += end_ns - begin_ns;
        entry.least = entry.least.min(depth);
        entry.most = entry.most.max(depth);
    }
}

/// The runs of adjacent touched rows in a step.
fn runs(touched: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (row, _) in touched.iter().enumerate().filter(|(_, is_touched)| **is_touched) {
        match runs.last_mut() {
            Some(run) if run.end == row => run.end += 1,
            _ => runs.push(row..row + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests;

//! Summaries of requests to a drive: a table of one trace with a column for each kind of request,
//! and one of several trials with a row for each.

use std::fmt::Write;
use std::iter;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::Levels;
use ssdlab_stats::latency::LatencySummary;
use ssdlab_trace::{ClampedTimes, OfKind, QueueDepth, RequestKind, SizeSpread, TraceSummary};

use super::grid::{self, ReportTable};
use super::levels::named;
use super::number;
use super::words::{Style, plain};

/// What a trial of a run asked of its device.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Traced")]
pub struct TracedTrial {
    /// The trial's place in the run, from 0.
    pub trial: u32,
    /// The levels by which its treatment differs from others.
    pub levels: Levels,
    /// What its requests come to.
    pub summary: TraceSummary,
    /// The writes that were merged into those of its phases before they were requested; none where
    /// the device's counters are not known.
    pub merged_writes: Option<u64>,
    /// Where and how its log is cut off, if it is.
    pub cut_off: Option<String>,
}

impl TracedTrial {
    /// Its name above its table or chart.
    pub fn name(&self) -> String {
        trial_name(self.trial, &self.levels)
    }
}

/// A trial's name: its place in the run, and the levels by which it differs from others.
pub fn trial_name(trial: u32, levels: &Levels) -> String {
    format!("trial {trial}: {}", named(levels))
}

/// The note about times of a trace that went backwards, if any did.
pub fn clamped(ClampedTimes { requests, furthest_ns }: ClampedTimes) -> Option<String> {
    let (times, furthest) = (count(requests), time(furthest_ns));
    (requests > 0).then(|| {
        format!(
            "timestamps that go backwards: {times}, by {furthest} at most; each is raised to the \
             one before it"
        )
    })
}

/// The summaries of several trials' requests.
pub fn traces(trials: &[TracedTrial], style: Style) -> String {
    let row = |traced: &TracedTrial| {
        let start = [traced.trial.to_string(), named(&traced.levels)];
        let cells = COLUMNS.iter().map(|(_, cell)| cell(traced).unwrap_or_default());
        start.into_iter().chain(cells).collect()
    };
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let header = ["trial", "treatment"].map(str::to_owned).into_iter().chain(names).collect();
    let table = ReportTable { header, rows: trials.iter().map(row).collect(), numbers: 2 };
    table.text(style) + "\n"
}

/// The summary of one trace's requests, and how many writes were merged into them, if known.
pub fn trace(
    name: &str,
    summary: &TraceSummary,
    merged_writes: Option<u64>,
    style: Style,
) -> String {
    let mut out = format!("{}\n", plain(name));
    if !summary.kinds.is_empty() {
        let kinds = summary.kinds.iter().map(|of| of.kind.name().to_owned());
        let header = iter::once(String::new()).chain(kinds).collect();
        let rows = ROWS.iter().filter_map(|(name, cell)| {
            grid::row(name, summary.kinds.iter().map(|of| cell(of, summary.span_ns)))
        });
        let table = ReportTable { header, rows: rows.collect(), numbers: 1 };
        let _ = writeln!(out, "{}", table.text(style));
    }
    notes(summary, &mut out);
    if let Some(merged) = merged_writes {
        let _ = writeln!(out, "merged into the writes of its phases: {}", count(merged));
    }
    out
}

type Column = fn(&TracedTrial) -> Option<String>;

const COLUMNS: &[(&str, Column)] = &[
    ("requests", |t| Some(count(t.summary.requests))),
    ("read", |t| Some(bytes(t.summary.of(RequestKind::Read)?.bytes))),
    ("written", |t| Some(bytes(t.summary.of(RequestKind::Write)?.bytes))),
    ("discarded", |t| Some(bytes(t.summary.of(RequestKind::Discard)?.bytes))),
    ("flushes", |t| Some(count(t.summary.of(RequestKind::Flush)?.requests))),
    ("median write", |t| Some(bytes(t.summary.of(RequestKind::Write)?.sizes?.median_bytes))),
    ("merged", |t| t.merged_writes.map(count)),
    ("sequential writes", |t| t.summary.of(RequestKind::Write)?.sequential_share().map(share)),
    ("write: 50, 99 %", |t| {
        let LatencySummary { p50_ns, p99_ns, .. } = t.summary.of(RequestKind::Write)?.latencies?;
        Some(format!("{}, {}", time(p50_ns), time(p99_ns)))
    }),
    ("in flight", |t| Some(mean(t.summary.in_flight?.mean))),
    ("idle", |t| {
        let span_ns = t.summary.span_ns.max(1);
        Some(share(t.summary.in_flight?.idle_ns as f64 / span_ns as f64))
    }),
    ("over", |t| Some(time(t.summary.span_ns))),
];

/// The cell for one kind of request in a trace that spans this many nanoseconds.
type Row = fn(&OfKind, u64) -> Option<String>;

const ROWS: &[(&str, Row)] = &[
    ("requests", |of, _| Some(count(of.requests))),
    ("bytes", |of, _| of.sizes.map(|_| bytes(of.bytes))),
    ("bytes a second", |of, span_ns| {
        of.sizes.filter(|_| span_ns > 0).map(|_| number::rate(of.bytes as f64, span_ns as f64))
    }),
    ("size: least, most", |of, _| {
        let SizeSpread { least_bytes, most_bytes, .. } = of.sizes?;
        Some(format!("{}, {}", bytes(least_bytes), bytes(most_bytes)))
    }),
    ("size: median, mean", |of, _| middle(of.sizes)),
    ("sequential", |of, _| of.sequential_share().map(share)),
    ("seeks", |of, _| of.seek_distances.map(|_| count(of.seeks))),
    ("seek: median, mean", |of, _| middle(of.seek_distances)),
    ("latency: 50 %", |of, _| of.latencies.map(|times| time(times.p50_ns))),
    ("latency: 90 %", |of, _| of.latencies.map(|times| time(times.p90_ns))),
    ("latency: 99 %", |of, _| of.latencies.map(|times| time(times.p99_ns))),
    ("latency: 99.9 %", |of, _| of.latencies.map(|times| time(times.p999_ns))),
    ("latency: longest", |of, _| of.latencies.map(|times| time(times.max_ns))),
    ("waited for (sync)", |of, _| some(of.sync)),
    ("metadata", |of, _| some(of.metadata)),
    ("FUA", |of, _| some(of.fua)),
    ("preflush", |of, _| some(of.preflush)),
    ("read-ahead", |of, _| some(of.readahead)),
    ("completion not known", |of, _| some(of.incomplete)),
];

fn notes(summary: &TraceSummary, out: &mut String) {
    let requests = if summary.requests == 1 { "request" } else { "requests" };
    let _ = writeln!(out, "{} {requests}, over {}", count(summary.requests), time(summary.span_ns));
    let Some(in_flight) = summary.in_flight else {
        if summary.requests > 0 {
            let _ = writeln!(out, "the trace does not say when requests were completed");
        }
        return;
    };
    let QueueDepth { most, idle_ns, idle_gaps, longest_idle_ns, .. } = in_flight;
    let _ = writeln!(
        out,
        "in flight: {} on average, {most} at most, {} when one is submitted",
        mean(in_flight.mean),
        mean(in_flight.mean_at_submission)
    );
    let of_span = share(idle_ns as f64 / summary.span_ns.max(1) as f64);
    let gaps = if idle_gaps == 1 { "gap" } else { "gaps" };
    let _ = writeln!(
        out,
        "idle: {} ({of_span}) in {} {gaps}, the longest of {}",
        time(idle_ns),
        count(idle_gaps),
        time(longest_idle_ns)
    );
}

fn middle(spread: Option<SizeSpread>) -> Option<String> {
    let SizeSpread { median_bytes, mean_bytes, .. } = spread?;
    Some(format!("{}, {}", bytes(median_bytes), number::bytes(mean_bytes)))
}

fn some(requests: u64) -> Option<String> {
    (requests > 0).then(|| count(requests))
}

fn count(requests: u64) -> String {
    number::count(requests as f64)
}

fn bytes(bytes: u64) -> String {
    number::bytes(bytes as f64)
}

fn time(ns: u64) -> String {
    number::duration(ns as f64)
}

fn mean(requests: f64) -> String {
    number::count(requests)
}

fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests;

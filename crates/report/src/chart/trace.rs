//! The chart of a trace: where on the drive requests go over time, how much they move, and how
//! many are in flight.
//!
//! What requests touch is drawn by steps of time and rows of the drive, so that a chart of a
//! million requests is no larger than one of a thousand.

use ssdlab_plan::metric::Unit;
use ssdlab_trace::{Patch, RequestKind, TraceSummary, TraceTimeline};

use super::canvas::{Chart, Heading};
use super::grid::{GridPanel, PanelGrid, Shares};
use super::palette::{COLOURS, PLAIN};
use super::scale::Scale;
use crate::number;
use crate::words::plain;

/// The kinds that have a position on the drive, and the titles of their panels.
const PLACED: [(RequestKind, &str); 4] = [
    (RequestKind::Read, "read: position"),
    (RequestKind::Write, "written: position"),
    (RequestKind::Discard, "discarded: position"),
    (RequestKind::WriteZeroes, "written with zeroes: position"),
];

/// The kinds that move data, and the titles of their panels.
const MOVING: [(RequestKind, &str); 2] =
    [(RequestKind::Read, "read a second"), (RequestKind::Write, "written a second")];

/// A trace over time, with panels below each other. `timeline` and `summary` are of the same
/// requests; charts in one folder need different `id`s.
pub fn trace(id: &str, name: &str, summary: &TraceSummary, timeline: &TraceTimeline) -> Chart {
    let title = format!("Requests over time: {}", plain(name));
    let notes = format!(
        "Position: what requests touch, in steps of {} and rows of {} of the drive, when they are \
         submitted. In flight: mean over each step; band: from the least to the most at once.",
        number::duration(timeline.step_ns() as f64),
        number::bytes(timeline.row_bytes() as f64),
    );
    let heading = Heading { title, notes, keys: Vec::new() };
    let across = Scale::from_zero(Unit::Ns, summary.span_ns as f64);
    let mut panels = positions(summary, timeline, &across);
    panels.extend(rates(summary, timeline, &across));
    panels.extend(in_flight(summary, timeline, &across));
    let shares = Shares { across: true, up: false };
    PanelGrid { heading, columns: 1, shares, panels }.chart(id, says(summary))
}

fn positions(summary: &TraceSummary, timeline: &TraceTimeline, across: &Scale) -> Vec<GridPanel> {
    let up = Scale::from_zero(Unit::Bytes, summary.end_bytes as f64);
    let placed = PLACED.into_iter().zip(COLOURS);
    let panels = placed.filter(|((kind, _), _)| summary.of(*kind).is_some());
    panels
        .map(|((kind, title), colour)| GridPanel {
            patches: timeline.patches(kind).iter().map(|patch| corners(timeline, patch)).collect(),
            ..GridPanel::new(title.to_owned(), across.clone(), up.clone(), colour)
        })
        .collect()
}

/// Two opposite corners of a patch, in ns and bytes.
fn corners(timeline: &TraceTimeline, Patch { steps, rows }: &Patch) -> [(f64, f64); 2] {
    let corner = |step: usize, row: usize| {
        (step as f64 * timeline.step_ns() as f64, row as f64 * timeline.row_bytes() as f64)
    };
    [corner(steps.start, rows.start), corner(steps.end, rows.end)]
}

/// Empty if a trace has no times.
fn rates(summary: &TraceSummary, timeline: &TraceTimeline, across: &Scale) -> Vec<GridPanel> {
    if summary.span_ns == 0 {
        return Vec::new();
    }
    let step_ns = timeline.step_ns() as f64;
    let moving = MOVING.into_iter().filter(|(kind, _)| summary.of(*kind).is_some());
    moving
        .map(|(kind, title)| {
            let rate = |bytes: &u64| *bytes as f64 / (step_ns / 1e9);
            let rates: Vec<f64> = timeline.bytes(kind).iter().map(rate).collect();
            let greatest = rates.iter().copied().fold(0.0, f64::max);
            let up = Scale::from_zero(Unit::BytesPerS, greatest);
            let bar = |(step, rate): (usize, f64)| {
                ([step as f64 * step_ns, (step as f64 + 1.0) * step_ns], rate)
            };
            let colour = COLOURS[PLACED.iter().position(|(of, _)| *of == kind).unwrap_or(0)];
            GridPanel {
                bars: rates
                    .into_iter()
                    .enumerate()
                    .filter(|(_, rate)| *rate > 0.0)
                    .map(bar)
                    .collect(),
                ..GridPanel::new(title.to_owned(), across.clone(), up, colour)
            }
        })
        .collect()
}

/// `None` if completion times are unknown.
fn in_flight(
    summary: &TraceSummary,
    timeline: &TraceTimeline,
    across: &Scale,
) -> Option<GridPanel> {
    let most = summary.in_flight?.most;
    let steps: Vec<_> = timeline
        .in_flight()
        .iter()
        .map(|step| (step.mean, [step.least as f64, step.most as f64]))
        .collect();
    let up = Scale::from_zero(Unit::Number, most as f64);
    let middle = |step: usize| (step as f64 + 0.5) * timeline.step_ns() as f64;
    let panel = GridPanel::new("in flight".to_owned(), across.clone(), up, PLAIN);
    Some(panel.with_steps(&steps, middle))
}

fn says(summary: &TraceSummary) -> String {
    let kinds = summary.kinds.iter().map(|of| {
        let bytes = match of.kind {
            RequestKind::Flush => String::new(),
            _ => format!(" of {}", number::bytes(of.bytes as f64)),
        };
        format!("{} {} requests{bytes}", number::count(of.requests as f64), of.kind.name())
    });
    let kinds = kinds.collect::<Vec<_>>().join("; ");
    let span = number::duration(summary.span_ns as f64);
    let in_flight = summary.in_flight.map_or(String::new(), |in_flight| {
        let mean = number::count(in_flight.mean);
        format!(" In flight: {mean} on average, {} at most.", in_flight.most)
    });
    format!("Over {span}: {kinds}.{in_flight}")
}

#[cfg(test)]
mod tests;

//! The samples chart: means with their intervals, and every sample.

use ssdlab_plan::metric::Metric;

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, ChartTreatment, range, thinned, title};
use super::label;
use super::palette::Symbol;
use super::rows::{Mark, Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;
use crate::number;
use crate::words::plain;

/// The lanes of a row over which samples are spread, so that equal ones stay visible.
const LANES: [i32; 5] = [0, 80, -80, 40, -40];

/// One or more charts for each metric, of the phases that it describes.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let mut metrics: Vec<Metric> = Vec::new();
    for phase in &data.phases {
        if !metrics.contains(&data.metric(phase)) {
            metrics.push(data.metric(phase));
        }
    }
    let charts = metrics.into_iter().flat_map(|metric| {
        let has =
            |shown: &ChartTreatment<'_>, phase: &str| !shown.samples(phase, metric).is_empty();
        let phases = data.phases.iter().filter(|phase| {
            data.metric(phase) == metric && data.treatments.iter().any(|shown| has(shown, phase))
        });
        let phases: Vec<&str> = phases.map(String::as_str).collect();
        parts(data, metric, &phases)
    });
    charts.collect()
}

/// The metric of the claim that answers the question, in its phases: the first chart. Empty if the
/// samples begin with it anyway.
pub(super) fn answer(data: &ChartData<'_>) -> Vec<Chart> {
    let Some(claim) = data.schedule.answering_claim() else { return Vec::new() };
    let has = |phase: &&String| {
        data.treatments.iter().any(|shown| !shown.samples(phase, claim.metric).is_empty())
    };
    let phases = claim.all_phases();
    let phases: Vec<&str> = phases.iter().filter(has).map(String::as_str).collect();
    let is_first = data
        .phases
        .iter()
        .zip(&phases)
        .all(|(one, other)| one == other && data.metric(one) == claim.metric);
    if phases.is_empty() || is_first {
        return Vec::new();
    }
    let charts = parts(data, claim.metric, &phases).into_iter();
    charts.map(|chart| Chart { id: "answer".to_owned(), ..chart }).collect()
}

fn parts(data: &ChartData<'_>, metric: Metric, phases: &[&str]) -> Vec<Chart> {
    // Panels of zeros would be empty.
    let is_any = |phase: &&str| {
        let mut shown = data.treatments.iter();
        shown.any(|shown| shown.samples(phase, metric).iter().any(|sample| sample.abs() > 0.0))
    };
    let some: Vec<&str> = phases.iter().copied().filter(is_any).collect();
    let phases = if some.is_empty() { phases } else { &some[..] };
    in_parts(phases, panels_in_a_chart(data.treatments.len()), |phases, part| {
        chart(data, metric, phases, part)
    })
}

fn chart(data: &ChartData<'_>, metric: Metric, phases: &[&str], part: &str) -> Chart {
    let samples: Vec<Vec<Vec<f64>>> = phases
        .iter()
        .map(|phase| data.treatments.iter().map(|shown| shown.samples(phase, metric)).collect())
        .collect();
    let unit = metric.unit;
    let (every, thinned) = thinned(samples.iter().flatten().map(Vec::len).sum());
    let panels: Vec<RowPanel> = phases
        .iter()
        .zip(&samples)
        .map(|(phase, samples)| panel(data, metric, phase, samples, every))
        .collect();
    let ranges = phases.iter().filter_map(|phase| {
        let mean =
            |shown: &'_ ChartTreatment<'_>| shown.summary(phase, metric).map(|found| found.mean);
        let means = data.treatments.iter().filter_map(|shown| Some(shown.named(mean(shown)?)));
        Some(format!("{} {}", label::cut(&plain(phase), 60), range(unit, means)?))
    });
    let ranges: Vec<String> = ranges.collect();
    let (of_mean, of_sample) = match data.analysis.plausible_drives {
        0 => ("", ""),
        _ => (" on the published drive", ", on that drive or a plausible one"),
    };
    let says = if ranges.is_empty() {
        format!("Samples of {metric}, on plausible drives only.{thinned}")
    } else {
        format!("Means of {metric}{of_mean}: {}.{thinned}", ranges.join("; "))
    };
    let marks = if panels.iter().any(|panel| panel.scale.is_log) {
        "Bar, or thick line where the axis is logarithmic: mean"
    } else {
        "Bar: mean"
    };
    let whisker = if panels.iter().any(RowPanel::has_whisker) {
        " Whisker: its 95 % interval; an end without a cap lies outside."
    } else {
        ""
    };
    let notes = format!("{marks}{of_mean}.{whisker} Dot: a sample{of_sample}.{thinned}");
    let title = format!("{}{part}", title(metric));
    let names = data.treatments.iter().map(|shown| shown.name.clone()).collect();
    let heading = Heading { title, notes, keys: Vec::new() };
    RowChart { heading, names, panels }.chart("samples", says)
}

fn panel(
    data: &ChartData<'_>,
    metric: Metric,
    phase: &str,
    samples: &[Vec<f64>],
    every: usize,
) -> RowPanel {
    let summaries: Vec<_> =
        data.treatments.iter().map(|shown| shown.summary(phase, metric)).collect();
    let highest = summaries.iter().flatten().filter_map(|found| found.interval.map(|ends| ends[1]));
    let mut values: Vec<f64> = samples.iter().flatten().copied().collect();
    let unit = metric.unit;
    let scale = Scale::fitting(unit, &values);
    // An interval may reach beyond all samples, but a wide one must not squeeze the samples.
    let greatest = values.iter().copied().fold(0.0, f64::max);
    values.extend(highest.map(|end| end.min(greatest * 1.5)));
    let scale = if scale.is_log {
        Scale::logarithmic(unit, &values)
    } else {
        Scale::from_zero(unit, values.iter().copied().fold(0.0, f64::max))
    };
    let rows =
        data.treatments.iter().zip(summaries).zip(samples).map(|((shown, found), samples)| {
            let mut marks = Vec::new();
            if let Some(found) = found {
                if !scale.is_log {
                    let (from, to) = (scale.low(), found.mean);
                    let colour = shown.colour;
                    marks.push(Mark::Bar { from, to, colour, is_pale: true, says: String::new() });
                }
                if scale.has(found.mean) {
                    marks.push(Mark::Tick(found.mean));
                }
            }
            let points = samples.iter().step_by(every).enumerate().map(|(index, at)| Mark::Point {
                at: *at,
                lane: LANES[index % LANES.len()],
                symbol: Symbol::Disc,
                colour: shown.colour,
                radius: 5,
            });
            marks.extend(found.and_then(|found| found.interval).map(Mark::Whisker));
            marks.extend(points);
            Row {
                marks,
                says: found.map_or(String::new(), |found| number::amount(unit, found.mean)),
            }
        });
    RowPanel { title: label::cut(&plain(phase), 60), rows: rows.collect(), reference: None, scale }
}

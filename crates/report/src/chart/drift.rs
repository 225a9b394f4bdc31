//! The drift chart: whether samples grew or shrank over the run, regardless of treatment.

use ssdlab_plan::metric::Unit;
use ssdlab_results::TrialStatus;

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, phase, thinned};
use super::grid::{GridPanel, PanelGrid, Point, Shares, panels_in_a_chart};
use super::palette::PLAIN;
use super::scale::Scale;
use crate::number;
use crate::words::plain;

/// Panels side by side.
const COLUMNS: u32 = 2;

/// The samples of a phase, relative to their treatment's means.
struct Samples<'a> {
    phase: &'a str,
    points: Vec<Point>,
}

/// A panel for each phase that was measured more than once.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let samples = data.phases.iter().map(|phase| samples(data, phase));
    let samples: Vec<Samples<'_>> = samples.filter(|samples| !samples.points.is_empty()).collect();
    in_parts(&samples, panels_in_a_chart(COLUMNS), |samples, part| chart(data, samples, part))
}

/// All samples on the published drive; if the run has steps, also those of treatments that were not
/// kept.
fn samples<'a>(data: &ChartData<'a>, name: &'a str) -> Samples<'a> {
    let metric = data.metric(name);
    let mut points = Vec::new();
    for shown in &data.treatments {
        let of_treatment: Vec<(f64, f64)> = shown
            .treatment
            .trials
            .iter()
            .filter(|trial| trial.status == TrialStatus::Ok && trial.draw.is_none())
            .filter_map(|trial| {
                Some((f64::from(trial.position), phase(trial, name)?.metric(metric)?))
            })
            .filter(|(_, value)| value.is_finite() && *value > 0.0)
            .collect();
        let sum: f64 = of_treatment.iter().map(|(_, value)| value).sum();
        let mean = sum / of_treatment.len() as f64;
        if of_treatment.len() > 1 {
            points.extend(of_treatment.into_iter().map(|(position, value)| Point {
                at: (position, value / mean),
                symbol: shown.symbol,
                colour: shown.colour,
            }));
        }
    }
    points.sort_by(|one, other| one.at.0.total_cmp(&other.at.0));
    Samples { phase: name, points }
}

fn chart(data: &ChartData<'_>, samples: &[Samples<'_>], part: &str) -> Chart {
    let (every, thinned) = thinned(samples.iter().map(|samples| samples.points.len()).sum());
    let title = format!("Drift over the run{part}");
    let notes = format!(
        "Each sample divided by its treatment's mean, by the trial's place in the run. Where the \
         machine or the drive changes during the run, the samples leave the line.{thinned}"
    );
    let says = format!("{}{thinned}", says(samples));
    let heading = Heading { title, notes, keys: data.keys() };
    let last = data.schedule.trials.iter().map(|trial| trial.position).max().unwrap_or(0);
    let across = Scale::from_zero(Unit::Number, f64::from(last));
    let panel = |samples: &Samples<'_>| {
        let mut ratios: Vec<f64> = samples.points.iter().map(|point| point.at.1).collect();
        ratios.push(1.0);
        let up = Scale::logarithmic(Unit::Ratio, &ratios);
        GridPanel {
            reference: Some(1.0),
            points: samples.points.iter().step_by(every).cloned().collect(),
            ..GridPanel::new(plain(samples.phase), across.clone(), up, PLAIN)
        }
    };
    let panels = samples.iter().map(panel).collect();
    let shares = Shares { across: true, up: false };
    PanelGrid { heading, columns: COLUMNS, shares, panels }.chart("drift", says)
}

fn says(samples: &[Samples<'_>]) -> String {
    let points = || samples.iter().flat_map(|samples| &samples.points);
    let ratios = || points().map(|point| point.at.1);
    let (least, greatest) = (ratios().fold(f64::MAX, f64::min), ratios().fold(0.0, f64::max));
    let end = points().map(|point| point.at.0).fold(0.0, f64::max);
    let mean = |is_in: &dyn Fn(f64) -> bool| {
        let logs: Vec<f64> =
            points().filter(|point| is_in(point.at.0)).map(|point| point.at.1.ln()).collect();
        number::ratio((logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp())
    };
    format!(
        "Samples are x{} to x{} of their treatment's mean; in the first quarter of the run x{} on \
         average, in the last x{}.",
        number::ratio(least),
        number::ratio(greatest),
        mean(&|position| position < end / 4.0),
        mean(&|position| position >= end * 0.75)
    )
}

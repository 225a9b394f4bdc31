//! The time series: how much was done in each part of a phase, as a mean over trials.

use ssdlab_plan::metric::{Source, Unit};
use ssdlab_results::PhaseRecord;

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, ChartTreatment, LineStep, over_trials, range, title};
use super::grid::{GridPanel, PanelGrid, Shares, panels_in_a_chart};
use super::label;
use super::scale::Scale;
use crate::table::charted;
use crate::words::plain;

/// The maximum number of steps in a line.
const MOST_STEPS: usize = 32;

/// The least mean number of operations in a step: with fewer, the rate jumps by whole operations.
const OPERATIONS: f64 = 8.0;

/// Panels side by side.
const COLUMNS: u32 = 3;

/// What trials did in each step of a phase.
struct Rates<'a> {
    shown: &'a ChartTreatment<'a>,
    steps: Vec<LineStep>,
}

/// A chart for each phase that counted operations, a panel for each treatment.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    data.phases.iter().flat_map(|phase| of_phase(data, phase)).collect()
}

fn of_phase(data: &ChartData<'_>, phase: &str) -> Vec<Chart> {
    let metric = charted(data.analysis, Source::OpsRate.into(), phase);
    let unit = metric.unit;
    let measured = || data.treatments.iter().flat_map(|shown| shown.measured(phase));
    let Some(step_ns) = measured().filter_map(step_ns).max() else { return Vec::new() };
    let end_ns = measured().filter_map(end_ns).fold(0.0, f64::max);
    let operations = measured().filter_map(|phase| phase.work.as_ref().map(|work| work.operations));
    let fewest = operations.min().unwrap_or(0) as f64 / OPERATIONS;
    let step_ns = coarse_enough(step_ns, end_ns, (MOST_STEPS as f64).min(fewest.max(1.0)));
    let rates = data.treatments.iter().filter_map(|shown| {
        let trials: Vec<Vec<f64>> =
            shown.measured(phase).filter_map(|phase| rates(phase, unit, step_ns)).collect();
        let steps = over_trials(&trials);
        (!steps.is_empty()).then_some(Rates { shown, steps })
    });
    let rates: Vec<Rates<'_>> = rates.collect();
    let greatest = rates.iter().flat_map(|rates| rates.steps.iter().map(|step| step.1[1]));
    let up = Scale::from_zero(unit, greatest.fold(0.0, f64::max));
    let longest = rates.iter().map(|rates| rates.steps.len()).max().unwrap_or(0);
    let across = Scale::from_zero(Unit::Ns, longest as f64 * step_ns as f64);
    in_parts(&rates, panels_in_a_chart(COLUMNS), |rates, part| {
        let place = label::cut(&plain(phase), 30);
        let title = format!("{} over time in {place}{part}", title(metric));
        let notes = "Line: mean over the trials that are still at it. Band: from the least to the \
                     greatest of them. All panels have the same axes."
            .to_owned();
        let heading = Heading { title, notes, keys: Vec::new() };
        let panels = rates.iter().map(|rates| panel(rates, step_ns, &across, &up)).collect();
        let shares = Shares { across: true, up: true };
        let id = format!("series-{}", label::slug(phase));
        PanelGrid { heading, columns: COLUMNS, shares, panels }.chart(&id, says(unit, rates))
    })
}

fn panel(rates: &Rates<'_>, step_ns: u64, across: &Scale, up: &Scale) -> GridPanel {
    let middle = |step: usize| (step as f64 + 0.5) * step_ns as f64;
    let shown = rates.shown;
    GridPanel::new(shown.name.clone(), across.clone(), up.clone(), shown.colour)
        .with_steps(&rates.steps, middle)
}

fn says(unit: Unit, rates: &[Rates<'_>]) -> String {
    let of = |choose: fn(&Rates<'_>) -> Option<f64>| {
        let values = rates.iter().filter_map(|rates| Some(rates.shown.named(choose(rates)?)));
        range(unit, values).unwrap_or_default()
    };
    let first = of(|rates| rates.steps.first().map(|step| step.0));
    let last = of(|rates| rates.steps.last().map(|step| step.0));
    format!("Mean rate in the first step: {first}; in the last: {last}.")
}

fn step_ns(phase: &PhaseRecord) -> Option<u64> {
    let work = phase.work.as_ref()?;
    (work.series.step_ns > 0 && !work.series.operations.is_empty()).then_some(work.series.step_ns)
}

/// The total time of the operations, in ns.
fn end_ns(phase: &PhaseRecord) -> Option<f64> {
    let work = phase.work.as_ref()?;
    let end = work.operations as f64 / work.ops_per_second * 1e9;
    end.is_finite().then_some(end)
}

fn coarse_enough(step_ns: u64, end_ns: f64, most: f64) -> u64 {
    let mut step_ns = step_ns;
    while end_ns / step_ns as f64 > most && step_ns <= u64::MAX / 2 {
        step_ns *= 2;
    }
    step_ns
}

/// The rate in each whole step of a trial; the last operations do not fill a step.
fn rates(phase: &PhaseRecord, unit: Unit, step_ns: u64) -> Option<Vec<f64>> {
    let work = phase.work.as_ref()?;
    let own_ns = self::step_ns(phase)?;
    let together = usize::try_from(step_ns / own_ns).ok()?;
    let end_ns = end_ns(phase)?;
    let is_whole = |step: &usize| *step as f64 * step_ns as f64 <= end_ns;
    let whole = (1..=MOST_STEPS).take_while(is_whole).count();
    let worth = match unit {
        Unit::BytesPerS => work.bytes_per_second? / work.ops_per_second,
        _ => 1.0,
    };
    if whole == 0 {
        return Some(vec![work.ops_per_second * worth]);
    }
    let seconds = step_ns as f64 / 1e9;
    let operations = work.series.operations.chunks(together).map(|steps| steps.iter().sum::<u64>());
    let mut rates: Vec<f64> =
        operations.map(|count| count as f64 * worth / seconds).take(whole).collect();
    // No operation ends during the final sync.
    rates.resize(whole, 0.0);
    Some(rates)
}

#[cfg(test)]
mod tests;

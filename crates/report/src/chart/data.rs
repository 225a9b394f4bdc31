//! What charts show of an analysis: the measured treatments with their names, colours and samples.

use plotters::style::RGBColor;
use ssdlab_advice::{Analysis, MetricSummary, TreatmentResult, TreatmentStatus, TrialResult};
use ssdlab_plan::metric::{Metric, Unit};
use ssdlab_plan::{Factor, Schedule};
use ssdlab_results::{PhaseRecord, TrialStatus};

use super::canvas::Key;
use super::label;
use super::palette::{COLOURS, PLAIN, SYMBOLS, Symbol};
use crate::nouns::{capitalised, noun};
use crate::words::plain;
use crate::{levels, number, table};

/// The maximum number of points in a chart. If there are more, it draws every nth and says so.
const MOST_POINTS: usize = 3000;

/// An analysis as charts see it.
pub(super) struct ChartData<'a> {
    pub schedule: &'a Schedule,
    pub analysis: &'a Analysis,
    /// Treatments with successful trials.
    pub treatments: Vec<ChartTreatment<'a>>,
    /// The phases, in order.
    pub phases: Vec<String>,
    /// The factor whose levels have colours: the first with a few of them.
    coloured: Option<(Factor, Vec<String>)>,
}

pub(super) struct ChartTreatment<'a> {
    pub treatment: &'a TreatmentResult,
    pub name: String,
    pub colour: RGBColor,
    pub symbol: Symbol,
    /// The trials behind its means: those on the published drive, in the last step that measured
    /// it.
    pub trials: Vec<&'a TrialResult>,
    /// The trials of that step on plausible drives.
    pub drawn: Vec<&'a TrialResult>,
}

impl<'a> ChartData<'a> {
    pub fn new(schedule: &'a Schedule, analysis: &'a Analysis) -> Self {
        let coloured = coloured(schedule);
        let is_well = |treatment: &&TreatmentResult| treatment.status == TreatmentStatus::Ok;
        let with_trials: Vec<&TreatmentResult> =
            analysis.treatments.iter().filter(is_well).collect();
        let shown = |treatment: &'a TreatmentResult| {
            let step = |trial: &&TrialResult| schedule.step_of(trial.block);
            let well = || treatment.trials.iter().filter(|trial| trial.status == TrialStatus::Ok);
            let last = well().map(|trial| step(&trial)).max()?;
            let of_last = well().filter(|trial| step(trial) == last);
            let (drawn, trials) = of_last.partition(|trial| trial.draw.is_some());
            let place = coloured.as_ref().and_then(|(factor, levels)| {
                let level = treatment.levels.0.get(factor)?;
                levels.iter().position(|known| known == level)
            });
            Some(ChartTreatment {
                treatment,
                name: name(schedule, &with_trials, treatment),
                colour: place.map_or(PLAIN, |place| COLOURS[place]),
                symbol: SYMBOLS[place.unwrap_or(0)],
                trials,
                drawn,
            })
        };
        let treatments = analysis.treatments.iter().filter_map(shown).collect();
        Self { schedule, analysis, treatments, phases: schedule.phase_names(), coloured }
    }

    /// The metric that a phase is shown by.
    pub fn metric(&self, phase: &str) -> Metric {
        table::charted(self.analysis, self.analysis.metric, phase)
    }

    /// The legend of the colours; empty if they have no meaning.
    pub fn keys(&self) -> Vec<Key> {
        let Some((factor, levels)) = &self.coloured else { return Vec::new() };
        let is_shown = |level: &&String| {
            let has =
                |shown: &ChartTreatment<'_>| shown.treatment.levels.0.get(factor) == Some(*level);
            self.treatments.iter().any(has)
        };
        let key = |(place, level): (usize, &String)| Key {
            symbol: SYMBOLS[place],
            colour: COLOURS[place],
            says: label::cut(&plain(&levels::level_name(*factor, level)), 40),
        };
        levels.iter().enumerate().filter(|(_, level)| is_shown(level)).map(key).collect()
    }
}

impl<'a> ChartTreatment<'a> {
    /// The summary of a phase's metric.
    pub fn summary(&self, phase: &str, metric: impl Into<Metric>) -> Option<&'a MetricSummary> {
        let summary = self.treatment.summary.iter().find(|summary| summary.name == phase)?;
        summary.metrics.get(&metric.into())
    }

    pub fn named(&self, value: f64) -> NamedValue<'_> {
        (value, &self.name)
    }

    /// The mean of a phase's metric; 0 if there is none.
    pub fn mean(&self, phase: &str, metric: impl Into<Metric>) -> f64 {
        self.summary(phase, metric).map_or(0.0, |found| found.mean)
    }

    /// A phase in each trial that has it.
    pub fn measured(&self, phase: &'a str) -> impl Iterator<Item = &'a PhaseRecord> {
        self.trials.iter().filter_map(move |trial| self::phase(trial, phase))
    }

    /// A metric of a phase in each trial that has it, on any drive.
    pub fn samples(&self, phase: &str, metric: Metric) -> Vec<f64> {
        let of = |trial: &&TrialResult| self::phase(trial, phase)?.metric(metric);
        let trials = self.trials.iter().chain(&self.drawn);
        trials.filter_map(of).filter(|value| value.is_finite()).collect()
    }
}

pub(super) fn phase<'a>(trial: &'a TrialResult, name: &str) -> Option<&'a PhaseRecord> {
    trial.phases.iter().find(|phase| phase.name == name)
}

/// What distinguishes a treatment from the others shown.
fn name(schedule: &Schedule, shown: &[&TreatmentResult], treatment: &TreatmentResult) -> String {
    let distinct = schedule.distinct(&treatment.levels);
    let differs = |factor: &Factor| {
        shown.iter().any(|other| other.levels.0.get(factor) != treatment.levels.0.get(factor))
    };
    levels::named(&distinct.only(|factor| differs(factor) || shown.len() == 1))
}

fn coloured(schedule: &Schedule) -> Option<(Factor, Vec<String>)> {
    let first = schedule.treatments.first()?;
    first.levels.0.keys().find_map(|factor| {
        let mut levels: Vec<String> = Vec::new();
        for treatment in &schedule.treatments {
            let level = treatment.levels.0.get(factor)?;
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        (2..=COLOURS.len()).contains(&levels.len()).then_some((*factor, levels))
    })
}

/// A step of a line over trials: their mean, and the smallest and largest value.
pub(super) type LineStep = (f64, [f64; 2]);

/// The steps of trials of any lengths, each over the trials that last that long.
pub(super) fn over_trials(trials: &[Vec<f64>]) -> Vec<LineStep> {
    let longest = trials.iter().map(Vec::len).max().unwrap_or(0);
    let of_step = |step: usize| {
        let values = || trials.iter().filter_map(|trial| trial.get(step).copied());
        let mean = values().sum::<f64>() / values().count() as f64;
        (mean, [values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max)])
    };
    (0..longest).map(of_step).collect()
}

/// n if every nth point is drawn, and the sentence that says so.
pub(super) fn thinned(points: usize) -> (usize, String) {
    let every = points.div_ceil(MOST_POINTS).max(1);
    let says =
        if every == 1 { String::new() } else { format!(" Of every {every} samples one is drawn.") };
    (every, says)
}

/// A value and its owner's name.
pub(super) type NamedValue<'a> = (f64, &'a str);

/// The smallest and the largest of some values of one unit, as part of a sentence.
pub(super) fn range<'a>(
    unit: Unit,
    values: impl IntoIterator<Item = NamedValue<'a>>,
) -> Option<String> {
    range_of(values, |value| number::amount(unit, value))
}

/// The smallest and the largest of some values, formatted by `written`, as part of a sentence.
pub(super) fn range_of<'a>(
    values: impl IntoIterator<Item = NamedValue<'a>>,
    written: impl Fn(f64) -> String,
) -> Option<String> {
    let values: Vec<NamedValue<'_>> = values.into_iter().collect();
    let by_value = |one: &&NamedValue<'_>, other: &&NamedValue<'_>| one.0.total_cmp(&other.0);
    let (least, greatest) = (values.iter().min_by(by_value)?, values.iter().max_by(by_value)?);
    let one = |named: &NamedValue<'_>| format!("{} ({})", written(named.0), named.1);
    Some(match &values[..] {
        [only] => one(only),
        _ if written(least.0) == written(greatest.0) => format!("{} (all)", written(least.0)),
        _ => format!("{} to {}", one(least), one(greatest)),
    })
}

/// A metric as the title of a chart.
pub(super) fn title(metric: Metric) -> String {
    let noun = plain(&noun(metric));
    capitalised(noun.strip_prefix("the ").unwrap_or(&noun))
}

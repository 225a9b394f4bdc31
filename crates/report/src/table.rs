//! The tables: phases by treatments, as the founding posts print them.
//!
//! Columns are the levels the question is about, the baseline first; rows are phases, once for
//! each combination of the other factors. If the question is about more levels than fit side by
//! side, treatments are rows and phases are columns, a few per table.

use std::cmp::Ordering;
use std::iter;

use ssdlab_advice::{
    Analysis, Effect, NoRatio, RankedTreatment, StepRanking, TreatmentResult, TreatmentStatus,
};
use ssdlab_plan::metric::{Metric, Source};
use ssdlab_plan::{BonnieTest, Factor, Levels, Schedule};
use ssdlab_results::TrialStatus;

use super::grid::{self, ReportTable};
use super::levels::{label, named};
use super::number;
use super::plausible;
use super::words::{Style, plain};

/// The maximum number of levels side by side.
const MOST_COLUMNS: usize = 4;

/// The metric of phases that move bytes, besides their operations.
const MOVED: Source = Source::ByteRate;

/// The width of a treatment's name.
const LABEL_WIDTH: usize = 14;

/// What follows the last phase, in tables of what reached the device; no phase is called so.
const UNMOUNTING: &str = "(unmounting)";

/// How treatments are laid out: which factors make columns, which make rows.
#[derive(Clone)]
pub(super) struct TableLayout<'a> {
    schedule: &'a Schedule,
    analysis: &'a Analysis,
    /// Combinations of the factors the question is about.
    columns: Vec<Levels>,
    /// Combinations of the others.
    rows: Vec<Levels>,
    /// The phases that are shown.
    phases: Vec<String>,
}

impl<'a> TableLayout<'a> {
    pub fn new(schedule: &'a Schedule, analysis: &'a Analysis) -> Self {
        let asked = |factor: &Factor| schedule.baseline.0.contains_key(factor);
        let mut columns = vec![schedule.baseline.clone()];
        let mut rows: Vec<Levels> = Vec::new();
        for treatment in &schedule.treatments {
            let column = treatment.levels.only(asked);
            let row = treatment.levels.only(|factor| !asked(factor));
            if !columns.contains(&column) {
                columns.push(column);
            }
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Self { schedule, analysis, columns, rows, phases: schedule.phase_names() }
    }

    fn shows(&self, levels: &Levels) -> bool {
        let of_row = |row: &Levels| self.columns.iter().any(|column| row.with(column) == *levels);
        self.rows.iter().any(of_row)
    }

    fn treatment(&self, row: &Levels, column: &Levels) -> Option<&'a TreatmentResult> {
        let levels = row.with(column);
        self.analysis.treatments.iter().find(|treatment| treatment.levels == levels)
    }

    /// A row's levels of the factors that differ between rows; the others are above the table.
    fn row_label(&self, row: &Levels) -> String {
        let differs = |factor: &Factor| {
            self.rows.iter().any(|other| other.0.get(factor) != self.rows[0].0.get(factor))
        };
        named(&row.only(differs))
    }

    fn header(&self, column: &Levels) -> String {
        if column.0.is_empty() {
            return "mean".to_owned();
        }
        let is_baseline = *column == self.schedule.baseline && self.columns.len() > 1;
        plain(&format!("{column}{}", if is_baseline { " (baseline)" } else { "" }))
    }

    /// The plan's metric: means, and the ratio to the baseline with its interval, in several tables
    /// if they do not fit into one.
    pub fn main_table(&self, style: Style) -> Vec<ReportTable> {
        self.table(style, |treatment, phase| self.main_cell(treatment, phase))
    }

    /// What reached the device: bytes and requests. Unmounting is in it where it matters.
    pub fn device_table(&self, style: Style) -> Vec<ReportTable> {
        let mut layout = self.clone();
        let mut shown = self.analysis.treatments.iter().filter(|own| self.shows(&own.levels));
        if shown.any(|treatment| treatment.unmounting.is_some()) {
            layout.phases.push(UNMOUNTING.to_owned());
        }
        layout.table(style, |treatment, phase| match phase {
            UNMOUNTING => unmounting_cell(treatment),
            _ => device_cell(treatment, phase),
        })
    }

    fn table(
        &self,
        style: Style,
        cell: impl Fn(&TreatmentResult, &str) -> Option<String>,
    ) -> Vec<ReportTable> {
        if self.columns.len() > MOST_COLUMNS {
            return self.treatments_by_phases(style, cell);
        }
        let labelled = self.rows.len() > 1;
        let mut header = vec!["phase".to_owned()];
        header.extend(self.columns.iter().map(|column| self.header(column)));
        if labelled {
            header.insert(0, String::new());
        }
        let mut rows = Vec::new();
        for row in &self.rows {
            for (index, phase) in self.phases.iter().enumerate() {
                let cells: Vec<Option<String>> = self
                    .columns
                    .iter()
                    .map(|column| cell(self.treatment(row, column)?, phase))
                    .collect();
                if cells.iter().all(Option::is_none) && index > 0 {
                    continue;
                }
                let mut line = vec![plain(phase)];
                let treatments = self.columns.iter().map(|column| self.treatment(row, column));
                line.extend(cells.into_iter().zip(treatments).map(|(cell, treatment)| {
                    cell.unwrap_or_else(|| self.why_absent(treatment, phase))
                }));
                if labelled {
                    let label = if index == 0 { self.row_label(row) } else { String::new() };
                    line.insert(0, label);
                }
                rows.push(line);
            }
        }
        vec![ReportTable { header, rows, numbers: 1 + usize::from(labelled) }]
    }

    /// Why a cell has no value.
    fn why_absent(&self, treatment: Option<&TreatmentResult>, phase: &str) -> String {
        let Some(treatment) = treatment else { return "excluded".to_owned() };
        if treatment.status != TreatmentStatus::Ok {
            let is_completed = self.beside_failure(treatment, phase).is_lt();
            return if is_completed {
                "completed".to_owned()
            } else {
                treatment.status.to_string()
            };
        }
        let index = self.schedule.find(&treatment.levels);
        let mut phases = index.into_iter().flat_map(|index| self.schedule.phases(index));
        let metric = self.analysis.metric;
        let why = match phases.find(|step| step.name == phase) {
            None => "not done",
            Some(step) if metric.is_of_reader() && !step.reader => "no reader",
            Some(step) if metric.is_of_days() && step.a_day.is_none() => "no `a_day`",
            Some(_) if metric.is_of_a_block() => "too few erases",
            Some(_) => "not measured",
        };
        why.to_owned()
    }

    /// Where a phase is relative to the one in which a treatment failed, by the trial that says
    /// why.
    fn beside_failure(&self, treatment: &TreatmentResult, phase: &str) -> Ordering {
        let index = self.schedule.find(&treatment.levels);
        let phases = index.map_or_else(Vec::new, |index| self.schedule.phases(index));
        let failed = treatment.trials.iter().find(|trial| trial.status != TrialStatus::Ok);
        let completed = failed.map_or(0, |trial| match trial.status {
            TrialStatus::Unavailable => 0,
            TrialStatus::Ok | TrialStatus::Failed | TrialStatus::Void => trial.phases.len(),
        });
        let failed_in = completed.min(phases.len().saturating_sub(1));
        let place = phases.iter().position(|own| own.name == phase);
        place.map_or(Ordering::Greater, |place| place.cmp(&failed_in))
    }

    /// One row per treatment, with as many phases side by side as fit.
    fn treatments_by_phases(
        &self,
        style: Style,
        cell: impl Fn(&TreatmentResult, &str) -> Option<String>,
    ) -> Vec<ReportTable> {
        let side_by_side = grid::side_by_side(style, LABEL_WIDTH);
        let ran = self.analysis.treatments.iter();
        let ran = ran.filter(|treatment| treatment.status != TreatmentStatus::Unselected);
        let ran = ran.filter(|treatment| self.shows(&treatment.levels));
        let tables = self.phases.chunks(side_by_side).map(|phases| {
            let levels = self.schedule.distinct(&self.schedule.treatments[0].levels);
            let names: Vec<&str> = levels.0.keys().map(|factor| factor.name()).collect();
            let row = |treatment: &TreatmentResult| {
                let label = label(self.schedule, &treatment.levels);
                let cells = phases.iter().map(|phase| {
                    let absent = || self.why_absent(Some(treatment), phase);
                    cell(treatment, phase).unwrap_or_else(absent)
                });
                iter::once(label).chain(cells).collect()
            };
            let header = iter::once(names.join(", ")).chain(phases.iter().cloned()).collect();
            ReportTable { header, rows: ran.clone().map(row).collect(), numbers: 1 }
        });
        tables.collect()
    }

    /// The treatments of each step that has begun, the best first.
    pub fn rankings(&self) -> impl Iterator<Item = (&'a StepRanking, ReportTable)> {
        let rankings = self.analysis.rankings.iter();
        rankings.map(|ranking| (ranking, places(self.schedule, ranking)))
    }

    /// The main metric, and those beside it below; a dash stands for one that the phase lacks.
    fn main_cell(&self, treatment: &TreatmentResult, phase: &str) -> Option<String> {
        let own = self.own_cell(treatment, phase);
        let beside = self.schedule.beside.iter().map(|&metric| {
            let mean = self::mean(treatment, phase, metric)?;
            let effect = self.analysis.effect(metric, &treatment.levels, phase);
            let ratio = effect.map_or(String::new(), |own| format!("\n{}", plausible::effect(own)));
            Some(format!("{}{ratio}", number::value(metric, mean)))
        });
        let beside: Vec<Option<String>> = beside.collect();
        if beside.iter().all(Option::is_none) {
            return own;
        }
        let lines = iter::once(own).chain(beside);
        let lines: Vec<String> = lines.map(|line| line.unwrap_or_else(|| "-".to_owned())).collect();
        Some(lines.join("\n"))
    }

    fn own_cell(&self, treatment: &TreatmentResult, phase: &str) -> Option<String> {
        let metric = self.analysis.metric;
        let Some(mean) = mean(treatment, phase, metric) else {
            let failed_here = treatment.status != TreatmentStatus::Ok
                && self.beside_failure(treatment, phase).is_eq();
            return failed_here.then(|| treatment.status.to_string());
        };
        let mut cell = shown(self.analysis, treatment, phase)?.1;
        match metric.source {
            Source::Time => {
                if let Some(rate) = self.rate(treatment, phase) {
                    cell = format!("{cell} ({rate})");
                }
                cell += &settled(treatment, phase, mean);
            }
            Source::WrittenBytes => {
                let requests = self::mean(treatment, phase, Source::WriteRequests).unwrap_or(0.0);
                cell = format!("{cell} / {}", number::value(Source::WriteRequests, requests));
            }
            _ => {}
        }
        if let Some(published) = self.schedule.published(&treatment.levels, phase) {
            let (value, basis) = (number::value(metric, published.value), published.basis);
            cell = format!("{cell}\npublished {value} ({basis})");
        }
        if let Some(effect) = self.effect(treatment, phase) {
            cell = format!("{cell}\n{}", plausible::effect(effect));
        }
        let is_own = |own: &&NoRatio| own.levels == treatment.levels && own.phase == phase;
        if let Some(NoRatio { found, .. }) = self.analysis.without_ratio.iter().find(is_own) {
            cell = format!("{cell}\n{}", number::against_nothing(metric, found));
        }
        Some(cell)
    }

    fn effect(&self, treatment: &TreatmentResult, phase: &str) -> Option<&'a Effect> {
        self.analysis.effect(self.analysis.metric, &treatment.levels, phase)
    }

    /// The bytes that the phases up to this sync wrote, over their total time: the post's 172 MB/s
    /// is 493 MB over unpack and sync.
    fn rate(&self, treatment: &TreatmentResult, phase: &str) -> Option<String> {
        let index = self.schedule.find(&treatment.levels)?;
        let (mut bytes, mut ns) = (0.0, 0.0);
        for step in self.schedule.phases(index) {
            bytes += mean(treatment, &step.name, Source::ApplicationBytes).unwrap_or(0.0);
            ns += mean(treatment, &step.name, Source::Time)?;
            if step.name == phase {
                return (step.syncs() && bytes > 0.0).then(|| number::rate(bytes, ns));
            }
            if step.syncs() {
                (bytes, ns) = (0.0, 0.0);
            }
        }
        None
    }
}

/// A ranking, the best first.
pub(super) fn places(schedule: &Schedule, ranking: &StepRanking) -> ReportTable {
    let goes_on = ranking.places.iter().any(|place| place.goes_on.is_some());
    let header = ["place", "set", "", "to the first", "none better in"];
    let header = header.into_iter().chain(goes_on.then_some("goes on"));
    let row = |place: &RankedTreatment| {
        let range = if place.first == place.last {
            place.first.to_string()
        } else {
            format!("{} to {}", place.first, place.last)
        };
        let best_in = match place.best_in.len() {
            0 => String::new(),
            all if all == ranking.phases.len() => "all".to_owned(),
            _ => place.best_in.join(", "),
        };
        let to_the_first = number::effect(place.ratio, place.interval);
        let label = label(schedule, &place.levels);
        let cells = [range, letters(&place.sets), label, to_the_first, best_in];
        let goes = place.goes_on.map(|goes| if goes { "yes" } else { "" }.to_owned());
        cells.into_iter().chain(goes.filter(|_| goes_on)).collect()
    };
    ReportTable {
        header: header.map(str::to_owned).collect(),
        rows: ranking.places.iter().map(row).collect(),
        numbers: usize::MAX,
    }
}

/// Sets as letters, a compact letter display: treatments without a common letter are
/// distinguishable.
fn letters(sets: &[usize]) -> String {
    let letter = |set: &usize| {
        let letter = u8::try_from((set - 1) % 26).map_or('?', |index| char::from(b'a' + index));
        let round = (set - 1) / 26;
        if round == 0 { letter.to_string() } else { format!("{letter}{round}") }
    };
    sets.iter().map(letter).collect()
}

/// Whether a phase is measured in bytes moved; Bonnie's seeks and small files are counted instead.
fn moves_bytes(analysis: &Analysis, phase: &str) -> bool {
    let mut counted = BonnieTest::ALL.into_iter().filter(|test| *test >= BonnieTest::RandomSeek);
    let has_bytes = |treatment: &TreatmentResult| mean(treatment, phase, MOVED).is_some();
    counted.all(|test| test.name() != phase) && analysis.treatments.iter().any(has_bytes)
}

/// The metric in brackets beside the plan's metric, if any.
pub(super) fn beside(analysis: &Analysis) -> Option<Metric> {
    let mut phases = analysis.treatments.iter().flat_map(|treatment| &treatment.summary);
    let metric = analysis.metric;
    phases.any(|phase| charted(analysis, metric, &phase.name) != metric).then_some(MOVED.into())
}

/// The metric that a chart shows for a phase: bytes instead of operations that move bytes.
pub(super) fn charted(analysis: &Analysis, metric: Metric, phase: &str) -> Metric {
    let is_moved = metric.source == Source::OpsRate && moves_bytes(analysis, phase);
    if is_moved { MOVED.into() } else { metric }
}

/// The mean of the plan's metric in a phase, and its text; for operations that move bytes, with the
/// bytes.
pub(super) fn shown(
    analysis: &Analysis,
    treatment: &TreatmentResult,
    phase: &str,
) -> Option<(f64, String)> {
    let metric = analysis.metric;
    let value = mean(treatment, phase, metric)?;
    let written = number::value(metric, value);
    let charted = charted(analysis, metric, phase);
    let moved = mean(treatment, phase, charted).filter(|_| charted != metric);
    Some(match moved {
        Some(moved) => (value, format!("{written} ({})", number::value(charted, moved))),
        None => (value, written),
    })
}

/// A mean over the trials of a treatment.
pub(super) fn mean(
    treatment: &TreatmentResult,
    phase: &str,
    metric: impl Into<Metric>,
) -> Option<f64> {
    let summary = treatment.summary.iter().find(|summary| summary.name == phase)?;
    Some(summary.metrics.get(&metric.into())?.mean)
}

/// A metric's mean over the trials of a treatment, its phases taken together; `None` if they
/// cannot be.
pub(super) fn total(
    analysis: &Analysis,
    levels: &Levels,
    phases: &[String],
    metric: Metric,
) -> Option<f64> {
    let treatment = analysis.treatments.iter().find(|own| own.levels == *levels)?;
    let means: Option<Vec<f64>> =
        phases.iter().map(|phase| mean(treatment, phase, metric)).collect();
    metric.taken_together(&means?)
}

/// The time until the device is quiet, if it exceeds the phase's own by more than a tenth.
fn settled(treatment: &TreatmentResult, phase: &str, time: f64) -> String {
    match mean(treatment, phase, Source::Settled) {
        Some(settled) if settled > 1.1 * time => {
            format!("\nquiet after {}", number::value(Source::Settled, settled))
        }
        _ => String::new(),
    }
}

fn device_cell(treatment: &TreatmentResult, phase: &str) -> Option<String> {
    let of = |source: Source| mean(treatment, phase, source);
    let written = [of(Source::WrittenBytes)?, of(Source::WriteRequests)?];
    Some(on_device(written, [of(Source::DiscardedBytes)?, of(Source::DiscardRequests)?]))
}

/// What unmounting did, and how long it took.
fn unmounting_cell(treatment: &TreatmentResult) -> Option<String> {
    if treatment.status != TreatmentStatus::Ok {
        return None;
    }
    let Some(own) = treatment.unmounting else { return Some("negligible".to_owned()) };
    let written = [own.written_bytes, own.write_requests].map(|number| number as f64);
    let discarded = [own.discarded_bytes, own.discard_requests].map(|number| number as f64);
    let time = number::value(Source::Time, own.time_ns as f64);
    Some(format!("{}\nin {time}", on_device(written, discarded)))
}

/// Bytes and requests.
fn on_device(written: [f64; 2], discarded: [f64; 2]) -> String {
    let of = |metrics: [Source; 2], [bytes, requests]: [f64; 2]| {
        let [bytes, requests] =
            [number::value(metrics[0], bytes), number::value(metrics[1], requests)];
        format!("{bytes} / {requests}")
    };
    let mut cell = of([Source::WrittenBytes, Source::WriteRequests], written);
    if discarded[1] > 0.0 {
        cell += "\ndiscarded ";
        cell += &of([Source::DiscardedBytes, Source::DiscardRequests], discarded);
    }
    cell
}

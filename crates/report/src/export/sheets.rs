//! The sheets of a spreadsheet: raw samples, their summary, the claims, and chart data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use ssdlab_advice::{Analysis, Effect, Judgement, MetricSummary, OpenReason, TreatmentResult};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Factor, Levels, Schedule};

use super::ods::{Sheet, workbook};
use super::samples::{ExportedSample, TrialRows, factors};
use super::{Cell, Samples};

/// Writes the sheets `samples`, `summary`, `claims` and `charts` as an `OpenDocument` spreadsheet.
///
/// A sheet has at most about a million rows, so the samples have one row per trial and phase, and
/// one column per metric.
pub fn ods(
    samples: &Samples<'_>,
    schedule: &Schedule,
    analysis: &Analysis,
    mut out: impl Write,
) -> io::Result<()> {
    let factors = factors(schedule);
    let sheets = vec![
        phases(samples),
        summary(&factors, analysis),
        claims(analysis),
        charts(&factors, analysis),
    ];
    out.write_all(&workbook(sheets)?)
}

fn phases<'a>(samples: &'a Samples<'_>) -> Sheet<'a> {
    let metrics = samples.metrics();
    let of_trial = samples.trial_columns().chain(["phase"]);
    let columns = of_trial.map(Cow::from).chain(metrics.iter().cloned()).collect();
    let rows = samples.trials().flat_map(move |trial| phase_rows(&trial, &metrics));
    Sheet { name: "samples", columns, rows: Box::new(rows) }
}

/// A trial's rows, one per phase, and at least one.
fn phase_rows<'a>(trial: &TrialRows<'a>, metrics: &[Cow<'_, str>]) -> Vec<Vec<Cell<'a>>> {
    if trial.samples.is_empty() {
        return vec![trial.cells.clone()];
    }
    let of_phase = trial.samples.chunk_by(|one, next| one.phase == next.phase);
    let row = |samples: &[ExportedSample<'a>]| {
        let mut row = trial.cells.clone();
        row.push(Cell::text(samples[0].phase));
        row.extend(metrics.iter().map(|metric| {
            let sample = samples.iter().find(|sample| sample.metric == *metric);
            Cell::from(sample.map(|sample| sample.value))
        }));
        row
    };
    of_phase.map(row).collect()
}

fn summary<'a>(factors: &[Factor], analysis: &'a Analysis) -> Sheet<'a> {
    let mut columns: Vec<&str> = factors.iter().map(|factor| factor.name()).collect();
    columns.extend(["status", "reason", "phase", "metric", "unit"]);
    columns.extend(["n", "mean", "median", "sd", "min", "max"]);
    columns.extend(["ratio", "ratio_low", "ratio_high", "blocks"]);
    let mut effects: BTreeMap<(&Levels, &str, Metric), &Effect> = BTreeMap::new();
    for effect in &analysis.effects {
        if let [phase] = effect.phases.as_slice() {
            effects.insert((&effect.levels, phase.as_str(), effect.metric), effect);
        }
    }
    let mut rows: Vec<Vec<Cell<'a>>> = Vec::new();
    for treatment in &analysis.treatments {
        let mut head = levels(factors, &treatment.levels);
        head.push(Cell::text(treatment.status.to_string()));
        head.push(Cell::text(treatment.reason.as_deref().unwrap_or_default()));
        let before = rows.len();
        for (phase, metric, summary) in summaries(treatment) {
            let effect = effects.get(&(&treatment.levels, phase, metric));
            let mut row = head.clone();
            row.extend(measured(phase, metric));
            row.extend([Cell::from(summary.n), Cell::from(summary.mean)]);
            row.extend([Cell::from(summary.median), Cell::from(summary.sd)]);
            row.extend([Cell::from(summary.min), Cell::from(summary.max)]);
            if let Some(effect) = effect {
                row.extend(interval(Some(effect.ratio), effect.interval));
                row.push(Cell::from(effect.n));
            }
            rows.push(row);
        }
        if rows.len() == before {
            rows.push(head);
        }
    }
    Sheet { name: "summary", columns: header(columns), rows: Box::new(rows.into_iter()) }
}

fn claims(analysis: &Analysis) -> Sheet<'_> {
    let columns = vec![
        "id",
        "says",
        "verdict",
        "reason",
        "metric",
        "phases",
        "against_phase",
        "treatment",
        "baseline",
        "claimed",
        "at_least",
        "at_most",
        "found",
        "found_low",
        "found_high",
        "n",
        "across_hosts",
        "plausible_holds",
        "plausible_of",
        "plausible_least",
        "plausible_median",
        "plausible_most",
        "guarantees",
        "separated_by",
        "p",
        "more_runs",
        "scope",
    ];
    let rows = analysis.claims.iter().map(claim);
    Sheet { name: "claims", columns: header(columns), rows: Box::new(rows) }
}

fn header(columns: Vec<&str>) -> Vec<Cow<'_, str>> {
    columns.into_iter().map(Cow::from).collect()
}

fn claim(judgement: &Judgement) -> Vec<Cell<'_>> {
    let Judgement { claim, outcome, .. } = judgement;
    let why = outcome.why();
    let estimate = outcome.estimate();
    let [at_least, at_most] = judgement.bounds().ends();
    // For treatments that are not in the run, the levels that the plan names.
    let shown = |levels: &Option<Levels>, named: &Levels| {
        Cell::text(levels.as_ref().unwrap_or(named).to_string())
    };
    let mut row = vec![
        Cell::text(judgement.id.as_str()),
        Cell::text(claim.says.as_str()),
        Cell::text(outcome.verdict().to_string()),
        Cell::text(why.and_then(OpenReason::reason).unwrap_or_default()),
        Cell::text(claim.metric.name),
        Cell::text(claim.phases.join(", ")),
        Cell::text(claim.against_phase.as_deref().unwrap_or_default()),
        shown(&judgement.levels, &claim.compare),
        shown(&judgement.baseline, &claim.against),
        Cell::text(if claim.is_absolute() { claim.metric.unit.symbol() } else { "ratio" }),
        Cell::from(at_least),
        Cell::from(at_most),
    ];
    row.extend(interval(outcome.ratio(), outcome.interval()));
    row.push(Cell::from(estimate.map_or(0, |of| of.n)));
    row.push(Cell::from(estimate.and_then(|of| of.across_hosts)));
    let over = judgement.plausible.as_ref();
    row.extend([over.map(|over| over.holds), over.map(|over| over.of)].map(Cell::from));
    let spread = over.map(|over| &over.spread);
    row.extend([spread.map(|of| of.least), spread.map(|of| of.median)].map(Cell::from));
    row.extend([spread.map(|of| of.most), over.and_then(|of| of.guarantees)].map(Cell::from));
    let by = over.and_then(|over| over.separated_by.as_ref());
    row.push(Cell::text(by.map_or("", |by| by.parameter.as_str())));
    row.extend([Cell::from(outcome.p()), Cell::from(why.and_then(OpenReason::more_runs))]);
    row.push(Cell::text(judgement.scope.unwrap_or_default()));
    row
}

/// Chart data of the plan's metric besides the samples: means with their intervals.
fn charts<'a>(factors: &[Factor], analysis: &'a Analysis) -> Sheet<'a> {
    let mut columns = vec!["phase", "metric", "unit"];
    columns.extend(factors.iter().map(|factor| factor.name()));
    columns.extend(["mean", "low", "high"]);
    let mut rows: Vec<Vec<Cell<'a>>> = Vec::new();
    for treatment in &analysis.treatments {
        for (phase, metric, summary) in summaries(treatment) {
            if metric == analysis.metric {
                let mut row = Vec::from(measured(phase, metric));
                row.extend(levels(factors, &treatment.levels));
                row.extend(interval(Some(summary.mean), summary.interval));
                rows.push(row);
            }
        }
    }
    Sheet { name: "charts", columns: header(columns), rows: Box::new(rows.into_iter()) }
}

fn summaries(treatment: &TreatmentResult) -> impl Iterator<Item = (&str, Metric, &MetricSummary)> {
    treatment.summary.iter().flat_map(|phase| {
        let metrics = phase.metrics.iter();
        metrics.map(move |(metric, summary)| (phase.name.as_str(), *metric, summary))
    })
}

fn measured(phase: &str, metric: Metric) -> [Cell<'_>; 3] {
    [Cell::text(phase), Cell::text(metric.name), Cell::text(metric.unit.symbol())]
}

/// An estimate and the ends of its interval.
fn interval<'a>(estimate: Option<f64>, interval: Option<[f64; 2]>) -> [Cell<'a>; 3] {
    let [low, high] = interval.map_or([None, None], |ends| ends.map(Some));
    [estimate, low, high].map(Cell::from)
}

fn levels<'a>(factors: &[Factor], levels: &'a Levels) -> Vec<Cell<'a>> {
    let level = |factor| levels.0.get(factor).map_or("", String::as_str);
    factors.iter().map(|factor| Cell::text(level(factor))).collect()
}

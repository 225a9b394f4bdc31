//! The samples of a run: their columns and their order.

use std::borrow::Cow;

use ssdlab_plan::metric::{Metric, Unit};
use ssdlab_plan::{Factor, Schedule};
use ssdlab_results::{PhaseRecord, Record, Teardown};

use super::Cell;

/// The columns that identify a sample's trial; the factors follow.
const OF_TRIAL: [&str; 12] = [
    "run",
    "plan",
    "lab",
    "seed",
    "block",
    "position",
    "step",
    "status",
    "reason",
    "fingerprint",
    "started_s",
    "draw",
];

/// The columns of the sample itself.
const OF_SAMPLE: [&str; 4] = ["phase", "metric", "unit", "value"];

/// The phase under which samples of unmounting are exported.
const TEARDOWN: &str = "teardown";

/// The samples of a run, trial by trial in the order of the schedule.
#[derive(Debug)]
pub struct Samples<'a> {
    run: &'a str,
    schedule: &'a Schedule,
    records: Vec<&'a Record>,
    factors: Vec<Factor>,
}

/// A trial: the cells shared by all its samples, and the samples.
pub(super) struct TrialRows<'a> {
    /// The cells of the trial's and the factors' columns.
    pub cells: Vec<Cell<'a>>,
    /// Its samples, phase by phase; empty if nothing was measured.
    pub samples: Vec<ExportedSample<'a>>,
}

/// A metric of a phase in a trial.
pub(super) struct ExportedSample<'a> {
    pub phase: &'a str,
    pub metric: Cow<'a, str>,
    unit: Unit,
    pub value: f64,
}

impl<'a> Samples<'a> {
    /// The samples of the run of this name.
    pub fn new(run: &'a str, schedule: &'a Schedule, records: &'a [Record]) -> Self {
        let mut records: Vec<&Record> = records.iter().collect();
        // Concurrent trials finish in any order.
        records.sort_by_key(|record| record.trial.position);
        Self { run, schedule, records, factors: factors(schedule) }
    }

    /// The columns that identify a sample's trial.
    pub(super) fn trial_columns(&self) -> impl Iterator<Item = &str> {
        let factors = self.factors.iter().map(|factor| factor.name());
        OF_TRIAL.into_iter().chain(factors)
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.trial_columns().chain(OF_SAMPLE)
    }

    pub(super) fn trials(&self) -> impl ExactSizeIterator<Item = TrialRows<'a>> {
        self.records.iter().copied().map(|record| self.trial(record))
    }

    /// Every metric of any trial, in order of appearance.
    pub(super) fn metrics(&self) -> Vec<Cow<'a, str>> {
        let mut metrics: Vec<Cow<'_, str>> = Vec::new();
        for record in self.records.iter().copied() {
            for ExportedSample { metric, .. } in samples(record) {
                if !metrics.contains(&metric) {
                    metrics.push(metric);
                }
            }
        }
        metrics
    }

    fn trial(&self, record: &'a Record) -> TrialRows<'a> {
        let step = self.schedule.steps.get(self.schedule.step_of(record.trial.block));
        // Imported records have no seed and no block.
        let own = |value: u64| Cell::from(record.imported.is_none().then_some(value));
        let started = Some(record.started_s).filter(|at| *at > 0);
        let mut cells = vec![
            Cell::text(self.run),
            Cell::text(self.schedule.plan.as_str()),
            Cell::text(record.lab.to_string()),
            own(record.trial.seed),
            own(record.trial.block.into()),
            Cell::from(record.trial.position),
            Cell::text(step.map_or("", |step| step.name.as_str())),
            Cell::text(record.status.to_string()),
            Cell::text(record.reason.as_deref().unwrap_or_default()),
            Cell::text(record.fingerprint.as_deref().unwrap_or_default()),
            Cell::from(started),
            Cell::from(record.draw.as_ref().and(self.schedule.draw_of(record.trial.block))),
        ];
        let level = |factor| record.levels.0.get(factor).map_or("", String::as_str);
        cells.extend(self.factors.iter().map(|factor| Cell::text(level(factor))));
        TrialRows { cells, samples: samples(record).collect() }
    }
}

impl<'a> TrialRows<'a> {
    /// The sample columns of each row. A trial in which nothing was measured has a row, too.
    pub fn rows(&self) -> Vec<[Cell<'a>; 4]> {
        if self.samples.is_empty() {
            return vec![[Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty]];
        }
        self.samples.iter().map(ExportedSample::cells).collect()
    }
}

impl<'a> ExportedSample<'a> {
    fn cells(&self) -> [Cell<'a>; 4] {
        [
            Cell::text(self.phase),
            Cell::text(self.metric.clone()),
            Cell::text(self.unit.symbol()),
            Cell::from(self.value),
        ]
    }
}

/// The factors of any treatment, in the order of the plan's levels.
pub(super) fn factors(schedule: &Schedule) -> Vec<Factor> {
    let all = schedule.treatments.iter().flat_map(|treatment| treatment.levels.0.keys());
    let mut factors: Vec<Factor> = all.copied().collect();
    factors.sort_unstable();
    factors.dedup();
    factors
}

/// The samples of a trial.
fn samples(record: &Record) -> impl Iterator<Item = ExportedSample<'_>> {
    let phases = record.phases.iter().flat_map(|phase| {
        phase.metrics().map(move |(metric, value)| ExportedSample {
            phase: &phase.name,
            metric: metric.name.into(),
            unit: metric.unit,
            value,
        })
    });
    phases.chain(record.teardown.iter().flat_map(of_teardown))
}

/// The metrics of unmounting. Their names differ from those of a phase that a plan calls
/// `teardown`.
fn of_teardown(teardown: &Teardown) -> Vec<ExportedSample<'_>> {
    let Teardown { time_ns, device } = *teardown;
    let phase =
        PhaseRecord { time_ns: Some(time_ns), device: Some(device), ..PhaseRecord::default() };
    let sample = |(metric, value): (Metric, f64)| ExportedSample {
        phase: TEARDOWN,
        metric: format!("{TEARDOWN}.{metric}").into(),
        unit: metric.unit,
        value,
    };
    phase.metrics().map(sample).collect()
}

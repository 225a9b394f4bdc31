//! What a comparison keeps of a run: its values, their seeds, and what it ran on.
//!
//! Runs are read one after another, so that their large records need not stay in memory.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::{Aggregation, Metric};
use ssdlab_plan::{Factor, Levels, Origin, Schedule};
use ssdlab_results::{Ending, PhaseRecord, Record, TrialStatus};

use super::facts::{TreatmentFacts, facts};
use crate::Completeness;
use crate::counted::{counted, of_last_step};

/// A run that is compared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Compared")]
pub struct ComparedRun {
    /// Its name.
    pub run: String,
    /// The plan's name.
    pub plan: String,
    /// Where its trials ran.
    pub lab: Origin,
    /// When its first trial started, in seconds since 1970.
    pub started_s: u64,
    /// Whether it came to its planned end.
    pub status: Completeness,
    /// Why it ended.
    pub ending: Ending,
    /// Its trials.
    pub trials: usize,
    /// Those that went well.
    pub trials_ok: usize,
}

#[derive(Debug)]
pub struct Candidate {
    pub(super) run: String,
    pub(super) schedule: Schedule,
    pub(super) metric: Metric,
    /// For each treatment, the phases that are taken together: each alone, then all.
    pub(super) quantities: Vec<Vec<Vec<String>>>,
    /// For each treatment, what may differ between runs besides the measurements.
    pub(super) facts: Vec<TreatmentFacts>,
    /// The metrics that any trial has.
    pub(super) metrics: BTreeSet<Metric>,
    /// Why the first trial that did not succeed failed.
    pub(super) first_reason: Option<String>,
    samples: Vec<Vec<Sample>>,
    ending: Ending,
    started_s: u64,
    trials: usize,
    trials_ok: usize,
}

/// A successful trial.
#[derive(Debug)]
struct Sample {
    seed: u64,
    /// The metric, for each of the treatment's quantities.
    values: Vec<Option<f64>>,
}

impl Candidate {
    /// Takes what a comparison of a run's `metric` needs; `run` is the run's name.
    pub fn new(
        run: &str,
        schedule: Schedule,
        records: &[Record],
        ending: Ending,
        metric: Metric,
    ) -> Self {
        let count = schedule.treatments.len();
        let quantities: Vec<_> =
            (0..count).map(|index| quantities(&schedule, index, metric)).collect();
        // Runs are compared on the published drive.
        let mut well: Vec<&Record> =
            counted(records).filter(|record| record.draw.is_none()).collect();
        well.sort_by_key(|record| record.trial.block);
        let mut samples: Vec<Vec<Sample>> = Vec::new();
        let mut all_facts = Vec::new();
        let mut metrics = BTreeSet::new();
        for (treatment, quantities) in quantities.iter().enumerate() {
            let own = well.iter().copied().filter(|record| record.trial.treatment == treatment);
            let shown = of_last_step(&schedule, own.collect());
            let shown = || shown.iter().copied();
            // If some trials lack the metric, the others are a biased sample.
            let is_whole = |phases: &Vec<String>| !shown().any(|r| r.lacks(metric, phases));
            let whole: Vec<bool> = quantities.iter().map(is_whole).collect();
            let sample = |record: &Record| {
                let value = |(phases, whole): (&Vec<String>, &bool)| {
                    whole.then(|| record.over(metric, phases)).flatten()
                };
                let values = quantities.iter().zip(&whole).map(value).collect();
                Sample { seed: record.trial.seed, values }
            };
            samples.push(shown().map(sample).collect());
            all_facts.push(facts(shown()));
            metrics.extend(shown().flat_map(measured));
        }
        // A trial that failed before its drive was drawn has no draw.
        let is_published = |record: &&Record| schedule.draw_of(record.trial.block).is_none();
        let bad =
            records.iter().filter(is_published).find(|record| record.status != TrialStatus::Ok);
        Self {
            run: run.to_owned(),
            metric,
            quantities,
            facts: all_facts,
            metrics,
            first_reason: bad.and_then(|record| record.reason.clone()),
            samples,
            ending,
            started_s: records.iter().map(|record| record.started_s).min().unwrap_or(0),
            trials: records.len(),
            trials_ok: counted(records).count(),
            schedule,
        }
    }

    /// The treatments without the levels of some factors.
    pub(super) fn keys(&self, without: &BTreeSet<Factor>) -> Vec<Levels> {
        let key = |levels: &Levels| levels.only(|factor| !without.contains(factor));
        self.schedule.treatments.iter().map(|treatment| key(&treatment.levels)).collect()
    }

    /// The values of one of a treatment's quantities, each with its trial's seed.
    pub(super) fn values(&self, treatment: usize, quantity: usize) -> Vec<(u64, f64)> {
        let value = |sample: &Sample| Some((sample.seed, (*sample.values.get(quantity)?)?));
        self.samples[treatment].iter().filter_map(value).collect()
    }

    /// Whether any trial that it compares went well.
    pub(super) fn has_good_trials(&self) -> bool {
        self.samples.iter().any(|own| !own.is_empty())
    }

    pub(super) fn described(&self) -> ComparedRun {
        ComparedRun {
            run: self.run.clone(),
            plan: self.schedule.plan.clone(),
            lab: self.schedule.origin(),
            started_s: self.started_s,
            status: Completeness::of(self.ending),
            ending: self.ending,
            trials: self.trials,
            trials_ok: self.trials_ok,
        }
    }
}

/// Each phase of a treatment, and all phases together if the metric can be combined.
fn quantities(schedule: &Schedule, treatment: usize, metric: Metric) -> Vec<Vec<String>> {
    let phases: Vec<String> =
        schedule.phases(treatment).into_iter().map(|phase| phase.name).collect();
    let total = phases.len() > 1 && metric.together != Aggregation::Never;
    phases.iter().map(|phase| vec![phase.clone()]).chain(total.then(|| phases.clone())).collect()
}

/// The metrics that a trial's phases have.
fn measured(record: &Record) -> BTreeSet<Metric> {
    record.phases.iter().flat_map(PhaseRecord::metrics).map(|(metric, _)| metric).collect()
}

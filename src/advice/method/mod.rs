//! The method check: whether a run was done so that its numbers can be believed.
//!
//! It asks the same of every run. What is amiss is a [`Warning`] with its numbers, and these are
//! the warnings that reports show; so there is one judgement of method, not two. What a run does
//! not tell is never taken for right or wrong.

mod ground;
mod repeats;
mod sync;

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::claims::Judgement;
use super::machine::Machine;
use super::warnings::{Warned, Warning};
use crate::plan::metric::{PHORONIX_HIGHER, PHORONIX_LOWER};
use crate::plan::{LabKind, Levels, Schedule};
use crate::results::{Record, Status, Told};

/// A question about the method, and its answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// The question.
    pub criterion: Criterion,
    /// The answer.
    pub outcome: Outcome,
    /// What it rests on, in words.
    pub evidence: String,
    /// What is amiss, with its numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warned>,
    /// What to do about it; absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// What decides whether numbers can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// What was written is on the device when the clock stops.
    Sync,
    /// Enough repetitions for an interval.
    Repetitions,
    /// Nothing changes in the course of the run, and the first run is like the others.
    Drift,
    /// Runs of one treatment agree.
    Variance,
    /// Nothing else writes meanwhile, such as what mkfs left to be done later.
    Background,
    /// Files are read from the device, not from memory.
    WorkingSet,
    /// Every trial finds the drive and the filesystem in the same state.
    StartingState,
    /// The order of trials is random, so that what changes with time favours none.
    Order,
    /// It is known what was measured on.
    Environment,
    /// The drive is in the state in which it stays.
    SteadyState,
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync => "sync",
            Self::Repetitions => "repetitions",
            Self::Drift => "drift",
            Self::Variance => "variance",
            Self::Background => "background",
            Self::WorkingSet => "working set",
            Self::StartingState => "starting state",
            Self::Order => "order",
            Self::Environment => "environment",
            Self::SteadyState => "steady state",
        })
    }
}

/// The answer to a question about the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done right.
    Met,
    /// It was not.
    NotMet,
    /// The run does not tell.
    Unknown,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Unknown => "cannot be told",
        })
    }
}

impl Check {
    fn met(criterion: Criterion, evidence: impl Into<String>) -> Self {
        let evidence = evidence.into();
        Self { criterion, outcome: Outcome::Met, evidence, warnings: Vec::new(), advice: None }
    }

    fn unknown(criterion: Criterion, evidence: impl Into<String>, advice: &str) -> Self {
        let advice = Some(advice.to_owned());
        Self { outcome: Outcome::Unknown, advice, ..Self::met(criterion, evidence) }
    }

    fn not_met(
        criterion: Criterion,
        warnings: Vec<Warning>,
        evidence: impl Into<String>,
        advice: &str,
    ) -> Self {
        let warnings = warnings.into_iter().map(Warned::from).collect();
        let outcome = Outcome::NotMet;
        Self { outcome, warnings, ..Self::unknown(criterion, evidence, advice) }
    }
}

/// Every check of a run, in the order reports show them.
pub(super) fn checks(schedule: &Schedule, records: &[Record], claims: &[Judgement]) -> Vec<Check> {
    let run = Run {
        schedule,
        all: records,
        well: records.iter().filter(|record| record.status == Status::Ok).collect(),
    };
    let mut checks = vec![
        sync::sync(&run),
        repeats::repetitions(&run, claims),
        repeats::drift(&run),
        repeats::variance(&run),
        ground::background(&run),
        sync::working_set(&run),
        ground::starting_state(&run),
        repeats::order(&run),
        ground::environment(&run),
        ground::steady_state(&run),
    ];
    if run.well.is_empty() {
        // Nothing has been done right that has not been done.
        for check in checks.iter_mut().filter(|check| check.outcome == Outcome::Met) {
            *check = Check::unknown(check.criterion, "no trial went well", "go on with the run");
        }
    }
    checks
}

/// A run under examination.
struct Run<'a> {
    schedule: &'a Schedule,
    all: &'a [Record],
    /// The records of trials that went well.
    well: Vec<&'a Record>,
}

impl<'a> Run<'a> {
    fn is_imported(&self) -> bool {
        self.schedule.target.lab == LabKind::Imported
    }

    /// A treatment by the levels in which it differs.
    fn distinct(&self, treatment: usize) -> Levels {
        self.schedule.distinct(&self.schedule.treatments[treatment].levels)
    }

    /// A treatment's trials that went well, in the order they ran.
    fn of_treatment(&self, treatment: usize) -> Vec<&'a Record> {
        let own = self.well.iter().copied();
        let mut own: Vec<&Record> =
            own.filter(|record| record.trial.treatment == treatment).collect();
        own.sort_by_key(|record| record.trial.position);
        own
    }

    /// The same by the machine they ran on, where results depend on it.
    fn of_treatment_by_machine(&self, treatment: usize) -> Vec<Vec<&'a Record>> {
        let mut machines: BTreeMap<Option<Machine<'_>>, Vec<&Record>> = BTreeMap::new();
        for record in self.of_treatment(treatment) {
            machines.entry(Machine::of(record)).or_default().push(record);
        }
        machines.into_values().collect()
    }

    /// The metric of a phase in a record: the run's own, or where results of several units were
    /// imported, what this one has.
    fn value(&self, record: &Record, phase: &str) -> Option<f64> {
        let phases = [phase.to_owned()];
        let metrics = [self.schedule.metric.as_str(), PHORONIX_HIGHER, PHORONIX_LOWER];
        metrics.iter().find_map(|metric| record.over(metric, &phases))
    }

    /// What imported files tell about their phases, each phase in the first file that has it.
    fn told(&self) -> Vec<(String, Vec<&'a Told>)> {
        let of_phase = |name: String| {
            let told = self.well.iter().filter_map(|r| r.imported.as_ref()?.told.get(&name));
            let told: Vec<&Told> = told.collect();
            (name, told)
        };
        self.schedule.phase_names().into_iter().map(of_phase).collect()
    }
}

/// Names in a sentence: a few, and how many more.
fn few(names: &[String]) -> String {
    const FEW: usize = 4;
    let quoted: Vec<String> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(FEW) {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

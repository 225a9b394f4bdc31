//! A check of a run's method, and its result.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::warning::{Warning, WarningMessage};

/// A question about the method, and its answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Check {
    /// The question.
    pub criterion: Criterion,
    /// The answer.
    pub outcome: CheckOutcome,
    /// What it rests on, in words.
    pub evidence: String,
    /// What is amiss, with its numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<WarningMessage>,
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
pub enum CheckOutcome {
    /// It was done right.
    Met,
    /// It was not.
    NotMet,
    /// The run does not tell.
    Unknown,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::Unknown => "unknown",
        })
    }
}

impl Check {
    pub(super) fn met(criterion: Criterion, evidence: impl Into<String>) -> Self {
        let evidence = evidence.into();
        Self { criterion, outcome: CheckOutcome::Met, evidence, warnings: Vec::new(), advice: None }
    }

    pub(super) fn unknown(criterion: Criterion, evidence: impl Into<String>, advice: &str) -> Self {
        let advice = Some(advice.to_owned());
        Self { outcome: CheckOutcome::Unknown, advice, ..Self::met(criterion, evidence) }
    }

    pub(super) fn not_met(
        criterion: Criterion,
        warnings: Vec<Warning>,
        evidence: impl Into<String>,
        advice: &str,
    ) -> Self {
        let warnings = warnings.into_iter().map(WarningMessage::from).collect();
        let outcome = CheckOutcome::NotMet;
        Self { outcome, warnings, ..Self::unknown(criterion, evidence, advice) }
    }
}

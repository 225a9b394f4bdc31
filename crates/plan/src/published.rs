//! What somebody else has measured, and whether what stands beside it was fitted to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::factor::Levels;
use super::lab_kind::LabKind;
use super::metric;
use super::schedule::{Claim, Schedule};

/// What somebody else has measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The treatments it stands beside.
    #[serde(rename = "where")]
    pub only: Levels,
    /// The run's metric by phase, in its unit.
    pub values: BTreeMap<String, f64>,
    /// The phases whose values something was fitted to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub fitted: BTreeSet<String>,
}

/// What an agreement with a published number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// That the fit succeeded: values were chosen so that the number comes out, or assumed such
    /// that it does.
    Fitted,
    /// That the model is right there: nothing was fitted to the number.
    Predicted,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
        })
    }
}

impl Basis {
    /// The basis of what something was fitted to, or was not.
    #[must_use]
    pub const fn of(is_fitted: bool) -> Self {
        if is_fitted { Self::Fitted } else { Self::Predicted }
    }
}

/// A published number beside a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// The number, in the metric's unit.
    pub value: f64,
    /// Whether something was fitted to it.
    pub basis: Basis,
}

impl Published {
    /// The number of a phase.
    #[must_use]
    pub fn of(&self, phase: &str) -> Option<Beside> {
        let value = *self.values.get(phase)?;
        Some(Beside { value, basis: Basis::of(self.fitted.contains(phase)) })
    }
}

impl Schedule {
    /// What somebody else has measured of a treatment's phase; nothing where the run is not like
    /// theirs.
    #[must_use]
    pub fn published(&self, levels: &Levels, phase: &str) -> Option<Beside> {
        if self.unlike(metric::of(&self.metric)).is_some() {
            return None;
        }
        let mut beside = self.published.iter().filter(|published| levels.matches(&published.only));
        beside.find_map(|published| published.of(phase))
    }

    /// What a claim follows from without any trial; none where its trials run on something else
    /// than the models that the plan is about.
    #[must_use]
    pub fn by_construction<'a>(&self, claim: &'a Claim) -> Option<&'a str> {
        let is_of_models = self.is_in(LabKind::Virtual) && self.is_on_named_drives();
        claim.by_construction.as_deref().filter(|_| is_of_models)
    }

    /// Why a claim cannot be tested where this runs.
    #[must_use]
    pub fn not_testable<'a>(&self, claim: &'a Claim) -> Option<&'a str> {
        let lab = self.target.as_ref()?.lab();
        claim.not_testable.get(&lab).map(String::as_str)
    }
}

impl Claim {
    /// What agreement with its published number says.
    #[must_use]
    pub const fn basis(&self) -> Basis {
        Basis::of(self.by_construction.is_some())
    }
}

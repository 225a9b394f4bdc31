//! Published measurements, and whether the results shown beside them were fitted to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::factor::Levels;

/// A published measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The treatments that it is about.
    #[serde(rename = "where")]
    pub only: Levels,
    /// The run's metric by phase, in its unit.
    pub values: BTreeMap<String, f64>,
    /// The phases whose values a model or workload was fitted to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub fitted: BTreeSet<String>,
}

/// What an agreement with a published number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Basis")]
pub enum PublishedBasis {
    /// That the fit succeeded: values were chosen so that the number comes out, or assumed such
    /// that it does.
    Fitted,
    /// That the model is right there: nothing was fitted to the number.
    Predicted,
}

impl fmt::Display for PublishedBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl PublishedBasis {
    /// The basis of a number that something was, or was not, fitted to.
    pub const fn of(is_fitted: bool) -> Self {
        if is_fitted { Self::Fitted } else { Self::Predicted }
    }
}

/// A published number beside a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedValue {
    /// The number, in the metric's unit.
    pub value: f64,
    /// Whether something was fitted to it.
    pub basis: PublishedBasis,
}

impl Published {
    /// The number of a phase.
    pub fn of(&self, phase: &str) -> Option<PublishedValue> {
        let value = *self.values.get(phase)?;
        Some(PublishedValue { value, basis: PublishedBasis::of(self.fitted.contains(phase)) })
    }
}

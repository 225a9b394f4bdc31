//! A claim of a schedule: the levels compared, on which metric and in which phases, and the bounds.

use std::collections::BTreeMap;
use std::slice;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::factor::{Factor, Levels};
use crate::lab_kind::LabKind;

/// A statement about the ratio of one treatment's metric to another's, or of one phase's to
/// another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The metric.
    pub metric: String,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The phase of the other side, if two phases of each trial are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_phase: Option<String>,
    /// The levels whose effect it states.
    pub compare: Levels,
    /// The levels they are compared with.
    pub against: Levels,
    /// The treatments it is limited to.
    #[serde(rename = "where")]
    pub only: Levels,
    /// Whether nothing is compared with `against`: the levels are said to be better than every
    /// other of the same factors.
    #[serde(default)]
    pub is_best: bool,
    /// The levels that compete with it, by factor; all, where a factor is not named.
    #[serde(default)]
    pub among: BTreeMap<Factor, Vec<String>>,
    /// Compare the excess over the same treatment with these levels.
    pub excess_over: Option<Levels>,
    /// Whether the bounds are of the metric itself, in its unit, instead of a ratio.
    #[serde(default)]
    pub is_absolute: bool,
    /// It holds if the ratio is at least this.
    pub at_least: Option<f64>,
    /// It holds if the ratio is at most this.
    pub at_most: Option<f64>,
    /// The setting that follows if it holds.
    pub if_holds: Option<String>,
    /// The setting that follows if it is refuted.
    pub if_refuted: Option<String>,
    /// The number that the source states, in the unit of the bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// What the claim follows from in the virtual lab, where that is its models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_construction: Option<String>,
    /// Why a lab cannot test it, by lab.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_testable: BTreeMap<LabKind, String>,
    /// What was known of the results when it was made or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploratory: Option<String>,
    /// How many consecutive earlier runs made the same measurements and left it open.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_open: u32,
}

impl Claim {
    /// The phases of the side that it is compared with.
    #[must_use]
    pub fn other_phases(&self) -> &[String] {
        self.against_phase.as_ref().map_or(&self.phases, slice::from_ref)
    }

    /// Every phase that it is about.
    #[must_use]
    pub fn all_phases(&self) -> Vec<String> {
        self.phases.iter().chain(&self.against_phase).cloned().collect()
    }

    /// Whether trials of one treatment decide it: it is about an amount, or its sides differ in the
    /// phase alone.
    #[must_use]
    pub fn is_of_one_treatment(&self) -> bool {
        self.is_absolute || (self.against_phase.is_some() && self.compare.0.is_empty())
    }

    /// Whether the same results give another claim the same verdict, whatever its wording.
    #[must_use]
    pub fn is_judged_as(&self, other: &Self) -> bool {
        let judged = |claim: &Self| Self {
            id: String::new(),
            says: String::new(),
            if_holds: None,
            if_refuted: None,
            published: None,
            by_construction: None,
            not_testable: BTreeMap::new(),
            exploratory: None,
            left_open: 0,
            ..claim.clone()
        };
        judged(self) == judged(other)
    }
}

// Serde passes references.
#[expect(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_zero(number: &u32) -> bool {
    *number == 0
}

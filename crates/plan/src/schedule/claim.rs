//! A claim of a schedule: the levels compared, on which metric and in which phases, and the bounds.

use std::collections::BTreeMap;
use std::slice;

use serde::{Deserialize, Serialize};

use crate::factor::{Factor, Levels};
use crate::lab_kind::LabKind;
use crate::metric::{Better, Metric};

/// A statement about a metric of some treatments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The metric.
    pub metric: Metric,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The phase of the other side, if two phases of each trial are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_phase: Option<String>,
    /// The levels that it is about.
    pub compare: Levels,
    /// The levels they are compared with; empty if they are compared with nothing, or with all
    /// others.
    pub against: Levels,
    /// The treatments it is limited to.
    #[serde(rename = "where")]
    pub only: Levels,
    /// What it states.
    #[serde(flatten)]
    pub statement: Statement,
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

/// What a claim states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub enum Statement {
    /// The ratio of two sides is within bounds.
    Ratio {
        /// Of each side counts the excess over the same treatment with these levels.
        excess_over: Option<Levels>,
        /// The bounds.
        bounds: Bounds,
    },
    /// The metric itself is within bounds, in its unit.
    Amount(Bounds),
    /// The levels are better than every other of the same factors.
    Best {
        /// The levels that compete, by factor; all, where a factor is not named.
        among: BTreeMap<Factor, Vec<String>>,
        /// The factor by which they lead, at least 1.
        lead: f64,
    },
}

/// What a value must not fall below or exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bounds {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Both.
    Between(f64, f64),
}

/// A statement as `schedule.json` has it.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Stored {
    is_best: bool,
    among: BTreeMap<Factor, Vec<String>>,
    excess_over: Option<Levels>,
    is_absolute: bool,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

impl TryFrom<Stored> for Statement {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { is_best, among, excess_over, is_absolute, at_least, at_most } = stored;
        if is_best {
            return Ok(Self::Best { among, lead: at_least.unwrap_or(1.0) });
        }
        let bounds = Bounds::new(at_least, at_most).ok_or("a claim has no bound")?;
        Ok(if is_absolute { Self::Amount(bounds) } else { Self::Ratio { excess_over, bounds } })
    }
}

impl From<Statement> for Stored {
    fn from(statement: Statement) -> Self {
        let [at_least, at_most] = statement.bounds().ends();
        let stored = Self { at_least, at_most, ..Self::default() };
        match statement {
            Statement::Ratio { excess_over, .. } => Self { excess_over, ..stored },
            Statement::Amount(_) => Self { is_absolute: true, ..stored },
            Statement::Best { among, .. } => Self { is_best: true, among, ..stored },
        }
    }
}

impl Statement {
    /// The bounds of its ratio or amount; a lead is a ratio of the better to the worse.
    pub const fn bounds(&self) -> Bounds {
        match self {
            Self::Ratio { bounds, .. } | Self::Amount(bounds) => *bounds,
            Self::Best { lead, .. } => Bounds::AtLeast(*lead),
        }
    }
}

impl Bounds {
    /// `None` if neither is given.
    pub const fn new(at_least: Option<f64>, at_most: Option<f64>) -> Option<Self> {
        match (at_least, at_most) {
            (Some(low), Some(high)) => Some(Self::Between(low, high)),
            (Some(low), None) => Some(Self::AtLeast(low)),
            (None, Some(high)) => Some(Self::AtMost(high)),
            (None, None) => None,
        }
    }

    /// The lower and the upper bound.
    pub const fn ends(self) -> [Option<f64>; 2] {
        match self {
            Self::AtLeast(low) => [Some(low), None],
            Self::AtMost(high) => [None, Some(high)],
            Self::Between(low, high) => [Some(low), Some(high)],
        }
    }

    /// Each bound there is.
    pub fn values(self) -> impl Iterator<Item = f64> {
        self.ends().into_iter().flatten()
    }

    /// Whether a value is within them.
    pub fn allow(self, value: f64) -> bool {
        let [low, high] = self.ends();
        low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high)
    }
}

impl Claim {
    /// The bounds of its ratio or amount; those of a lead are of the metric, of which less may be
    /// better.
    pub fn bounds(&self) -> Bounds {
        match self.statement {
            Statement::Best { lead, .. } if self.metric.better != Better::More => {
                Bounds::AtMost(1.0 / lead)
            }
            _ => self.statement.bounds(),
        }
    }

    /// Whether it is about the metric itself, so that nothing is compared.
    pub const fn is_absolute(&self) -> bool {
        matches!(self.statement, Statement::Amount(_))
    }

    /// Whether it is about the ratio of two treatments or phases.
    pub const fn is_of_a_pair(&self) -> bool {
        matches!(self.statement, Statement::Ratio { .. })
    }

    /// Whether the levels are said to be better than all others.
    pub const fn is_best(&self) -> bool {
        matches!(self.statement, Statement::Best { .. })
    }

    /// The levels of the treatments over which both sides' excess is compared, if it is.
    pub const fn excess_over(&self) -> Option<&Levels> {
        match &self.statement {
            Statement::Ratio { excess_over, .. } => excess_over.as_ref(),
            Statement::Amount(_) | Statement::Best { .. } => None,
        }
    }

    /// The phases of the side that it is compared with.
    pub fn other_phases(&self) -> &[String] {
        self.against_phase.as_ref().map_or(&self.phases, slice::from_ref)
    }

    /// Every phase that it is about.
    pub fn all_phases(&self) -> Vec<String> {
        self.phases.iter().chain(&self.against_phase).cloned().collect()
    }

    /// Whether trials of one treatment decide it: it is about an amount, or its sides differ in the
    /// phase alone.
    pub fn is_of_one_treatment(&self) -> bool {
        self.is_absolute() || (self.against_phase.is_some() && self.compare.0.is_empty())
    }

    /// Whether the same results give another claim the same verdict, whatever its wording.
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

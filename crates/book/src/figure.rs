//! One published number, and ours.

use ssdlab_plan::Basis;
use ssdlab_plan::metric::Unit;

/// A number, or what was published instead of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// A number in a unit.
    Of(Unit, f64),
    /// As it was written.
    Written(String),
}

/// A published number, and what a model makes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, unlike that of any other: the drive or plan, and the name that it has there.
    pub id: String,
    /// Who says so.
    pub source: String,
    /// What it is of.
    pub what: String,
    /// The number.
    pub published: Amount,
    /// The model's, in the same unit; none where there is none.
    pub ours: Option<f64>,
    /// How ours was found, or why there is none.
    pub how: String,
    /// Whether something was fitted to it.
    pub basis: Basis,
}

impl Figure {
    /// By which share of the published number ours is above it; below 0 if it is below.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        match self.published {
            Amount::Of(_, published) => Some(self.ours? / published - 1.0),
            Amount::Written(_) => None,
        }
    }
}

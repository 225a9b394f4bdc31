//! One published number, and ours.

use ssdlab_plan::Basis;
use ssdlab_plan::metric::Unit;

/// A number, or what was published instead of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// A number in a unit.
    Of(Unit, f64),
    /// What was published instead, verbatim.
    Written(String),
}

/// What the model's number is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// A number that somebody published.
    Published,
    /// The same drive model under the running kernel, in real time.
    Served,
}

/// A published number, and the model's number for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its unique name: that of the drive or plan, and its name there.
    pub id: String,
    /// The source.
    pub source: String,
    /// The quantity.
    pub what: String,
    /// The number.
    pub published: Amount,
    /// The model's number, in the same unit, if there is one.
    pub ours: Option<f64>,
    /// How the model's number was found, or why there is none.
    pub how: String,
    /// Whether a model was fitted to it.
    pub basis: Basis,
    /// What kind of number `published` is.
    pub against: Against,
}

impl Figure {
    /// The relative error of the model's number: below 0 if it is smaller than the published one.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        match self.published {
            Amount::Of(_, published) => Some(self.ours? / published - 1.0),
            Amount::Written(_) => None,
        }
    }
}

//! One published number, and ours.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::Unit;

/// A number, or what was published instead of one.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedAmount {
    Of(Unit, f64),
    /// What was published instead, verbatim.
    Written(String),
}

/// What agreement with a published number says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Standing")]
pub enum Agreement {
    /// That the fit succeeded: values were chosen so that the number comes out, or the number
    /// stands in the model's file as evidence for a value.
    Fitted,
    /// That the model is right there: nothing was fitted to the number, though perhaps to others of
    /// the same publication.
    Predicted,
    /// The same, of a publication on which nothing in the model's file rests.
    HeldOut,
}

impl Agreement {
    /// All of them, from the least telling.
    pub const ALL: [Self; 3] = [Self::Fitted, Self::Predicted, Self::HeldOut];

    /// The standing of a number, given whether a model was fitted to it, and whether to others of
    /// its publication.
    pub(super) const fn of(is_fitted: bool, has_fitted_publication: bool) -> Self {
        match (is_fitted, has_fitted_publication) {
            (true, _) => Self::Fitted,
            (false, true) => Self::Predicted,
            (false, false) => Self::HeldOut,
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
            Self::HeldOut => "held out",
        })
    }
}

/// What the model's number is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureReference {
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
    pub source: String,
    /// The test that it is of: the figures of one run or one sentence are of one test.
    pub test: String,
    /// The quantity.
    pub what: String,
    pub published: PublishedAmount,
    /// The model's number, in the same unit, if there is one.
    pub ours: Option<f64>,
    /// How the model's number was found, or why there is none.
    pub how: String,
    /// What agreement with it says.
    pub basis: Agreement,
    /// What kind of number `published` is.
    pub against: FigureReference,
}

impl Figure {
    /// The relative error of the model's number: below 0 if it is smaller than the published one.
    pub fn error(&self) -> Option<f64> {
        match self.published {
            PublishedAmount::Of(_, published) => Some(self.ours? / published - 1.0),
            PublishedAmount::Written(_) => None,
        }
    }
}

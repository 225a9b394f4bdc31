//! Where verdicts flip: at which value of one parameter of a model, all else as published.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::evidence::Value;
use ssdlab_plan::Model;

use super::separation::ThresholdSide;

/// What one parameter of a drive or a host does to a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flip {
    /// The claim, with the treatment in brackets where it applies to several.
    pub claim: String,
    /// The drive or the host, by its level in the plan.
    #[serde(flatten)]
    pub model: Model,
    /// The dotted key of its file.
    pub parameter: String,
    /// The published value.
    pub published: Value,
    /// Whether the claim holds with that.
    pub holds: bool,
    /// The values that were tried farthest out: two ends, or choices.
    pub searched: Vec<Value>,
    /// Where that changes; empty where it does not.
    pub flips: Vec<Crossing>,
}

/// Where a verdict changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Crossing {
    /// On which side of the value it is the other one.
    pub side: ThresholdSide,
    /// The value: the middle of the two nearest tried, a choice, or, where a trial between them
    /// failed, the tried value with the other verdict.
    pub value: Value,
}

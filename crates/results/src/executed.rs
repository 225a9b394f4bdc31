//! What the lab kernel executed in a phase, as it is kept beside the log of a trial's requests.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the lab kernel executed in a phase.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// The phase.
    pub phase: String,
    /// The basic blocks of each function that were executed.
    pub functions: BTreeMap<String, u64>,
}

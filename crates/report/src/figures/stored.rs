//! The virtual lab's results for published numbers, stored because the runs take minutes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The results shipped with the program, as `make evidence` writes them.
pub const STORED_RESULTS: &str = include_str!("../../kept.toml");

/// Kept results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredResults {
    /// By plan.
    pub runs: BTreeMap<String, StoredRun>,
}

/// A run's results for the published numbers of its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRun {
    /// The version of ssdlab that ran it.
    pub release: String,
    /// The command that repeats it.
    pub command: String,
    /// What they depend on: the kernel, the models of drives and hosts, and the work.
    pub from: BTreeMap<String, String>,
    /// Its numbers by their names in the plan, in the unit of the published ones.
    pub ours: BTreeMap<String, f64>,
}

impl StoredResults {
    /// Parses a file like [`STORED_RESULTS`].
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    #[must_use]
    pub fn of(&self, plan: &str) -> Option<&StoredRun> {
        self.runs.get(plan)
    }
}

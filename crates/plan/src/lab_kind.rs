//! The labs, and the origins of results.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place where trials run.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LabKind {
    /// A simulated drive under a real kernel, in virtual time: no root.
    Virtual,
    /// A loop device over a file: needs root.
    Image,
    /// A real drive or partition, which is wiped: needs root and explicit confirmation.
    Device,
    /// An existing directory: no root, no mkfs.
    Directory,
    /// This machine at its own work, whose settings are changed in turns and put back: needs root.
    Live,
}

impl fmt::Display for LabKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Where results are from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Somebody else measured, and `ssdlab import` read the results.
    #[default]
    Imported,
    /// Trials in a lab.
    #[serde(untagged)]
    Lab(LabKind),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

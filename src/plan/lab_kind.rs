//! The kinds of places where trials run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A place where trials run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LabKind {
    /// A simulated drive under a real kernel, in virtual time: no root.
    Virtual,
    /// A loop device over a file: needs root.
    Image,
    /// A real drive or partition, which is wiped: needs root, and proof.
    Device,
    /// An existing directory: no root, no mkfs.
    Directory,
    /// None: somebody else measured, and `ssdlab import` read the results. No run starts there.
    #[value(skip)]
    Imported,
}

impl fmt::Display for LabKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Virtual => "virtual",
            Self::Image => "image",
            Self::Device => "device",
            Self::Directory => "directory",
            Self::Imported => "imported",
        })
    }
}

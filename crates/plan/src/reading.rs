//! Phases that read the tree (`do = "read"`): the order of its files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order in which the files of a tree are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadOrder {
    /// As the filesystem lists each directory, as `grep -r` does.
    #[default]
    Directory,
    /// Each file by its path, in an order drawn from the trial's seed.
    Random,
}

#[cfg(test)]
mod tests;

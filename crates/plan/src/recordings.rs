//! The shipped operation logs: a real `git clone`, `make -j2` and `make clean`, a real `SQLite`
//! database with the table and the statements of kine, the datastore of k3s, and the home directory
//! of a desktop.
//!
//! The first three are of Zstandard 1.5.4, under a BSD licence; a log holds only its names and
//! sizes.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where an operation log is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recording {
    /// Embedded in the program, by its name.
    Shipped(String),
    /// In a file, an absolute path.
    File(PathBuf),
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shipped(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ShippedLog {
    /// The log, compressed by gzip.
    pub log: &'static [u8],
    pub operations: u64,
    /// How many bytes it writes.
    pub written_bytes: u64,
}

const fn shipped(log: &'static [u8], operations: u64, written_bytes: u64) -> ShippedLog {
    ShippedLog { log, operations, written_bytes }
}

/// Every shipped log, by name.
pub const ALL: [(&str, ShippedLog); 5] = [
    (
        "zstd-clone",
        shipped(include_bytes!("../../../plans/recorded/zstd-clone.log.gz"), 2_594, 9_719_040),
    ),
    (
        "zstd-make",
        shipped(include_bytes!("../../../plans/recorded/zstd-make.log.gz"), 14_940, 11_868_772),
    ),
    (
        "zstd-clean",
        shipped(include_bytes!("../../../plans/recorded/zstd-clean.log.gz"), 2_232, 37_322),
    ),
    ("kine", shipped(include_bytes!("../../../plans/recorded/kine.log.gz"), 7_936, 15_201_840)),
    (
        "desktop",
        shipped(include_bytes!("../../../plans/recorded/desktop.log.gz"), 10_521, 3_014_423),
    ),
];

pub fn find(name: &str) -> Option<ShippedLog> {
    ALL.into_iter().find(|(known, _)| *known == name).map(|(_, shipped)| shipped)
}

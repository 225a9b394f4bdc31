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

/// A name and the log, compressed by gzip.
type Shipped = (&'static str, &'static [u8]);

const ALL: [Shipped; 5] = [
    ("zstd-clone", include_bytes!("../../../plans/recorded/zstd-clone.log.gz")),
    ("zstd-make", include_bytes!("../../../plans/recorded/zstd-make.log.gz")),
    ("zstd-clean", include_bytes!("../../../plans/recorded/zstd-clean.log.gz")),
    ("kine", include_bytes!("../../../plans/recorded/kine.log.gz")),
    ("desktop", include_bytes!("../../../plans/recorded/desktop.log.gz")),
];

/// A shipped log by its name, compressed by gzip.
#[must_use]
pub fn find(name: &str) -> Option<&'static [u8]> {
    ALL.into_iter().find(|(known, _)| *known == name).map(|(_, log)| log)
}

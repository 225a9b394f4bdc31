//! What formats give: the samples of a file.

use std::collections::BTreeMap;

use crate::{PhaseRecord, StatedMethod};
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::Levels;
use ssdlab_plan::metric::Metric;

use super::error::ImportFault;

/// The maximum number of trials of a run: a hundred times the largest published result seen.
const MOST_TRIALS: usize = 20_000;

/// A file to import.
#[derive(Debug, Clone, Copy)]
pub struct ImportSource<'a> {
    /// Its name in messages and records.
    pub name: &'a str,
    /// The name of its treatment; by default from the file's contents, or its name.
    pub label: Option<&'a str>,
    pub contents: &'a [u8],
}

/// The contents of a file.
pub(super) struct ImportedFile {
    pub program: &'static str,
    pub version: Option<String>,
    /// The main metric, which all phases have that were long enough to be measured.
    pub metric: Metric,
    /// Whether samples are in chronological order.
    pub is_in_order: bool,
    pub samples: Vec<ImportedSample>,
    /// Caveats about the numbers.
    pub notes: Vec<String>,
}

/// One measurement of one treatment.
#[derive(Default)]
pub(super) struct ImportedSample {
    /// The file's name of the treatment; `None` if it has only an unnamed one, or levels tell all
    /// of its treatments apart.
    pub name: Option<String>,
    /// Levels of factors that the file names.
    pub levels: Levels,
    /// When it was taken, in ms since 1970.
    pub at_ms: Option<u64>,
    pub environment: Environment,
    /// Settings of the machine.
    pub applied: BTreeMap<String, String>,
    pub phases: Vec<PhaseRecord>,
    pub told: BTreeMap<String, StatedMethod>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// Refuses more trials than a run can have, before they exhaust memory.
pub(super) fn check_trials(trials: usize) -> Result<(), ImportFault> {
    if trials <= MOST_TRIALS {
        return Ok(());
    }
    let message = format!("it has more than {MOST_TRIALS} trials, which no run can have");
    Err(ImportFault::new(message, "import a part of it"))
}

/// A phase with only a program's reported values.
pub(super) fn phase(name: &str, reported: BTreeMap<Metric, f64>) -> PhaseRecord {
    PhaseRecord { name: name.to_owned(), reported, ..PhaseRecord::default() }
}

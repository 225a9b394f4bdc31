//! The outcome of a repeated power cut, compared with its record.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_cuts::{Expected, Found, Outcome, Verdict};
use ssdlab_plan::Levels;

use super::record::Record;

/// The version of what `ssdlab cut --json` prints.
pub const REPEAT_SCHEMA: u32 = 1;

/// A power cut of a run that was made again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Repeat {
    /// The version of this format.
    pub schema: u32,
    /// The run's name.
    pub run: String,
    /// The trial's place in the run, from 0.
    pub trial: u32,
    /// The treatment's levels.
    pub levels: Levels,
    /// Whether the repeated trial was bit-for-bit identical and its cut had the recorded outcome.
    pub agrees: bool,
    /// Whether the repeated trial was bit-for-bit identical to the recorded one.
    pub same_trial: bool,
    /// What changed in the software and the drive between the record and the repeat.
    pub changes: Vec<Change>,
    /// The record.
    pub recorded: Outcome,
    /// What the repeat found.
    pub repeated: Outcome,
    /// The state of the drive's requests at the cut.
    pub drive: AtRisk,
    /// The SHA-256 of the drive's entire contents after the cut, in hex.
    pub image_sha256: String,
    /// The drive's capacity, in bytes.
    pub image_bytes: u64,
    /// The workload's files; none if the filesystem could not be mounted.
    pub files: Vec<FileAfter>,
}

/// What the record and its repeat were made with, where that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// What has changed: `ssdlab`, `lab_kernel`, `drive_identity` or `tools`.
    pub of: String,
    /// With what the record was made; absent if it does not say.
    pub recorded: Option<String>,
    /// With what the repeat was made.
    pub repeated: Option<String>,
}

/// What a drive had of its requests when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtRisk {
    /// The requests that had been submitted.
    pub requests: u64,
    /// The writes that were acknowledged and of which something was not safe.
    pub volatile: u64,
    /// What was not safe of them, in bytes; what was written twice counts twice.
    pub volatile_bytes: u64,
    /// The writes that were not acknowledged yet.
    pub under_way: u64,
    /// Their bytes.
    pub under_way_bytes: u64,
    /// The bytes of the drive that hold an older version than the newest that was submitted.
    pub older_bytes: u64,
}

/// A file of the workload after a cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileAfter {
    /// Its name in the trial's directory.
    pub name: String,
    /// What it was to be.
    pub expected: Expected,
    /// What was found.
    pub found: Found,
    /// What follows of this file.
    pub verdict: Verdict,
}

impl Change {
    /// The relevant differences in how two records of one trial were made.
    #[must_use]
    pub fn between(recorded: &Record, repeated: &Record) -> Vec<Self> {
        let applied = |record: &Record, key: &str| record.applied.get(key).cloned();
        let tools = |record: &Record| Some(record.environment.tools.join(", "));
        let program = |record: &Record| Some(record.environment.ssdlab.clone());
        let of = |of: &str, [recorded, repeated]: [Option<String>; 2]| {
            (recorded != repeated).then(|| Self { of: of.to_owned(), recorded, repeated })
        };
        let both = [recorded, repeated];
        let changes = [
            of("ssdlab", both.map(program)),
            of("lab_kernel", both.map(|record| applied(record, "lab_kernel"))),
            of("drive_identity", both.map(|record| applied(record, "drive_identity"))),
            of("tools", both.map(tools)),
        ];
        changes.into_iter().flatten().collect()
    }
}

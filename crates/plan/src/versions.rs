//! Phases whose files record their own history (`do = "replace"`, `do = "append"`): their form in a
//! plan, and what it means.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_operations::cuts::contents::{HEADER_BYTES, RECORD_BYTES};
use ssdlab_quantity::{Bytes, Span};

use super::error::PlanFault;
use super::limits::{first_false, small, sound};
use super::think::think_ns;

/// The most operations of one phase: each power cut is judged against all of them.
const MOST: u64 = 1_000_000;

/// The most files that are replaced: each is read after every power cut.
const MOST_FILES: u32 = 10_000;

/// Files that are replaced as a whole, as a plan writes them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenReplace {
    /// The number of files, of 10,000 bytes each, which are created and synced before the first
    /// phase.
    #[schemars(example = 50)]
    pub files: u32,
    /// How often each of them is replaced.
    #[schemars(example = 20)]
    pub rounds: u32,
    /// What is synced: the new file before it is renamed over the old one, the directory after
    /// that, both, or nothing (default).
    #[serde(default)]
    #[schemars(example = &"file")]
    pub sync: ReplaceSync,
    /// The time from the end of a replacement to the next (default 100 ms).
    #[schemars(example = &"100 ms")]
    pub think: Option<Span>,
}

/// What is synced when a file is replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Synced")]
pub enum ReplaceSync {
    /// Nothing.
    #[default]
    #[serde(rename = "none")]
    Nothing,
    /// The new file, before the rename.
    #[serde(rename = "file")]
    File,
    /// The directory, after the rename.
    #[serde(rename = "directory")]
    Directory,
    /// Both.
    #[serde(rename = "file and directory")]
    Both,
}

impl ReplaceSync {
    /// Its name in plans.
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::File => "file",
            Self::Directory => "directory",
            Self::Both => "file and directory",
        }
    }

    /// Whether the new file is synced.
    pub const fn file(self) -> bool {
        matches!(self, Self::File | Self::Both)
    }

    /// Whether the directory is.
    pub const fn directory(self) -> bool {
        matches!(self, Self::Directory | Self::Both)
    }
}

/// A file that is appended to, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenAppend {
    /// The number of records.
    #[schemars(example = 1000)]
    pub records: u32,
    /// The size of a record: 20 bytes to 64 KiB (default 500 bytes).
    #[schemars(example = &"200 B")]
    pub record: Option<Bytes>,
    /// How many records are appended between calls of `fdatasync` (default: it is never called).
    #[schemars(example = 10)]
    pub sync_every: Option<u32>,
    /// The time from the end of an operation to the next (default 100 ms).
    #[schemars(example = &"100 ms")]
    pub think: Option<Span>,
}

/// Files that are replaced as a whole, with everything explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replace {
    pub files: u32,
    /// How often each is replaced.
    pub rounds: u32,
    pub sync: ReplaceSync,
    /// The time between two replacements, in ns.
    pub think_ns: u64,
}

/// A file that is appended to, with everything explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Append {
    pub records: u32,
    #[serde(default = "record_bytes", skip_serializing_if = "is_usual")]
    pub record_bytes: u32,
    /// After how many of them there is a sync, if ever.
    pub sync_every: Option<u32>,
    /// The time between two records, in ns.
    pub think_ns: u64,
}

/// The bytes that a record may have.
#[expect(clippy::cast_possible_truncation, reason = "it is 20")]
const RECORD_SIZES: RangeInclusive<u32> = HEADER_BYTES as u32..=64 << 10;

/// The bytes of a record of which a plan says nothing.
#[expect(clippy::cast_possible_truncation, reason = "it is 500")]
const fn record_bytes() -> u32 {
    RECORD_BYTES as u32
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_usual(bytes: &u32) -> bool {
    *bytes == record_bytes()
}

impl fmt::Display for Replace {
    /// As a plan writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, rounds, sync, think_ns } = self;
        let think = Span(Duration::from_nanos(*think_ns));
        let sync = sync.name();
        write!(
            f,
            "replace = {{ files = {files}, rounds = {rounds}, sync = \"{sync}\", \
             think = \"{think}\" }}"
        )
    }
}

impl fmt::Display for Append {
    /// As a plan writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, record_bytes, sync_every, think_ns } = self;
        let think = Span(Duration::from_nanos(*think_ns));
        let sync = sync_every.map_or_else(String::new, |every| format!("sync_every = {every}, "));
        let size = if is_usual(record_bytes) {
            String::new()
        } else {
            format!("record = \"{record_bytes} B\", ")
        };
        write!(f, "append = {{ records = {records}, {size}{sync}think = \"{think}\" }}")
    }
}

impl Replace {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        first_false([
            (0 < self.files && self.files <= MOST_FILES, "1 to 10000 files can be replaced"),
            (
                self.rounds > 0 && self.operations() <= MOST,
                "1 to 1000000 replacements are possible",
            ),
        ])
    }

    /// How many replacements it makes.
    pub fn operations(&self) -> u64 {
        u64::from(self.files) * u64::from(self.rounds)
    }
}

impl Append {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let is_possible = 0 < self.records && u64::from(self.records) <= MOST;
        first_false([
            (is_possible, "1 to 1000000 records can be appended"),
            (
                RECORD_SIZES.contains(&self.record_bytes),
                "`record` must be 20 bytes, in which it is numbered, to 64 KiB",
            ),
            (self.sync_every != Some(0), "`sync_every` must be at least 1"),
        ])
    }

    /// The bytes that it writes.
    pub fn written_bytes(&self) -> u64 {
        u64::from(self.records) * u64::from(self.record_bytes)
    }
}

/// Resolves a plan's table of replaced files; `scaled` multiplies how often they are replaced.
pub(super) fn replace(
    written: &WrittenReplace,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Replace, PlanFault> {
    let replace = Replace {
        files: written.files,
        rounds: small(scaled(written.rounds.into())),
        sync: written.sync,
        think_ns: think_ns(written.think),
    };
    let help = "for example replace = { files = 50, rounds = 20, sync = \"file\" }";
    sound(replace, replace.fault(), at, help)
}

/// Resolves a plan's table of an appended file; `scaled` multiplies how often it is appended to.
pub(super) fn append(
    written: &WrittenAppend,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Append, PlanFault> {
    let append = Append {
        records: small(scaled(written.records.into())),
        record_bytes: match written.record {
            None => record_bytes(),
            // What is too large for the number is too large for a record.
            Some(bytes) => u32::try_from(bytes.0).unwrap_or(u32::MAX),
        },
        sync_every: written.sync_every,
        think_ns: think_ns(written.think),
    };
    let help = "for example append = { records = 1000, sync_every = 10 }";
    sound(append, append.fault(), at, help)
}

#[cfg(test)]
mod tests;

//! Phases that rotate a log (`do = "rotate"`): their form in a plan, and what it means.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_operations::cuts::contents::RECORD_BYTES;
use ssdlab_quantity::{Bytes, Span};

use super::error::PlanFault;
use super::limits::{fault_of_bytes, first_false, small, sound};
use super::think::think_ns;

/// The defaults: that of the size is ours; Debian's `logrotate.conf` keeps four logs and does not
/// compress them.
const SIZE: Bytes = Bytes(1 << 20);
const KEEP: u32 = 4;

/// The most records of a phase, and the most logs that are kept.
const MOST_RECORDS: u32 = 100_000_000;
const MOST_KEPT: u32 = 1000;

/// A log that is rotated, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenRotate {
    /// The number of records of 500 bytes, which a program appends to its log.
    #[schemars(example = 10000)]
    pub records: u32,
    /// The log is rotated when it has this size (default 1 MiB): old logs are renamed, the log
    /// becomes the newest of them, and a new one is created.
    #[schemars(example = &"100 KiB")]
    pub size: Option<Bytes>,
    /// How many old logs are kept (default 4); the oldest is deleted.
    #[schemars(example = 7)]
    pub keep: Option<u32>,
    /// Whether each old log is compressed, to a quarter of its size (default false).
    #[serde(default)]
    #[schemars(example = true)]
    pub compress: bool,
    /// The time from the end of a record to the next (default 100 ms).
    #[schemars(example = &"1 s")]
    pub think: Option<Span>,
}

/// A log that is rotated as logrotate(8) does with `size`, `rotate`, `create` and `compress`, with
/// everything explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotate {
    pub records: u32,
    /// The size at which the log is rotated, in bytes.
    pub size_bytes: u64,
    /// Old logs that are kept.
    pub keep: u32,
    /// Whether they are compressed.
    pub compress: bool,
    /// The time between two records, in ns.
    pub think_ns: u64,
}

impl Rotate {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let fault = first_false([
            ((1..=MOST_RECORDS).contains(&self.records), "1 to 100000000 records can be appended"),
            (RECORD_BYTES as u64 <= self.size_bytes, "`size` must be at least one record's 500 B"),
            ((1..=MOST_KEPT).contains(&self.keep), "1 to 1000 old logs can be kept"),
        ]);
        fault.or_else(|| fault_of_bytes(self.size_bytes))
    }

    /// The bytes that are written, about: what the program appends, and the compressed logs.
    pub fn written_bytes(&self) -> u64 {
        let appended = u64::from(self.records) * RECORD_BYTES as u64;
        if self.compress { appended + appended / 4 } else { appended }
    }
}

/// Resolves a plan's table; `scaled` multiplies the number of records.
pub(super) fn resolve(
    written: &WrittenRotate,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Rotate, PlanFault> {
    let rotate = Rotate {
        records: small(scaled(written.records.into())),
        size_bytes: written.size.unwrap_or(SIZE).0,
        keep: written.keep.unwrap_or(KEEP),
        compress: written.compress,
        think_ns: think_ns(written.think),
    };
    let help = "for example rotate = { records = 10000, size = \"1 MiB\", keep = 4 }";
    sound(rotate, rotate.fault(), at, help)
}

#[cfg(test)]
mod tests;

//! The commands that a drive got while it was served, as a table.

use std::fmt::Write;

use ssdlab_disk::serve::ServeSummary;

use super::grid::ReportTable;
use super::number;
use super::words::Style;

/// The commands that a drive got, and how punctual its answers were.
///
/// A drive without a timing model is due at once, so the lateness of an answer says nothing about
/// the drive, only how long this machine took.
pub fn serving(summary: &ServeSummary, is_timed: bool) -> String {
    let ServeSummary { counts, punctuality } = summary;
    let rows = [
        ("reads", counts.reads, Some(counts.read_bytes)),
        ("writes", counts.writes, Some(counts.written_bytes)),
        ("discards", counts.discards, Some(counts.discarded_bytes)),
        ("write-zeroes", counts.write_zeroes, Some(counts.zeroed_bytes)),
        ("flushes", counts.flushes, None),
        ("refused", counts.refused + counts.unanswered, None),
    ];
    let row = |(name, commands, bytes): (&str, u64, Option<u64>)| {
        let bytes = bytes.map(|bytes| number::bytes(bytes as f64));
        vec![name.to_owned(), commands.to_string(), bytes.unwrap_or_default()]
    };
    let header = ["", "commands", "bytes"].map(str::to_owned).to_vec();
    let rows = rows.into_iter().map(row).collect();
    let mut out = ReportTable { header, rows, numbers: 1 }.text(Style::default()) + "\n";
    let time = |ns: u64| number::duration(ns as f64);
    if punctuality.answers > 0 {
        let _ = writeln!(
            out,
            "{}: half within {}, 99 % within {}, the latest {}",
            if is_timed { "answered after the drive's time" } else { "answered, without timing" },
            time(punctuality.lateness.p50_ns),
            time(punctuality.lateness.p99_ns),
            time(punctuality.lateness.max_ns),
        );
    }
    if is_timed && punctuality.late > 0 {
        let _ = writeln!(
            out,
            "late by more than 50 us: {} of {} requests; this machine was slower than the drive",
            punctuality.late, punctuality.answers,
        );
    }
    out
}

#[cfg(test)]
mod tests;

//! What a probe has found, for people: the answer first.

use std::fmt::Write;

use ssdlab_doctor::{DemandOutcome, DemandVerdict};
use ssdlab_flash::presets::DriveClass;
use ssdlab_flash::probe::FITS_WITHIN;
use ssdlab_quantity::listed;
use ssdlab_report::{Style, bytes, duration, inline, wrapped};

use super::found::{LATENCIES, ProbeOutput, RATES, ShippedDrive};

const COLUMNS: u16 = 80;

/// What does not show through a file.
const UNSEEN: &str = "discards, wear, the speed once an SLC cache is full or blocks have to be \
                      collected, and a map cache beyond 256 MiB: a file does not show them";

impl ProbeOutput {
    /// The answer in a line.
    fn answer(&self) -> String {
        let with = |outcome| {
            let of = self.verdicts.iter().filter(|verdict| verdict.outcome == outcome);
            of.map(|verdict| verdict.program.to_owned()).collect::<Vec<_>>()
        };
        let parts = [
            (DemandOutcome::Met, "Fast enough for"),
            (DemandOutcome::Missed, "Too slow for"),
            (DemandOutcome::Unclear, "Cannot tell for"),
        ];
        let parts = parts.into_iter().map(|(outcome, says)| (with(outcome), says));
        let said: Vec<String> = parts
            .filter(|(programs, _)| !programs.is_empty())
            .map(|(programs, says)| format!("{says} {}.", listed(&programs)))
            .collect();
        said.join(" ")
    }

    fn subject(&self) -> String {
        let place = &self.place;
        let on = match place.devices.as_slice() {
            [] => "on an unknown device".to_owned(),
            devices => format!("on {}", devices.join(" on ")),
        };
        let model = place.model.as_ref().map_or(String::new(), |model| format!(" ({model})"));
        format!("{}: {} {on}{model}", place.folder, place.filesystem)
    }

    fn method(&self) -> String {
        let method = &self.method;
        format!(
            "{} written in {}, at least {} rounds, seed {}; the file is gone",
            bytes(method.written_bytes as f64),
            duration(method.took_ns as f64),
            method.rounds,
            method.seed
        )
    }

    /// The shipped drive that this one is like.
    fn likeness(&self) -> String {
        let ShippedDrive { drive, class, distance } = self.closest;
        let class = class_name(class);
        match self.nearest {
            Some(_) => format!("`{drive}`, {class}: distance {distance:.2}"),
            None => format!(
                "none of the shipped drives. The closest is `{drive}`, {class}, at a distance of \
                 {distance:.2}; at more than {FITS_WITHIN} a drive is of another kind."
            ),
        }
    }

    /// Latencies: what is done, the median with its interval, the percentiles.
    fn latency_rows(&self) -> Vec<[String; 5]> {
        let row = |(name, says, _): &(&str, &str, _)| {
            let found = self.latencies.get(name)?;
            let time = |ns: u64| duration(ns as f64);
            let interval = found
                .median_interval_ns
                .map_or(String::new(), |[lo, hi]| format!("{} to {}", duration(lo), duration(hi)));
            let summary = found.summary;
            Some([
                (*says).to_owned(),
                time(summary.p50_ns),
                interval,
                time(summary.p99_ns),
                time(summary.p999_ns),
            ])
        };
        LATENCIES.iter().filter_map(row).collect()
    }

    fn rate_rows(&self) -> Vec<[String; 2]> {
        let row = |(name, says, _, unit): &(&str, &str, _, f64)| {
            let per_s = self.rates.get(name)?.per_s;
            let is_bytes = *unit > 1.0;
            let rate =
                if is_bytes { format!("{}/s", bytes(per_s)) } else { format!("{per_s:.0}/s") };
            Some([(*says).to_owned(), rate])
        };
        RATES.iter().filter_map(row).collect()
    }

    pub(super) fn screen(&self) -> String {
        let mut text = "Is this drive fast enough?\n\n".to_owned();
        text += &(paragraph("  ", &self.answer()) + "\n\n");
        for verdict in &self.verdicts {
            let first = format!("  {:<8}{:<12}", mark(verdict.outcome), verdict.program);
            text += &indented(&first, &sentence(verdict));
        }
        text += &("\n".to_owned() + &indented("  Like    ", &plain(&self.likeness())));
        for caution in &self.cautions {
            text += &indented("  Caution ", &caution.says);
        }
        let head = ["4 KiB", "median", "of rounds", "p99", "p99.9"].map(str::to_owned);
        let _ = writeln!(text);
        for [does, median, interval, p99, p999] in std::iter::once(head).chain(self.latency_rows())
        {
            let line = format!("  {does:<23}{median:>9}  {interval:<20}{p99:>9}{p999:>10}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let _ = writeln!(text);
        for [does, rate] in self.rate_rows() {
            let _ = writeln!(text, "  {does:<23}{rate:>12}");
        }
        let _ = writeln!(text);
        text += &indented("  Where   ", &self.subject());
        text += &indented("  How     ", &self.method());
        text + &indented("  Unseen  ", UNSEEN)
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", self.answer());
        for verdict in &self.verdicts {
            let _ = writeln!(
                text,
                "- {}: {} ({})",
                verdict.program,
                sentence(verdict),
                inline(verdict.source)
            );
        }
        let _ = writeln!(text, "\nLike {}\n", self.likeness());
        for caution in &self.cautions {
            let _ = writeln!(text, "- Caution: {}", inline(&caution.says));
        }
        text += "\n| 4 KiB | median | of rounds | p99 | p99.9 |\n|---|---|---|---|---|\n";
        for row in self.latency_rows() {
            let _ = writeln!(text, "| {} |", row.map(|cell| cell.trim().to_owned()).join(" | "));
        }
        text += "\n| | rate |\n|---|---|\n";
        for row in self.rate_rows() {
            let _ = writeln!(text, "| {} |", row.map(|cell| cell.trim().to_owned()).join(" | "));
        }
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(
            text,
            "\n`ssdlab probe` {version}: {}; {}. Not seen: {UNSEEN}.",
            inline(&self.subject()),
            self.method()
        );
        text
    }
}

fn mark(outcome: DemandOutcome) -> &'static str {
    match outcome {
        DemandOutcome::Met => "yes",
        DemandOutcome::Missed => "no",
        DemandOutcome::Unclear => "unclear",
    }
}

fn sentence(verdict: &DemandVerdict) -> String {
    let DemandVerdict { demand, measured, unit, .. } = verdict;
    let digits = if *measured < 9.95 { 2 } else { 0 };
    let space = if unit.starts_with('/') { "" } else { " " };
    format!("{demand}: here {measured:.digits$}{space}{unit}")
}

fn class_name(class: DriveClass) -> &'static str {
    match class {
        DriveClass::Card => "a memory card or eMMC",
        DriveClass::Sata => "a SATA SSD",
        DriveClass::Nvme => "an NVMe SSD for consumers",
        DriveClass::DataCentre => "an SSD with capacitors",
        DriveClass::Optane => "memory that is written in place",
        DriveClass::Ideal => "a drive that takes no time",
    }
}

/// Text without the quotes of code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn paragraph(indent: &str, text: &str) -> String {
    wrapped(indent, text, indent, Style { width: Some(COLUMNS), ..Style::default() })
}

/// A labelled paragraph.
fn indented(first: &str, text: &str) -> String {
    let indent = " ".repeat(first.len());
    wrapped(first, text, &indent, Style { width: Some(COLUMNS), ..Style::default() }) + "\n"
}

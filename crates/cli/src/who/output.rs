//! The table of who wrote what, for a terminal and for an issue.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, TableStyle, presets};
use ssdlab_attribution::{DeviceWrites, LayerCounts, WhoOutput, WriteRow};
use ssdlab_report::{bytes, counted};

/// How the result is put out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat<'a> {
    /// For people.
    Text,
    /// For issues and forums.
    Markdown,
    /// For programs: one object.
    Json,
    /// A file in Prometheus's format; of a recording, written anew every minute.
    Prometheus(&'a Path),
}

/// The most rows of a table; the rest is one row.
const MOST_ROWS: usize = 30;

/// The most programs that a line names.
const MOST_NAMED: usize = 3;

/// The most stretches that are not exact of which each is shown.
const MOST_STRETCHES: usize = 10;

/// What the rows of the table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowGrouping {
    /// Programs, each in its service or cgroup.
    Program,
    /// Services and cgroups.
    Service,
    /// Files.
    File,
    /// Kinds of bytes.
    Kind,
}

/// What a row of the table adds up.
#[derive(Debug, Default)]
struct Sum {
    bytes: u64,
    asked_bytes: u64,
    syncs: u64,
    discarded_bytes: u64,
    by_kind: BTreeMap<String, u64>,
}

impl Sum {
    fn add(&mut self, row: &WriteRow) {
        self.bytes += row.bytes;
        self.asked_bytes += row.asked_bytes;
        self.syncs += row.syncs;
        self.discarded_bytes += row.discarded_bytes;
        *self.by_kind.entry(row.kind.clone()).or_default() += row.bytes;
    }

    fn kinds(&self) -> String {
        let mut kinds: Vec<_> = self.by_kind.iter().filter(|(_, bytes)| **bytes > 0).collect();
        kinds.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
        let shown = kinds.iter().map(|(kind, own)| format!("{kind} {}", bytes(**own as f64)));
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// The table for a terminal.
pub fn text(output: &WhoOutput, by: RowGrouping, files: bool) -> String {
    let devices = output.devices.iter().map(|device| {
        let tables = tables(device, by, files, presets::NOTHING, &str::to_owned);
        format!("{}\n{tables}{}", head(device), remarks(device))
    });
    devices.collect::<Vec<_>>().join("\n")
}

/// The block for an issue: paths only below `roots`.
pub fn markdown(output: &WhoOutput, by: RowGrouping, files: bool, roots: &[PathBuf]) -> String {
    let path = |path: &str| hidden(path, roots);
    let devices = output.devices.iter().map(|device| {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        format!(
            "**{}**\n\n{}\n{}Method: static trace events of Linux {}; every completed request is \
             divided among those who caused its bytes.\n",
            head(device),
            tables(device, by, files, presets::ASCII_MARKDOWN, &path),
            remarks(device),
            kernel.trim()
        )
    });
    devices.collect::<Vec<_>>().join("\n")
}

/// A path below one of the roots, else its hash.
fn hidden(path: &str, roots: &[PathBuf]) -> String {
    if roots.iter().any(|root| Path::new(path).starts_with(root)) {
        return path.to_owned();
    }
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("(file {:08x})", hash >> 32)
}

fn head(device: &DeviceWrites) -> String {
    format!(
        "{}: {} written in {:.1} s",
        device.device,
        bytes(device.counter_bytes as f64),
        device.seconds
    )
}

fn key(row: &WriteRow, by: RowGrouping, path: &dyn Fn(&str) -> String) -> [String; 2] {
    let service = row.service.clone();
    match by {
        RowGrouping::Program => [row.program.clone(), service],
        RowGrouping::Service if row.cgroup.is_empty() => [row.program.clone(), String::new()],
        RowGrouping::Service => [service, row.cgroup.clone()],
        RowGrouping::Kind => [row.kind.clone(), String::new()],
        RowGrouping::File => match &row.path {
            Some(own) => [path(own), row.program.clone()],
            None => [format!("({})", row.kind), row.program.clone()],
        },
    }
}

type Sums = BTreeMap<[String; 2], Sum>;

fn sums(device: &DeviceWrites, by: RowGrouping, path: &dyn Fn(&str) -> String) -> Sums {
    let mut sums = Sums::new();
    for row in &device.rows {
        sums.entry(key(row, by, path)).or_default().add(row);
    }
    sums
}

/// A refreshed screen of so many lines: what was written in all, and a second since `before`.
pub fn screen(output: &WhoOutput, before: &WhoOutput, by: RowGrouping, lines: usize) -> String {
    let most = (lines / output.devices.len().max(1)).saturating_sub(4).max(1);
    let devices = output.devices.iter().zip(&before.devices).map(|(device, before)| {
        let table = shaped(device, by, presets::NOTHING, &str::to_owned, most, Some(before));
        format!("{}, {} a second\n{table}\n", head(device), bytes(rate(device, before)))
    });
    devices.collect::<Vec<_>>().join("\n")
}

/// A line for each device: what was written since `before`, and by whom most.
pub fn lines(output: &WhoOutput, before: &WhoOutput, by: RowGrouping) -> String {
    let devices = output.devices.iter().zip(&before.devices).map(|(device, before)| {
        let earlier = sums(before, by, &str::to_owned);
        let grown = sums(device, by, &str::to_owned).into_iter().map(|(key, sum)| {
            let earlier = earlier.get(&key).map_or(0, |sum| sum.bytes);
            (sum.bytes.saturating_sub(earlier), key)
        });
        let mut grown: Vec<_> = grown.filter(|(grown, _)| *grown > 0).collect();
        grown.sort_by_key(|(grown, _)| std::cmp::Reverse(*grown));
        let name = |[first, second]: &[String; 2]| {
            if second.is_empty() { first.clone() } else { format!("{first} ({second})") }
        };
        let shown = grown.iter().take(MOST_NAMED);
        let shown: Vec<String> =
            shown.map(|(grown, key)| format!("{} {}", name(key), bytes(*grown as f64))).collect();
        format!(
            "{:.0} s: {} {} ({} a second) {}\n",
            device.seconds,
            device.device,
            bytes(device.counter_bytes.saturating_sub(before.counter_bytes) as f64),
            bytes(rate(device, before)),
            shown.join(", ")
        )
    });
    devices.collect()
}

/// Bytes a second since `before`.
fn rate(device: &DeviceWrites, before: &DeviceWrites) -> f64 {
    let grown = device.counter_bytes.saturating_sub(before.counter_bytes);
    grown as f64 / (device.seconds - before.seconds).max(0.001)
}

/// The table, and that of files if it is wanted, too.
fn tables(
    device: &DeviceWrites,
    by: RowGrouping,
    files: bool,
    style: TableStyle,
    path: &dyn Fn(&str) -> String,
) -> String {
    let table = |by| format!("{}\n", shaped(device, by, style, path, MOST_ROWS, None));
    if files && by != RowGrouping::File {
        format!("{}\n{}", table(by), table(RowGrouping::File))
    } else {
        table(by)
    }
}

/// A table of so many rows, with rates since `before` if that is given.
fn shaped(
    device: &DeviceWrites,
    by: RowGrouping,
    style: TableStyle,
    path: &dyn Fn(&str) -> String,
    most: usize,
    before: Option<&DeviceWrites>,
) -> Table {
    let earlier = before.map(|before| (sums(before, by, path), before.seconds));
    let grown = |key: &[String; 2], sum: &Sum| {
        let earlier = earlier.as_ref().and_then(|(sums, _)| sums.get(key));
        sum.bytes.saturating_sub(earlier.map_or(0, |sum| sum.bytes))
    };
    let mut sums: Vec<_> = sums(device, by, path).into_iter().collect();
    // On a screen, those that write now are on top.
    sums.sort_by_key(|(key, sum)| {
        let now = if earlier.is_some() { grown(key, sum) } else { 0 };
        std::cmp::Reverse((now, sum.bytes))
    });
    if sums.len() > most {
        let rest = sums.split_off(most);
        let mut others = Sum::default();
        for (_, sum) in &rest {
            others.bytes += sum.bytes;
            others.asked_bytes += sum.asked_bytes;
            others.syncs += sum.syncs;
            others.discarded_bytes += sum.discarded_bytes;
        }
        sums.push(([counted(rest.len(), "other"), String::new()], others));
    }
    let has_discards = sums.iter().any(|(_, sum)| sum.discarded_bytes > 0);
    let name = match by {
        RowGrouping::Program => ["program", "service"],
        RowGrouping::Service => ["service", "cgroup"],
        RowGrouping::File => ["file", "program"],
        RowGrouping::Kind => ["kind", ""],
    };
    let mut header = name.map(str::to_owned).to_vec();
    header.extend(earlier.is_some().then(|| "a second".to_owned()));
    header.extend(["written", "share", "asked", "syncs"].map(str::to_owned));
    header.extend(has_discards.then(|| "discarded".to_owned()));
    header.extend((by != RowGrouping::Kind).then(|| "kinds".to_owned()));
    let total = device.counter_bytes.max(1) as f64;
    let mut table = Table::new();
    table.load_style(style);
    table.set_header(header);
    for ([first, second], sum) in sums {
        let share = format!("{:.1} %", 100.0 * sum.bytes as f64 / total);
        let rate = earlier.as_ref().map(|(_, seconds)| {
            let key = [first.clone(), second.clone()];
            bytes(grown(&key, &sum) as f64 / (device.seconds - seconds).max(0.001))
        });
        let mut cells = vec![first, second];
        cells.extend(rate);
        cells.extend([bytes(sum.bytes as f64), share, bytes(sum.asked_bytes as f64)]);
        cells.push(sum.syncs.to_string());
        cells.extend(has_discards.then(|| bytes(sum.discarded_bytes as f64)));
        cells.extend((by != RowGrouping::Kind).then(|| sum.kinds()));
        table.add_row(cells);
    }
    for column in 2..6 + usize::from(before.is_some()) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// The check of the sum, and what stands beside it.
fn remarks(device: &DeviceWrites) -> String {
    let mut out = String::new();
    let sum = device.attributed_bytes + device.unseen_bytes;
    let _ = if device.inexact.is_empty() && sum == device.counter_bytes {
        writeln!(
            out,
            "check: the rows add up to the device's counter, {} bytes; unseen {}, lost events {}",
            device.counter_bytes, device.unseen_bytes, device.lost_events
        )
    } else {
        writeln!(
            out,
            "check: the rows add up to {sum} bytes, the device's counter to {}; unseen {}, lost \
             events {}",
            device.counter_bytes, device.unseen_bytes, device.lost_events
        )
    };
    for stretch in device.inexact.iter().take(MOST_STRETCHES) {
        let _ = writeln!(
            out,
            "not exact: {:.0} s from {:.0} s on, {} of {} bytes attributed, {} events lost",
            stretch.seconds,
            stretch.from_seconds,
            stretch.attributed_bytes,
            stretch.counter_bytes,
            stretch.lost_events
        );
    }
    let more = device.inexact.len().saturating_sub(MOST_STRETCHES);
    if more > 0 {
        let _ = writeln!(out, "not exact: {more} more of about a minute each");
    }
    for commits in &device.commits {
        let _ = writeln!(
            out,
            "{} waited for {}, which carried {} of others' journal",
            commits.program,
            counted(usize::try_from(commits.commits).unwrap_or(usize::MAX), "commit"),
            bytes(commits.carried_bytes as f64)
        );
    }
    for layer in &device.layers {
        let LayerCounts { device, on, bytes: own, below_bytes, is_shared, amplification } = layer;
        let times = amplification.map_or_else(String::new, |ratio| format!(", {ratio:.2} times"));
        let whose = if *is_shared { ", whoever caused it" } else { "" };
        let _ = writeln!(
            out,
            "layer: {} written to {device} made {} on {on}{times}{whose}",
            bytes(*own as f64),
            bytes(*below_bytes as f64),
        );
    }
    for note in &device.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

#[cfg(test)]
mod tests;

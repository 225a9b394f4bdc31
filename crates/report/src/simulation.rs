//! Outcomes of simulations as tables, with a column for each drive or, in a sweep, a row for each
//! simulation; and the specification of a drive.

use std::fmt::Write;
use std::iter;

use ssdlab_flash::Specification;
use ssdlab_flash::simulation::SimulationOutcome;
use ssdlab_flash::specification::{Frontiers, Levelling, Mapping, VictimPolicy};
use ssdlab_quantity::DAYS_PER_YEAR;
use ssdlab_stats::latency::LatencySummary;

use super::grid::{self, ReportTable};
use super::words::Style;
use super::{number, trace};

pub fn simulation(outcomes: &[&SimulationOutcome], style: Style) -> String {
    let swept: Vec<_> = SETTINGS.iter().filter(|(_, cell)| differ(outcomes, *cell)).collect();
    if swept.is_empty() { columns(outcomes, style) } else { rows(outcomes, &swept, style) }
}

fn differ(outcomes: &[&SimulationOutcome], cell: Cell) -> bool {
    outcomes.windows(2).any(|pair| cell(pair[0]) != cell(pair[1]))
}

fn columns(outcomes: &[&SimulationOutcome], style: Style) -> String {
    let drives = outcomes.iter().map(|outcome| outcome.drive.clone());
    let header = iter::once(String::new()).chain(drives).collect();
    let row =
        |(name, cell): &(&str, Cell)| grid::row(name, outcomes.iter().map(|outcome| cell(outcome)));
    let rows = ROWS.iter().filter_map(row).collect();
    let mut out = ReportTable { header, rows, numbers: 1 }.text(style) + "\n";
    for outcome in outcomes {
        for note in notes(outcome) {
            let _ = writeln!(out, "{}: {note}", outcome.drive);
        }
    }
    out
}

fn rows(outcomes: &[&SimulationOutcome], swept: &[&(&str, Cell)], style: Style) -> String {
    let has = |(_, cell): &&(&str, Cell)| outcomes.iter().any(|outcome| cell(outcome).is_some());
    let figures = ROWS.iter().filter(|(name, _)| IN_SWEEPS.contains(name)).filter(has);
    let drive: (&str, Cell) = ("drive", |o| Some(o.drive.clone()));
    let told: (&str, Cell) = ("", |o| Some(notes(o).join("\n")).filter(|notes| !notes.is_empty()));
    let columns: Vec<&(&str, Cell)> = iter::once(&drive)
        .chain(swept.iter().copied())
        .chain(figures)
        .chain(iter::once(&told).filter(has))
        .collect();
    let row = |outcome: &SimulationOutcome| -> Vec<String> {
        columns.iter().map(|(_, cell)| cell(outcome).unwrap_or_default()).collect()
    };
    let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rows = outcomes.iter().map(|outcome| row(outcome)).collect();
    ReportTable { header, rows, numbers: 1 + swept.len() }.text(style) + "\n"
}

/// What a sweep varies besides the drive.
const SETTINGS: &[(&str, Cell)] = &[
    ("pattern", |o| o.settings.pattern.clone()),
    ("condition", |o| Some(o.settings.condition.clone())),
    ("seed", |o| Some(o.seed.to_string())),
];

/// The rows of the table of drives that become columns of a sweep's.
const IN_SWEEPS: [&str; 4] = ["write amplification", "erases", "writes a second", "reads a second"];

type Cell = fn(&SimulationOutcome) -> Option<String>;

const ROWS: &[(&str, Cell)] = &[
    ("capacity", |o| Some(bytes(o.capacity_bytes))),
    ("write amplification", |o| o.write_amplification.map(|ratio| format!("{ratio:.3}"))),
    ("written by the host", |o| Some(bytes(o.host.written_bytes))),
    ("written to flash", |o| Some(bytes(o.flash_written_bytes))),
    ("  for", |o| Some(reasons(o)).filter(|text| !text.is_empty())),
    ("read by the host", |o| Some(bytes(o.host.read_bytes)).filter(|_| o.host.read_bytes > 0)),
    ("discarded", |o| Some(bytes(o.host.discarded_bytes)).filter(|_| o.host.discarded_bytes > 0)),
    ("erases", |o| Some(number::count(o.erases as f64))),
    ("erases a block: least, median, most", |o| {
        Some(format!("{}, {}, {}", o.wear.least, o.wear.median, o.wear.most))
    }),
    ("lasts until the average block is worn", |o| {
        let lifetime = o.lifetime?;
        Some(life(lifetime.host_bytes_to_average, lifetime.years_to_average))
    }),
    ("lasts until the first block is worn", |o| {
        let lifetime = o.lifetime?;
        Some(life(lifetime.host_bytes_to_first_block, lifetime.years_to_first_block))
    }),
    ("virtual time", |o| o.simulated_ns.map(|ns| number::duration(ns as f64))),
    ("writes a second", |o| rate(o.written_bytes_per_second, o.host.written_bytes, o.page_bytes)),
    ("reads a second", |o| rate(o.read_bytes_per_second, o.host.read_bytes, o.page_bytes)),
    ("pages waited for the drive's own work", |o| {
        o.stalled_ns.filter(|ns| *ns > 0).map(|ns| number::duration(ns as f64))
    }),
    ("read: 50, 99, 99.9 %, longest", |o| latency(o, "read")),
    ("write: 50, 99, 99.9 %, longest", |o| latency(o, "write")),
    ("flush: 50, 99, 99.9 %, longest", |o| latency(o, "flush")),
    ("discard: 50, 99, 99.9 %, longest", |o| latency(o, "discard")),
    ("free blocks: first, fewest, last", |o| {
        let blocks = o.series.iter().map(|sample| sample.moment.free_blocks);
        let (first, last) = (&o.series.first()?.moment, &o.series.last()?.moment);
        Some(format!("{}, {}, {}", first.free_blocks, blocks.min()?, last.free_blocks))
    }),
];

fn bytes(bytes: u64) -> String {
    number::bytes(bytes as f64)
}

fn reasons(outcome: &SimulationOutcome) -> String {
    let total = outcome.flash_pages.max(1) as f64;
    let mut reasons: Vec<_> = outcome.flash_pages_by_reason.iter().collect();
    reasons.sort_by_key(|(_, pages)| std::cmp::Reverse(**pages));
    let share = |(reason, pages): (&String, &u64)| {
        format!("{reason} {:.1} %", 100.0 * *pages as f64 / total)
    };
    reasons.into_iter().map(share).collect::<Vec<_>>().join("\n")
}

fn life(host_bytes: f64, years: Option<f64>) -> String {
    let bytes = number::bytes(host_bytes);
    match years {
        Some(years) if years >= 1000.0 => format!("{bytes} written, over 1000 years"),
        Some(years) if years >= 2.0 => format!("{bytes} written, {years:.1} years"),
        Some(years) => format!("{bytes} written, {:.1} days", years * DAYS_PER_YEAR),
        None => format!("{bytes} written"),
    }
}

fn rate(bytes_per_second: Option<f64>, bytes: u64, page_bytes: u32) -> Option<String> {
    let rate = bytes_per_second.filter(|_| bytes > 0)?;
    let pages = number::count(rate / f64::from(page_bytes));
    Some(format!("{}/s ({pages} pages/s)", number::bytes(rate)))
}

fn latency(outcome: &SimulationOutcome, command: &str) -> Option<String> {
    let latency = outcome.latencies.iter().find(|latency| latency.command == command)?;
    let LatencySummary { p50_ns, p99_ns, p999_ns, max_ns, .. } = latency.summary;
    let times = [p50_ns, p99_ns, p999_ns, max_ns].map(|ns| number::duration(ns as f64));
    Some(times.join(", "))
}

fn notes(outcome: &SimulationOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    let rounds = outcome.conditioning_rounds;
    match outcome.is_steady {
        Some(true) => notes.push(format!("steady after {rounds} rounds")),
        Some(false) => notes.push(format!("not steady after {rounds} rounds; given up")),
        None => {}
    }
    if outcome.is_worn_out {
        notes.push(
            "worn out: too many blocks have reached their end, and it can only be read".to_owned(),
        );
    }
    if let Some(replayed) = &outcome.trace {
        let span = number::duration(replayed.duration_ns as f64);
        notes.push(format!("{} requests replayed, over {span}", replayed.requests));
        notes.extend(trace::clamped(replayed.clamped));
        notes.extend(replayed.cut_off.clone());
    }
    notes
}

/// The specification of a drive, in a few lines.
pub fn specification(drive: &Specification) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:14} {text}");
    };
    line("name", drive.name.clone());
    line("capacity", format!("{} bytes", drive.capacity_bytes()));
    line("pages", format!("{} of {} bytes", drive.logical_pages, drive.page_bytes));
    let superblocks = match drive.superblock {
        1 => String::new(),
        dies => format!(", each over {dies} dies"),
    };
    line("blocks", format!("{} of {} pages{superblocks}", drive.blocks, drive.pages_per_block));
    let sf = drive.spare_factor();
    line("spare", format!("Sf {sf:.4} = (T - U) / T, OP {:.4} = (T - U) / U", sf / (1.0 - sf)));
    line("mapping", mapping(drive.mapping));
    let wear = match drive.wear.levelling {
        Levelling::None => "no levelling".to_owned(),
        Levelling::Dynamic => "dynamic levelling".to_owned(),
        Levelling::Static { threshold } => format!("static levelling from {threshold} erases on"),
    };
    let endurance = drive.wear.endurance.map_or("no end".to_owned(), |n| format!("{n} erases"));
    line("wear", format!("{wear}, {endurance}"));
    line("discard", discard(drive));
    if let Some(buffer) = drive.write_buffer {
        let kind =
            if drive.power_loss.protection { "kept when the power fails" } else { "volatile" };
        line("write buffer", format!("{} pages, {kind}", buffer.pages));
    }
    if let Some(slc) = drive.slc_cache {
        let pages = u64::from(slc.blocks) * u64::from(slc.pages_per_block);
        line("SLC cache", bytes(pages * u64::from(drive.page_bytes)));
    }
    if let Some(cache) = drive.map_cache {
        let covers = u64::from(cache.map_pages) * u64::from(cache.covers_pages);
        line("map cache", format!("covers {}", bytes(covers * u64::from(drive.page_bytes))));
    }
    match &drive.timing {
        Some(timing) => {
            let ns = |time: ssdlab_flash::Nanos| number::duration(time.0 as f64);
            line(
                "timing",
                format!(
                    "{} channels x {} dies x {} planes; read {}, program {}, erase {}",
                    timing.channels,
                    timing.dies_per_channel,
                    timing.planes,
                    ns(timing.cell.read),
                    ns(timing.cell.program),
                    ns(timing.erase)
                ),
            );
        }
        None => line("timing", "none".to_owned()),
    }
    out
}

fn mapping(mapping: Mapping) -> String {
    match mapping {
        Mapping::Page { collection, frontiers } => {
            let collection = match collection {
                VictimPolicy::Greedy => "greedy".to_owned(),
                VictimPolicy::Fifo => "FIFO".to_owned(),
                VictimPolicy::Random => "random".to_owned(),
                VictimPolicy::Choices(choices) => format!("best of {choices}"),
                VictimPolicy::CostBenefit => "cost-benefit".to_owned(),
            };
            let frontiers = match frontiers {
                Frontiers::One => "all pages side by side",
                Frontiers::Collector => "copied pages apart from the host's",
                Frontiers::HotCold => "hot and cold pages apart",
            };
            format!("by pages; {collection} collection, {frontiers}")
        }
        Mapping::Block { open_blocks } => format!("by blocks, {open_blocks} open at once"),
        Mapping::Bast { log_blocks } => format!("BAST with {log_blocks} log blocks"),
        Mapping::Fast { log_blocks } => format!("FAST with {log_blocks} log blocks"),
    }
}

fn discard(drive: &Specification) -> String {
    let trim = &drive.trim;
    if !trim.honoured {
        return "ignored".to_owned();
    }
    let kind = if trim.blocking { "holds up everything" } else { "queued with other commands" };
    let ns = |time: ssdlab_flash::Nanos| number::duration(time.0 as f64);
    format!(
        "{kind}; {} a command, {} a page that held data, {} a MiB that held none",
        ns(trim.per_command),
        ns(trim.per_mapped_page),
        ns(trim.per_unmapped_mib)
    )
}

//! The answer of `ssdlab baseline check` on one screen: which costs of a load have changed since
//! its baseline was recorded, in which phase, of which kind and of which file.

use std::fmt::Write;

use ssdlab_advice::{BaselineComparison, Cost, CostChange, CostPart, CostVerdict};
use ssdlab_quantity::listed;

use super::number::{bytes, duration};
use super::screen::COLUMNS;
use super::words::{Style, counted, plain, wrapped, written};

/// The width of the words that begin lines.
const LABEL: usize = 10;

/// Kinds or files that are named before the rest is counted.
const MOST_NAMED: usize = 4;

/// The screen; `command` records the baseline anew.
pub fn baseline_screen(found: &BaselineComparison, command: &str, style: Style) -> String {
    let style = Style { width: Some(style.width.unwrap_or(COLUMNS).min(COLUMNS)), ..style };
    let row = |label: &str, says: &str| {
        let first = format!("    {label:LABEL$}");
        wrapped(&first, &plain(says), &" ".repeat(LABEL + 4), style)
    };
    written(|out| {
        writeln!(out, "Does the load cost what it did?\n")?;
        writeln!(out, "{}", wrapped("  ", &answer(found), "  ", style))?;
        // Where something matters, the rest is counted.
        let is_shown = |change: &&CostChange| {
            found.outcome == CostVerdict::Allowed || change.verdict > CostVerdict::Allowed
        };
        let mut place = None;
        for change in found.changes.iter().filter(is_shown) {
            let here = (&change.levels, &change.phase);
            if place.replace(here) != Some(here) {
                let place = format!("{}: {}", change.levels, change.phase);
                writeln!(out, "\n{}", wrapped("  ", &plain(&place), "  ", style))?;
            }
            writeln!(out, "{}", row(label(change.cost), &says(change)))?;
            if !change.by_kind.is_empty() {
                writeln!(out, "{}", row("  by kind", &parts(&change.by_kind, Cost::Bytes)))?;
            }
            if !change.by_file.is_empty() {
                let of = if change.cost == Cost::Bytes { Cost::Bytes } else { Cost::Syncs };
                writeln!(out, "{}", row("  by file", &parts(&change.by_file, of)))?;
            }
        }
        let rest = found.changes.iter().filter(|change| !is_shown(change)).count();
        if rest > 0 {
            let says = format!("{} no larger than is allowed.", counted(rest, "other change"));
            writeln!(out, "\n{}", wrapped("  ", &says, "  ", style))?;
        }
        let to = match found.outcome {
            CostVerdict::Worse => "To accept",
            CostVerdict::Better => "To keep",
            CostVerdict::Same | CostVerdict::Allowed => return Ok(()),
        };
        // Not wrapped, so that it can be copied.
        writeln!(out, "\n  {to} it: {}", plain(command))
    })
}

/// The answer in a sentence or two.
fn answer(found: &BaselineComparison) -> String {
    let of = |verdict| {
        let those = found.changes.iter().filter(|change| change.verdict == verdict);
        let mut costs: Vec<Cost> = those.map(|change| change.cost).collect();
        costs.sort_unstable();
        costs.dedup();
        listed(&costs.iter().map(|cost| amount(*cost).to_owned()).collect::<Vec<_>>())
    };
    match found.outcome {
        CostVerdict::Same if found.is_identical => {
            "Yes, to the bit: every request to the drive is as it was.".to_owned()
        }
        CostVerdict::Same => {
            "Yes: bytes, flushes, syncs and virtual times are as they were.".into()
        }
        CostVerdict::Allowed => "Yes, as far as is allowed.".to_owned(),
        CostVerdict::Better => {
            format!("It costs less: {}. Nothing grew beyond what is allowed.", of(found.outcome))
        }
        CostVerdict::Worse => {
            let better = of(CostVerdict::Better);
            let beside = if better.is_empty() {
                String::new()
            } else {
                format!(" Elsewhere it costs less: {better}.")
            };
            format!("No, it costs more: {}.{beside}", of(found.outcome))
        }
    }
}

const fn label(cost: Cost) -> &'static str {
    match cost {
        Cost::Bytes => "Bytes",
        Cost::Flushes => "Flushes",
        Cost::Syncs => "Syncs",
        Cost::Time => "Time",
    }
}

const fn amount(cost: Cost) -> &'static str {
    match cost {
        Cost::Bytes => "bytes written",
        Cost::Flushes => "flushes of the drive",
        Cost::Syncs => "syncs of the program",
        Cost::Time => "virtual time",
    }
}

/// What a cost was and is.
fn says(change: &CostChange) -> String {
    let CostChange { cost, recorded, found, allowed, .. } = *change;
    let shown = |number: u64| match cost {
        Cost::Bytes => bytes(number as f64).trim().to_owned(),
        Cost::Time => duration(number as f64).trim().to_owned(),
        Cost::Flushes | Cost::Syncs => number.to_string(),
    };
    let by = match cost {
        _ if recorded == 0 => String::new(),
        Cost::Bytes | Cost::Time => {
            let percent = (found as f64 / recorded as f64 - 1.0) * 100.0;
            format!(", {percent:+.2} %")
        }
        Cost::Flushes | Cost::Syncs => {
            format!(", {:+}", found.wrapping_sub(recorded).cast_signed())
        }
    };
    let limit = match change.verdict {
        CostVerdict::Worse if allowed == recorded => " (no more is allowed)".to_owned(),
        CostVerdict::Worse => format!(" ({} at most)", shown(allowed)),
        CostVerdict::Better => " (less)".to_owned(),
        CostVerdict::Allowed | CostVerdict::Same => " (allowed)".to_owned(),
    };
    format!("{} to {}{by}{limit}", shown(recorded), shown(found))
}

/// The largest parts of a change.
fn parts(all: &[CostPart], cost: Cost) -> String {
    let of = |part: &CostPart| {
        let by = if cost == Cost::Bytes {
            let sign = if part.by < 0 { '-' } else { '+' };
            format!("{sign}{}", bytes(part.by.unsigned_abs() as f64).trim())
        } else {
            format!("{:+}", part.by)
        };
        format!("{} {by}", part.name)
    };
    let named: Vec<String> = all.iter().take(MOST_NAMED).map(of).collect();
    let mut says = named.join(", ");
    if let Some(more @ 1..) = all.len().checked_sub(MOST_NAMED) {
        let _ = write!(says, " and {more} more");
    }
    if cost == Cost::Syncs {
        says.push_str(" (syncs)");
    }
    says
}

#[cfg(test)]
mod tests;

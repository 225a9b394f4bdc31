//! The answer of `ssdlab crashtest` on one screen: how often something was lost on each filesystem,
//! what was not synced at one of the cuts, and which sync is missing.

use std::fmt::Write;

use ssdlab_advice::Proportion;
use ssdlab_operations::calls::{CallEffect, FileCall, Unsynced};
use ssdlab_plan::SyncRemedy;
use ssdlab_quantity::listed;
use ssdlab_results::{CrashCause, TriedRemedy};

use super::screen::COLUMNS;
use super::words::{Style, plain, wrapped, written};

/// The width of the words that begin the last lines.
const LABEL: usize = 10;

/// Things that are named before the rest is counted, and how long a quote and a reason may be.
const MOST_NAMED: usize = 2;
const LONGEST_QUOTE: usize = 60;
const LONGEST_REASON: usize = 250;

/// The confidence of the bound where nothing was found: one-sided.
const DOUBT: f64 = 0.05;

/// What a crash test found.
#[derive(Debug)]
pub struct CrashReport {
    /// Each filesystem with its cuts.
    pub rows: Vec<CrashRow>,
    /// Why trials failed, each filesystem with its reason.
    pub failures: Vec<(String, String)>,
    /// What was looked into.
    pub example: Option<CrashExample>,
    /// Whether the program has printed a line, and so promised anything.
    pub has_promised: bool,
    /// What limits the answer, a sentence each.
    pub limits: Vec<String>,
    /// The run; none if it has not begun.
    pub run: Option<String>,
}

/// The cuts on one filesystem.
#[derive(Debug)]
pub struct CrashRow {
    pub filesystem: String,
    /// After how many of them something was lost or the check failed.
    pub found: Proportion,
}

/// One cut that was looked into.
#[derive(Debug)]
pub struct CrashExample {
    /// On which filesystem.
    pub filesystem: String,
    /// What the check said.
    pub says: String,
    /// The command that repeats it.
    pub command: String,
    /// Why, as far as it was found out.
    pub cause: Option<CrashCause>,
}

/// The first screen.
pub fn crash_screen(report: &CrashReport, style: Style) -> String {
    let style = Style { width: Some(style.width.unwrap_or(COLUMNS).min(COLUMNS)), ..style };
    let row = |label: &str, says: &str| {
        let first = format!("  {label:LABEL$}");
        wrapped(&first, &plain(says), &" ".repeat(LABEL + 2), style)
    };
    written(|out| {
        writeln!(out, "Does the program's data survive a power cut?\n")?;
        writeln!(out, "{}\n", wrapped("  ", &answer(report), "  ", style))?;
        for cuts in &report.rows {
            let name = &cuts.filesystem;
            writeln!(out, "  {name:LABEL$}{:>10}   {}", of(&cuts.found), interval(&cuts.found))?;
        }
        for (filesystem, why) in &report.failures {
            writeln!(
                out,
                "{}",
                row(filesystem, &format!("not tested: {}", short(why, LONGEST_REASON)))
            )?;
        }
        writeln!(out)?;
        if let Some(example) = &report.example {
            writeln!(out, "{}", row("Check", &quote(&example.says)))?;
            if let Some(cause) = &example.cause {
                if !cause.unsynced.is_empty() {
                    writeln!(out, "{}", row("Unsynced", &unsynced(&cause.unsynced)))?;
                }
                writeln!(out, "{}", row("Missing", &missing(cause)))?;
            }
            // Not wrapped, so that it can be copied.
            writeln!(out, "  {:LABEL$}{}", "Repeat", plain(&example.command))?;
        }
        for limit in &report.limits {
            writeln!(out, "{}", row("But", limit))?;
        }
        if let Some(run) = &report.run {
            writeln!(out, "{}", row("More", &format!("ssdlab report {run} --tables")))?;
        }
        Ok(())
    })
}

/// The answer in a sentence or two.
fn answer(report: &CrashReport) -> String {
    let found: Vec<&CrashRow> = report.rows.iter().filter(|row| row.found.count > 0).collect();
    let cuts: u64 = report.rows.iter().map(|row| row.found.of).sum();
    if cuts == 0 {
        return "Unknown: no power cut was examined.".to_owned();
    }
    let names = |rows: &[&CrashRow]| {
        listed(&rows.iter().map(|row| row.filesystem.clone()).collect::<Vec<_>>())
    };
    if found.is_empty() {
        let all: Vec<&CrashRow> = report.rows.iter().collect();
        if !report.has_promised {
            return format!(
                "Nothing was promised: the program printed no line. So only the check was tried: \
                 it accepted what {cuts} power cuts on {} left.",
                names(&all)
            );
        }
        return format!(
            "Yes, as far as {cuts} power cuts on {} can tell: nothing that was acknowledged was \
             lost, and the check never failed.",
            names(&all)
        );
    }
    let lost: u64 = found.iter().map(|row| row.found.count).sum();
    let what = if report.has_promised {
        "something acknowledged was lost or the check failed"
    } else {
        "the check failed, though the program printed no line and so promised nothing"
    };
    let mut says = format!("No. After {lost} of {cuts} power cuts {what}, on {}.", names(&found));
    let said = report.example.as_ref().and_then(|example| example.cause.as_ref()?.said.clone());
    if let Some(said) = said {
        let _ = write!(says, " At the cut below the last line printed was \"{}\".", quote(&said));
    }
    says
}

fn of(found: &Proportion) -> String {
    format!("{} of {}", found.count, found.of)
}

fn interval(found: &Proportion) -> String {
    let percent = |share: f64| (share * 1000.0).round() / 10.0;
    if found.count == 0 {
        let bound = 100.0 * (1.0 - DOUBT.powf(1.0 / found.of.max(1) as f64));
        // A bound is rounded up.
        let step = if bound < 0.1 { 1000.0 } else { 10.0 };
        return format!("less than {} %", (bound * step).ceil() / step);
    }
    let [low, high] = found.interval;
    format!("{} to {} %", percent(low), percent(high))
}

fn quote(text: &str) -> String {
    short(text, LONGEST_QUOTE)
}

fn short(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(most).collect();
    if short.len() < line.len() { format!("{short}...") } else { short }
}

/// What was not synced, by name and place.
fn unsynced(left: &Unsynced) -> String {
    let files = left.files.iter().map(|(name, (first, end))| {
        if first == end {
            format!("the size of {name}")
        } else {
            format!("{name}, bytes {first} to {}", end - 1)
        }
    });
    let names = left.names.iter().rev().map(change);
    let all: Vec<String> = files.chain(names).collect();
    let more = all.len().saturating_sub(MOST_NAMED + 1);
    let mut said = all[..all.len() - more].join("; ");
    if more > 0 {
        let _ = write!(said, "; and {more} more");
    }
    said
}

fn change(call: &FileCall) -> String {
    match &call.effect {
        CallEffect::Names { path, to: Some(to) } => format!("{} of {path} to {to}", call.name),
        CallEffect::Names { path, .. } if call.name == "open" => format!("making of {path}"),
        CallEffect::Names { path, .. } => format!("{} of {path}", call.name),
        _ => call.name.clone(),
    }
}

/// Which sync is missing, or why none is known.
fn missing(cause: &CrashCause) -> String {
    if let Some(FileCall { name, effect, .. }) = &cause.ignored {
        let of = match effect {
            CallEffect::Sync { path } => format!("({path})"),
            _ => String::new(),
        };
        return format!(
            "a stop after {name}{of} failed. Tried: without failing requests nothing is lost."
        );
    }
    match &cause.remedy {
        None => "not known: no single sync that was tried makes it vanish.".to_owned(),
        Some(tried) => format!("{} Tried: with it, none of {} cuts.", sync(tried), tried.cuts),
    }
}

fn sync(TriedRemedy { remedy, of, call, is_late, .. }: &TriedRemedy) -> String {
    let at = call.as_ref().map_or_else(String::new, change);
    match remedy {
        SyncRemedy::DirectoryAfterChange => {
            format!("fsync of the directory ({of}) after the {at}.")
        }
        SyncRemedy::FileBeforeRename => format!("fsync({of}) before the {at}."),
        SyncRemedy::OthersBeforeSync => {
            let at = match call.as_ref().map(|call| &call.effect) {
                Some(CallEffect::Sync { path }) => format!("sync of {path}"),
                _ => at,
            };
            format!("fsync({of}) before the {at}.")
        }
        SyncRemedy::FilesBeforeLine if *is_late => {
            format!("fsync({of}) before the line is printed: it comes after it.")
        }
        SyncRemedy::FilesBeforeLine => {
            format!("fsync({of}) before the line is printed.")
        }
    }
}

#[cfg(test)]
mod tests;

//! The method check on a terminal: problems first.

use std::fmt::Write;

use ssdlab_advice::{Check, CheckOutcome};

use super::words::{Style, wrapped, written};

/// The indent of lines below an outcome.
const INDENT: &str = "                ";

/// The maximum number of one check's warnings that are shown; `--json` has all.
const MOST_WARNINGS: usize = 4;

/// The results of a run's checks.
pub fn method(run: &str, checks: &[Check], style: Style) -> String {
    written(|out| write_checks(out, run, checks, style))
}

fn write_checks(out: &mut String, run: &str, checks: &[Check], style: Style) -> std::fmt::Result {
    let count =
        |outcome: CheckOutcome| checks.iter().filter(|check| check.outcome == outcome).count();
    let says = format!(
        "{run}: {} of {} checks met, {} not met, {} unknown",
        count(CheckOutcome::Met),
        checks.len(),
        count(CheckOutcome::NotMet),
        count(CheckOutcome::Unknown)
    );
    writeln!(out, "{}", wrapped("", &says, "", style))?;
    for outcome in [CheckOutcome::NotMet, CheckOutcome::Unknown, CheckOutcome::Met] {
        for check in checks.iter().filter(|check| check.outcome == outcome) {
            write_check(out, check, style)?;
        }
    }
    Ok(())
}

fn write_check(out: &mut String, check: &Check, style: Style) -> std::fmt::Result {
    let word = check.outcome.to_string();
    let padding = " ".repeat(INDENT.len().saturating_sub(word.len()));
    let shown = match check.outcome {
        _ if !style.is_coloured => word,
        CheckOutcome::Met => format!("\x1b[1;32m{word}\x1b[0m"),
        CheckOutcome::NotMet => format!("\x1b[1;31m{word}\x1b[0m"),
        CheckOutcome::Unknown => format!("\x1b[1;33m{word}\x1b[0m"),
    };
    let says = format!("{}: {}", check.criterion, check.evidence);
    writeln!(out, "{}", wrapped(&format!("{shown}{padding}"), &says, INDENT, style))?;
    for warned in check.warnings.iter().take(MOST_WARNINGS) {
        let (first, next) = (format!("{INDENT}- "), format!("{INDENT}  "));
        writeln!(out, "{}", wrapped(&first, &warned.says, &next, style))?;
    }
    if let Some(more) = check.warnings.len().checked_sub(MOST_WARNINGS + 1) {
        writeln!(out, "{INDENT}- and {} more (--json)", more + 1)?;
    }
    if let Some(advice) = &check.advice {
        let first = format!("{INDENT}What to do: ");
        writeln!(out, "{}", wrapped(&first, advice, INDENT, style))?;
    }
    Ok(())
}

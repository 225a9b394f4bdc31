//! The report as Markdown, to be pasted into an issue: the question, the verdicts, the tables.
//!
//! It is GitHub's dialect (GitHub Flavored Markdown Spec 0.29, section 4.10 for tables), and stays
//! readable without rendering.

use std::fmt::Write;
use std::iter;

use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

use super::answer::answer;
use super::bars;
use super::claims::{ReportedClaim, advice, claims};
use super::cuts;
use super::grid::ReportTable;
use super::hosts;
use super::number;
use super::prediction;
use super::programs;
use super::screen::{COLUMNS, drives, tweak};
use super::table::TableLayout;
use super::text::{how, main_heading, ranking_heading};
use super::words::{Style, counted, plain, written};

/// Unlimited, so that no table is split: pages scroll.
const STYLE: Style = Style { is_coloured: false, width: Some(u16::MAX) };

/// The maximum number of lines of bars: a page has room for more than a screen.
const MOST_LINES_OF_BARS: usize = 20;

/// The report of a run.
pub fn markdown(schedule: &Schedule, analysis: &Analysis) -> String {
    written(|out| write_report(out, schedule, analysis))
}

fn write_report(out: &mut String, schedule: &Schedule, analysis: &Analysis) -> std::fmt::Result {
    writeln!(out, "### {}\n", inline(&analysis.question))?;
    write_answer(out, schedule, analysis)?;
    for claim in claims(schedule, analysis) {
        write_claim(out, &claim)?;
    }
    if !analysis.claims.is_empty() {
        writeln!(out)?;
    }
    for setting in &analysis.settings {
        writeln!(out, "**What follows**: {}\n", inline(&advice(setting)))?;
    }
    writeln!(out, "{}\n", inline(&format!("{}: {}", analysis.run, how(analysis))))?;
    let shared = schedule.shared();
    if schedule.treatments.len() > 1 && !shared.0.is_empty() {
        writeln!(out, "All: {}\n", inline(&shared.to_string()))?;
    }
    if let Some(source) = &schedule.source {
        writeln!(out, "Source: {}\n", inline(source))?;
    }
    let layout = TableLayout::new(schedule, analysis);
    writeln!(out, "{}\n", inline(&main_heading(schedule, analysis)))?;
    for table in layout.main_table(STYLE) {
        writeln!(out, "{}", self::table(&table))?;
    }
    for (ranking, table) in layout.rankings() {
        writeln!(out, "{}\n\n{}", inline(&ranking_heading(ranking)), self::table(&table))?;
    }
    if let Some(table) = cuts::table(schedule, analysis) {
        writeln!(out, "{}\n\n{}", inline(cuts::HEADING), self::table(&table))?;
    }
    let reproducers = cuts::reproducers(schedule, analysis);
    if !reproducers.is_empty() {
        writeln!(out, "{}\n", inline(cuts::REPRODUCERS))?;
        for (name, command) in &reproducers {
            writeln!(out, "- {}: {}", inline(name), inline(command))?;
        }
        writeln!(out)?;
    }
    for table in programs::tables(schedule, analysis, STYLE) {
        writeln!(out, "{}\n\n{}", programs::HEADING, self::table(&table))?;
    }
    if let Some(table) = prediction::table(schedule, analysis) {
        writeln!(out, "{}\n\n{}", prediction::HEADING, self::table(&table))?;
    }
    for (heading, tables) in hosts::tables(schedule, analysis, STYLE, &number::effect) {
        writeln!(out, "{}\n", inline(&heading))?;
        for table in tables {
            writeln!(out, "{}", self::table(&table))?;
        }
    }
    let sentences = hosts::sentences(schedule, analysis, &number::effect);
    for says in &sentences {
        writeln!(out, "- {}", inline(says))?;
    }
    if !sentences.is_empty() {
        writeln!(out)?;
    }
    if !analysis.warnings.is_empty() {
        writeln!(out, "Caveats:\n")?;
    }
    for warned in &analysis.warnings {
        writeln!(out, "- {}", inline(&warned.says))?;
    }
    Ok(())
}

/// The first screen, without the question.
pub fn answer_markdown(schedule: &Schedule, analysis: &Analysis) -> String {
    written(|out| write_answer(out, schedule, analysis))
}

fn write_answer(out: &mut String, schedule: &Schedule, analysis: &Analysis) -> std::fmt::Result {
    let found = answer(schedule, analysis);
    let sentences = [&found.sentence].into_iter().chain(&found.also);
    let sentences: Vec<String> = sentences.map(|says| inline(says)).collect();
    writeln!(out, "{}\n", sentences.join(" "))?;
    if let Some(says) = tweak(analysis) {
        writeln!(out, "Tweak: {}\n", inline(&says))?;
    }
    if let Some(drive) = drives(&found.drives) {
        writeln!(out, "Drive: {}\n", inline(&drive))?;
    }
    let style = Style { width: Some(COLUMNS), ..Style::default() };
    if let Some(bars) = bars::of_answer(schedule, analysis, MOST_LINES_OF_BARS, style) {
        // A fence longer than any in a level's name.
        writeln!(out, "~~~~~~text\n{bars}\n~~~~~~\n")?;
    }
    for action in &found.actions {
        writeln!(out, "- **Do**: {}", inline(action))?;
    }
    writeln!(out, "- **How sure**: {}: {}\n", found.sure.name(), inline(&found.because))
}

fn write_claim(out: &mut String, claim: &ReportedClaim<'_>) -> std::fmt::Result {
    let says = inline(claim.says);
    let is_one = claim.cases.len() == 1;
    if !is_one {
        let cases = counted(claim.cases.len(), "case");
        let shared = claim.shared.iter().map(|says| inline(says));
        let lines: Vec<String> = iter::once(says.clone()).chain(shared).collect();
        writeln!(out, "- **{cases}**: {}", lines.join("<br>"))?;
    }
    for case in &claim.cases {
        let verdict = case.judgement.outcome.verdict();
        let reason = case.reason.as_ref();
        let reason = reason.map_or(String::new(), |reason| format!("<br>{}", inline(reason)));
        if is_one {
            let (sides, evidence) = (inline(&case.sides), inline(&case.evidence));
            writeln!(out, "- **{verdict}**: {says}<br>{sides}<br>{evidence}{reason}")?;
        } else {
            writeln!(out, "  - **{verdict}**: {}{reason}", inline(&case.line()))?;
        }
    }
    Ok(())
}

/// A table; cells break lines with `<br>`, the only way in tables.
pub(super) fn table(grid: &ReportTable) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cell = |text: &String| text.lines().map(inline).collect::<Vec<_>>().join("<br>");
    let rule = |column| if column < grid.numbers { "---" } else { "---:" }.to_owned();
    let mut text = line(grid.header.iter().map(cell).collect());
    text += &line((0..grid.header.len()).map(rule).collect());
    for row in &grid.rows {
        text += &line(row.iter().map(cell).collect());
    }
    text
}

/// Between a number sign and a number: GitHub links `owner/name#1` and `GH-1` in what is rendered,
/// where nothing shows that a character was escaped.
const NOT_A_REFERENCE: &str = "<!-- -->";

/// A text on one line of Markdown, escaped so that it makes no markup, HTML, column or link. Plain
/// text stays as it is, for readers of the source.
pub fn inline(text: &str) -> String {
    let text: Vec<char> = plain(text).chars().collect();
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| text[index]);
        let is_letter = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        let is_markup = match c {
            '\\' | '`' | '*' | '<' | '>' | '|' | '~' | '$' | '&' | '@' => true,
            // So that no address becomes a link, and no picture is requested.
            ':' if text[index + 1..].starts_with(&['/', '/']) => true,
            '_' => !is_letter(before.as_ref()) || !is_letter(text.get(index + 1)),
            '(' | '[' | ':' => before == Some(']'),
            '#' => before.is_none_or(|before| before == ' '),
            '.' => ends_with(&text[..index], "www"),
            _ => false,
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(*c);
        let is_numbered = text.get(index + 1).is_some_and(char::is_ascii_digit);
        if is_numbered && (*c == '#' || ends_with(&text[..=index], "gh-")) {
            escaped.push_str(NOT_A_REFERENCE);
        }
    }
    escaped.trim().to_owned()
}

/// Whether a text ends with a word, in letters of any case.
fn ends_with(text: &[char], word: &str) -> bool {
    let mut last = text.iter().rev();
    word.chars().rev().all(|c| last.next().is_some_and(|found| found.eq_ignore_ascii_case(&c)))
}

#[cfg(test)]
mod tests;

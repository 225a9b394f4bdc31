//! The first screen of a report: the question, the answer, the numbers as bars, what to do and how
//! sure it is. At most sixteen lines of eighty columns; everything else is a flag away.

use std::fmt::Write;

use ssdlab_advice::{Analysis, Judgement, Verdict, Warning};
use ssdlab_plan::{Schedule, TWEAK, TWEAK_UNDO};
use ssdlab_quantity::listed;

use super::answer::{AnsweredQuestion, answer};
use super::bars;
use super::claims::{advice, claims};
use super::evidence;
use super::prediction;
use super::text::{write_reproducers, write_setting};
use super::words::{Style, argument, wrapped, written};

/// The size of a screen, in lines and columns.
const MOST_LINES: usize = 16;
pub(super) const COLUMNS: u16 = 80;

/// The indent of the answer, and the width of the words that begin the last lines.
const INDENT: &str = "  ";
const LABEL: usize = 10;

/// The first screen of a run.
pub fn screen(schedule: &Schedule, analysis: &Analysis, style: Style) -> String {
    let style = Style { width: Some(style.width.unwrap_or(COLUMNS).min(COLUMNS)), ..style };
    let found = answer(schedule, analysis);
    let question = wrapped("", &analysis.question, "", style);
    let rows = rows(analysis, &found, style);
    let lines = |text: &str| text.lines().count();
    // Blank lines follow the question and the answer, and bars.
    let room = MOST_LINES.saturating_sub(lines(&question) + lines(&rows) + 2);
    let answer = fitting(&found, room, style);
    let room = room.saturating_sub(lines(&answer) + 1);
    let bars = |room| bars::of_answer(schedule, analysis, room, style);
    // Bars without a blank line above them are better than none.
    let (gap, bars) = match bars(room) {
        Some(bars) => ("\n", Some(bars)),
        None => ("", bars(room + 1)),
    };
    written(|out| {
        writeln!(out, "{question}\n\n{answer}")?;
        match bars {
            Some(bars) => writeln!(out, "{gap}{bars}\n")?,
            None => writeln!(out)?,
        }
        out.write_str(&rows)
    })
}

/// The answer with as many further sentences as there is room for.
fn fitting(found: &AnsweredQuestion, room: usize, style: Style) -> String {
    let text = |also: usize| {
        let sentences = [&found.sentence].into_iter().chain(&found.also[..also]);
        let text = sentences.map(String::as_str).collect::<Vec<_>>().join(" ");
        wrapped(INDENT, &text, INDENT, style)
    };
    let fits = |also: &usize| text(*also).lines().count() <= room;
    text((0..=found.also.len()).rev().find(fits).unwrap_or(0))
}

/// What limits the answer, what to do, how sure it is, and where there is more.
fn rows(analysis: &Analysis, found: &AnsweredQuestion, style: Style) -> String {
    let limits = limits(analysis).map(|says| ("But", says.to_owned()));
    let actions = found.actions.first().map(|action| ("Do", action.clone()));
    let tweak = tweak(analysis).map(|says| ("Tweak", says));
    let drives = drives(&found.drives).map(|drive| ("Drive", drive));
    let sure = ("How sure", format!("{}: {}", found.sure.name(), found.because));
    let run = argument(analysis);
    let predicted = prediction::sentence(analysis).map(|says| ("Predicted", says));
    let more = ("More", format!("ssdlab report {run} --why, --tables or --out report.html"));
    let rows = limits
        .chain(actions)
        .chain(tweak)
        .chain(drives)
        .chain([sure])
        .chain(predicted)
        .chain([more])
        .map(|(label, says)| {
            let first = format!("{INDENT}{label:LABEL$}");
            let indent = " ".repeat(INDENT.len() + LABEL);
            wrapped(&first, &says, &indent, style) + "\n"
        });
    rows.collect()
}

/// The commands of the user's own change.
pub(super) fn tweak(analysis: &Analysis) -> Option<String> {
    let [command, undo] = [TWEAK, TWEAK_UNDO].map(|name| analysis.applied.get(name));
    Some(format!("{}; taken back by: {}", command?, undo?))
}

/// The drives on one line: two in full, more by their names.
pub(super) fn drives(drives: &[String]) -> Option<String> {
    let name = |drive: &String| drive.split(':').next().unwrap_or_default().to_owned();
    match drives {
        [] => None,
        [_] | [_, _] => Some(drives.join("; ")),
        many => Some(listed(&many.iter().map(name).collect::<Vec<_>>())),
    }
}

/// What may change the answer itself: trials that failed, caches that were cut. A sentence each.
pub(super) fn limits(analysis: &Analysis) -> impl Iterator<Item = &str> {
    let is_limit =
        |warning: &Warning| matches!(warning, Warning::Trials { .. } | Warning::CutCache { .. });
    let limits = analysis.warnings.iter().filter(move |warned| is_limit(&warned.warning));
    limits.map(|warned| warned.says.split_once(". ").map_or(&*warned.says, |(first, _)| first))
}

/// Why the answer is what it is: each claim with its mark and its number, what follows, every
/// caveat, and where and on what the trials ran.
pub fn why(schedule: &Schedule, analysis: &Analysis, style: Style) -> String {
    written(|out| {
        writeln!(out, "{}", wrapped("", &analysis.question, "", style))?;
        if !analysis.claims.is_empty() {
            writeln!(out)?;
        }
        for claim in claims(schedule, analysis) {
            let amount = |judged: &Judgement| {
                let known = [evidence::amount(judged), evidence::why_open(judged)];
                let known = known.into_iter().flatten().collect::<Vec<_>>().join("; ");
                (format!("{} ", mark(judged.outcome.verdict())), known)
            };
            if let [only] = &claim.cases[..] {
                let (mark, amount) = amount(only.judgement);
                let says = format!("{}: {amount}", claim.says);
                writeln!(out, "{}", wrapped(&mark, &says, INDENT, style))?;
                continue;
            }
            writeln!(out, "{}", wrapped("", claim.says, INDENT, style))?;
            for case in &claim.cases {
                let (mark, amount) = amount(case.judgement);
                let says = format!("{}: {amount}", case.sides);
                let first = format!("{INDENT}{mark}");
                writeln!(out, "{}", wrapped(&first, &says, "    ", style))?;
            }
        }
        if !analysis.claims.is_empty() {
            writeln!(out, "\nWhat each claim says, and what it rests on: --verbose")?;
        }
        if !analysis.settings.is_empty() {
            writeln!(out)?;
        }
        for setting in &analysis.settings {
            writeln!(out, "{}", wrapped("- ", &advice(setting), INDENT, style))?;
        }
        write_reproducers(out, schedule, analysis, style)?;
        writeln!(out, "\nWhat limits this")?;
        for warned in &analysis.warnings {
            writeln!(out, "{}", wrapped("- ", &warned.says, INDENT, style))?;
        }
        write_setting(out, schedule, analysis, style)
    })
}

/// A verdict as a sign.
pub(super) const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "✓",
        Verdict::Refuted => "✗",
        Verdict::Depends => "◐",
        Verdict::Undecided => "?",
        Verdict::Identical => "=",
        Verdict::Untested => "–",
    }
}

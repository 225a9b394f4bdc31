//! The report at the end of a run: the answer, and one screen of what it rests on. Everything else
//! is in the whole report.

use std::fmt::Write;

use ssdlab_advice::{Analysis, Judgement, Verdict, Warning, are_by_construction};
use ssdlab_plan::Schedule;

use super::answer::{answer, capitalised, verdicts};
use super::answering::{amount, of_which};
use super::claims::{ReportedClaim, advice, claims, varied};
use super::compared::ComparedTreatments;
use super::evidence::{self, why_open};
use super::grid::ReportTable;
use super::table::{TableLayout, places};
use super::text::{INDENT, main_heading, ranking_heading, verdict, write_setting};
use super::words::{Style, counted, plain, wrapped, written};
use super::{bars, cuts};

/// The maximum numbers of claims, settings, and rows of a table.
const MOST_CLAIMS: usize = 7;
const MOST_SETTINGS: usize = 3;
const MOST_ROWS: usize = 8;

/// The number of lines that a claim should fit into, with one more if it has no verdict, and the
/// fewest words that remain of it.
const MOST_LINES: usize = 2;
const FEWEST_WORDS: usize = 8;

/// The report of a run for a screen.
#[must_use]
pub fn brief(schedule: &Schedule, analysis: &Analysis, style: Style) -> String {
    written(|out| {
        write_head(out, schedule, analysis, style)?;
        write_claims(out, schedule, analysis, style)?;
        write_settings(out, analysis, style)?;
        write_evidence(out, schedule, analysis, style)?;
        write_caveat(out, analysis, style)
    })
}

/// The answer, and where and on what it was measured.
fn write_head(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    writeln!(out, "{}", wrapped("", &analysis.question, "", style))?;
    writeln!(out, "{}", wrapped("", &answer(schedule, analysis).sentence, "", style))?;
    write_setting(out, schedule, analysis, style)
}

/// The claims: those that answer the question, then others, in the order of the plan.
fn write_claims(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let Some(summary) = verdicts(analysis) else { return Ok(()) };
    writeln!(out, "\n{}", wrapped("", &capitalised(&summary), "", style))?;
    let answers = |claim: &ReportedClaim<'_>| {
        claim.cases.iter().any(|case| schedule.answer.contains(&case.judgement.claim.id))
    };
    let claims = claims(schedule, analysis);
    let mut others = MOST_CLAIMS.saturating_sub(claims.iter().filter(|c| answers(c)).count());
    let mut left_out = 0;
    let are_all_by_construction = are_by_construction(&analysis.claims);
    for claim in &claims {
        if !answers(claim) {
            if others == 0 {
                left_out += 1;
                continue;
            }
            others -= 1;
        }
        writeln!(out, "{}", shown(claim, !are_all_by_construction, style))?;
    }
    write_left_out(out, left_out, "more claim")
}

/// A claim with its verdict and its number, which is never left out. Why there is no verdict is
/// left out before words of the claim are.
fn shown(claim: &ReportedClaim<'_>, says_construction: bool, style: Style) -> String {
    let judgements: Vec<&Judgement> = claim.cases.iter().map(|case| case.judgement).collect();
    let (first, number, mut why) = match &judgements[..] {
        [only] => (verdict(only.outcome.verdict(), style), evidence::amount(only), why_open(only)),
        all => {
            let cases = counted(all.len(), "case");
            (format!("{cases:width$}", width = INDENT.len()), Some(by_verdict(all)), None)
        }
    };
    let is_said = says_construction && are_by_construction(judgements);
    let construction = is_said.then_some("by construction");
    let most_lines = if why.is_some() { MOST_LINES + 1 } else { MOST_LINES };
    let mut words: Vec<&str> = claim.says.split_whitespace().collect();
    let mut end = ":";
    loop {
        let found = [number.as_deref(), why.as_deref(), construction].into_iter().flatten();
        let found = found.collect::<Vec<_>>().join("; ");
        let text = wrapped(&first, &format!("{}{end} {found}", words.join(" ")), INDENT, style);
        if text.lines().count() <= most_lines {
            return text;
        }
        if number.is_some() && why.take().is_some() {
            continue;
        }
        if words.len() <= FEWEST_WORDS {
            return text;
        }
        words.pop();
        end = " ...:";
    }
}

/// The cases of a claim by their verdicts, each with the range of its numbers.
fn by_verdict(cases: &[&Judgement]) -> String {
    let varied = varied(cases);
    let of = |verdict: Verdict| {
        let cases: Vec<&Judgement> =
            cases.iter().copied().filter(|case| case.outcome.verdict() == verdict).collect();
        let (known, unknown): (Vec<&Judgement>, Vec<&Judgement>) =
            cases.iter().partition(|case| case.outcome.ratio().is_some());
        let nothing = unknown.iter().find_map(|case| evidence::found(case));
        let amount = match (cases.is_empty(), known.is_empty(), unknown.first()) {
            (true, ..) => return None,
            (_, true, Some(case)) => nothing.or_else(|| why_open(case)).unwrap_or_default(),
            _ => amount(&known),
        };
        Some(format!("{verdict}{}, {amount}", of_which(&cases, &varied)))
    };
    Verdict::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// What follows from the claims.
fn write_settings(out: &mut String, analysis: &Analysis, style: Style) -> std::fmt::Result {
    if analysis.settings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat follows")?;
    for setting in analysis.settings.iter().take(MOST_SETTINGS) {
        writeln!(out, "{}", wrapped("- ", &advice(setting), "  ", style))?;
    }
    write_left_out(out, analysis.settings.len().saturating_sub(MOST_SETTINGS), "more setting")
}

/// The results of power cuts, the last ranking, bars, or a table: what the answer rests on. Several
/// metrics are in the table, which then follows a ranking.
fn write_evidence(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let compared = ComparedTreatments::of_answer(schedule, analysis);
    if let Some(table) = cuts::brief_table(analysis, &compared) {
        let heading = format!("{}{}", cuts::BRIEF_HEADING, compared.context());
        writeln!(out, "\n{}", wrapped("", &heading, "", style))?;
        let cut = analysis.treatments.iter().filter(|treatment| treatment.cuts.is_some()).count();
        let others = cut - table.rows.len();
        write_rows(out, table, style)?;
        if others > 0 {
            let others = counted(others, "treatment");
            writeln!(out, "... and {others} that the answer does not compare")?;
        }
        let reproducers = cuts::reproducers(schedule, analysis);
        let Some((_, command)) = reproducers.first() else { return Ok(()) };
        // Not wrapped, so that the command can be copied.
        return writeln!(out, "To repeat one finding:\n    {}", plain(command));
    }
    if let Some(ranking) = analysis.rankings.last() {
        writeln!(out, "\n{}", wrapped("", &ranking_heading(ranking), "", style))?;
        write_rows(out, places(schedule, ranking), style)?;
        if schedule.beside.is_empty() {
            return Ok(());
        }
    }
    let bars = bars::brief(schedule, &compared, style);
    if let Some((metric, bars)) = bars.filter(|_| schedule.beside.is_empty()) {
        let heading = format!("{}{}", bars::heading(metric, analysis), compared.context());
        return writeln!(out, "\n{}\n{bars}", wrapped("", &heading, "", style));
    }
    writeln!(out, "\n{}", wrapped("", &main_heading(schedule, analysis), "", style))?;
    let layout = TableLayout::answering(schedule, analysis, &compared);
    layout.main_table(style).into_iter().try_for_each(|table| write_rows(out, table, style))
}

/// The first rows of a table.
fn write_rows(out: &mut String, mut table: ReportTable, style: Style) -> std::fmt::Result {
    let left_out = table.rows.len().saturating_sub(MOST_ROWS);
    table.rows.truncate(MOST_ROWS);
    writeln!(out, "{}", table.text(style))?;
    write_left_out(out, left_out, "more row")
}

fn write_left_out(out: &mut String, number: usize, what: &str) -> std::fmt::Result {
    if number == 0 { Ok(()) } else { writeln!(out, "... and {}", counted(number, what)) }
}

/// What limits every number of the run, in a sentence, and how many other caveats there are.
/// Treatments that failed are named: no table need have them. So are caches that were cut, which
/// decides verdicts.
fn write_caveat(out: &mut String, analysis: &Analysis, style: Style) -> std::fmt::Result {
    let (failures, others): (Vec<_>, Vec<_>) = analysis.warnings.iter().partition(|warned| {
        matches!(warned.warning, Warning::Trials { .. } | Warning::CutCache { .. })
    });
    writeln!(out)?;
    for failure in &failures {
        writeln!(out, "{}", wrapped("- ", &failure.says, "  ", style))?;
    }
    let Some((first, others)) = others.split_first() else { return Ok(()) };
    let sentence = first.says.split_once(". ").map_or(&*first.says, |(sentence, _)| sentence);
    let more = match others.len() {
        0 => String::new(),
        number => format!(" ({})", counted(number, "more caveat")),
    };
    writeln!(out, "{}", wrapped("Caveat: ", &format!("{sentence}{more}"), "", style))
}

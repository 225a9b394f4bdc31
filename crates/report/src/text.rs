//! The report on a terminal: the table, then each claim, then the setting that follows.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::iter;

use ssdlab_advice::{Analysis, StepRanking, TreatmentResult, TreatmentStatus, Verdict};
use ssdlab_plan::metric::Source;
use ssdlab_plan::{Bytes, Factor, LabKind, Origin, Schedule};
use ssdlab_quantity::listed;
use ssdlab_results::Ending;

use super::aged;
use super::answer::answer;
use super::bars;
use super::claims::{ReportedClaim, advice, claims};
use super::cuts;
use super::features::{self, features};
use super::grid::ReportTable;
use super::hosts;
use super::number;
use super::prediction;
use super::programs;
use super::table::{TableLayout, beside};
use super::words::{Style, argument, counted, plain, wrapped, written};

/// The indent of lines below a verdict.
pub(super) const INDENT: &str = "          ";

/// The heading of tables that show what reached the device.
const BYTES: &str = "bytes written / write requests, until the device was quiet";

/// The whole report of a run.
pub fn text(schedule: &Schedule, analysis: &Analysis, style: Style) -> String {
    written(|out| {
        write_head(out, schedule, analysis, style)?;
        write_claims(out, schedule, analysis, style)?;
        write_answering_bars(out, schedule, analysis, style)?;
        write_tables(out, schedule, analysis, style)?;
        write_caveats(out, analysis, style)
    })
}

/// The answer, and where and on what it was measured.
fn write_head(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let answer = answer(schedule, analysis);
    writeln!(out, "{}", wrapped("", &analysis.question, "", style))?;
    for says in [&answer.sentence].into_iter().chain(&answer.also) {
        writeln!(out, "{}", wrapped("", says, "", style))?;
    }
    let sure = format!("{}: {}", answer.sure.name(), answer.because);
    writeln!(out, "{}", wrapped("How sure: ", &sure, "", style))?;
    write_setting(out, schedule, analysis, style)?;
    if let Some(source) = &schedule.source {
        writeln!(out, "{}", wrapped("Source: ", source, "", style))?;
    }
    Ok(())
}

/// Where, how often and on what it was measured, and what all treatments share.
pub(super) fn write_setting(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let says = format!("{}: {}", analysis.run, how(analysis));
    writeln!(out, "\n{}", wrapped("", &says, "", style))?;
    let shared = schedule.shared();
    if schedule.treatments.len() > 1 && !shared.0.is_empty() {
        writeln!(out, "{}", wrapped("All: ", &shared.to_string(), "", style))?;
    }
    if let Some(scores) = aged::layout_scores(schedule, analysis) {
        writeln!(out, "{}", wrapped("Aged: layout score ", &scores, "", style))?;
    }
    Ok(())
}

/// The metric that the answer is about, if the tables show another.
fn write_answering_bars(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let Some((metric, bars)) = bars::answering(schedule, analysis, style) else { return Ok(()) };
    writeln!(out, "\n{}\n{bars}", wrapped("", &bars::heading(metric, analysis), "", style))
}

/// The results of power cuts, if there were any.
fn write_cuts(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let Some(table) = cuts::table(schedule, analysis) else { return Ok(()) };
    writeln!(out, "\n{}\n{}", wrapped("", cuts::HEADING, "", style), table.text(style))?;
    write_reproducers(out, schedule, analysis, style)
}

/// How to repeat a finding of each treatment after power cuts, if there are any.
pub(super) fn write_reproducers(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let reproducers = cuts::reproducers(schedule, analysis);
    if !reproducers.is_empty() {
        writeln!(out, "\n{}", wrapped("", cuts::REPRODUCERS, "", style))?;
    }
    for (name, command) in reproducers {
        // Not wrapped, so that the command can be copied.
        writeln!(out, "{}\n    {}", wrapped("  ", &name, "  ", style), plain(&command))?;
    }
    Ok(())
}

fn write_main_table(
    out: &mut String,
    layout: &TableLayout<'_>,
    heading: &str,
    style: Style,
) -> std::fmt::Result {
    writeln!(out, "\n{}", wrapped("", heading, "", style))?;
    writeln!(out, "{}", drawn(&layout.main_table(style), style))
}

fn write_rankings(out: &mut String, layout: &TableLayout<'_>, style: Style) -> std::fmt::Result {
    for (ranking, table) in layout.rankings() {
        let says = wrapped("", &ranking_heading(ranking), "", style);
        writeln!(out, "\n{says}\n{}", table.text(style))?;
    }
    Ok(())
}

fn drawn(tables: &[ReportTable], style: Style) -> String {
    tables.iter().map(|table| table.text(style)).collect::<Vec<_>>().join("\n")
}

/// The tables and charts of a run.
pub fn tables(schedule: &Schedule, analysis: &Analysis, style: Style) -> String {
    written(|out| {
        writeln!(out, "{}", wrapped("", &analysis.question, "", style))?;
        write_answering_bars(out, schedule, analysis, style)?;
        write_tables(out, schedule, analysis, style)
    })
}

/// Every table, chart and list.
fn write_tables(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    let layout = TableLayout::new(schedule, analysis);
    write_cuts(out, schedule, analysis, style)?;
    write_main_table(out, &layout, &main_heading(schedule, analysis), style)?;
    if let Some(bars) = bars::bars(schedule, analysis, style) {
        writeln!(out, "\n{bars}")?;
    }
    write_rankings(out, &layout, style)?;
    if has_device(analysis) && !shows_bytes(analysis) {
        writeln!(out, "\n{}", wrapped("", &format!("{BYTES}: mean"), "", style))?;
        writeln!(out, "{}", drawn(&layout.device_table(style), style))?;
    }
    let programs = programs::tables(schedule, analysis, style);
    if !programs.is_empty() {
        writeln!(out, "\n{}", wrapped("", programs::HEADING, "", style))?;
        writeln!(out, "{}", drawn(&programs, style))?;
    }
    if let Some(table) = prediction::table(schedule, analysis) {
        writeln!(out, "\n{}\n{}", prediction::HEADING, table.text(style))?;
    }
    // Features of filesystems belong next to their speed.
    let compared = features::compared(schedule, analysis);
    if !compared.is_empty() {
        writeln!(out, "\nWhat the filesystems can\n{}", features(&compared, style))?;
    }
    if !analysis.by_host.is_empty() {
        writeln!(out, "\nBy host")?;
    }
    for (heading, tables) in hosts::tables(schedule, analysis, style, &number::effect) {
        writeln!(out, "{}\n{}", wrapped("", &heading, "", style), drawn(&tables, style))?;
    }
    for says in hosts::sentences(schedule, analysis, &number::effect) {
        writeln!(out, "{}", wrapped("- ", &says, "  ", style))?;
    }
    Ok(())
}

/// Every caveat: what limits the results.
fn write_caveats(out: &mut String, analysis: &Analysis, style: Style) -> std::fmt::Result {
    writeln!(out, "\nCaveats")?;
    for warned in &analysis.warnings {
        writeln!(out, "{}", wrapped("- ", &warned.says, "  ", style))?;
    }
    Ok(())
}

/// The claims, and what follows from them.
fn write_claims(
    out: &mut String,
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> std::fmt::Result {
    if !analysis.claims.is_empty() {
        writeln!(out, "\nClaims")?;
    }
    for claim in claims(schedule, analysis) {
        write_claim(out, &claim, style)?;
    }
    if !analysis.settings.is_empty() {
        writeln!(out, "\nWhat follows")?;
    }
    for setting in &analysis.settings {
        writeln!(out, "{}", wrapped("- ", &advice(setting), "  ", style))?;
    }
    Ok(())
}

/// Where, on what and how often a run's trials ran, and whether it is complete.
pub fn how(analysis: &Analysis) -> String {
    let ended = analysis.seed.map_or(String::new(), |_| ended(analysis));
    format!("{}{ended}", so_far(analysis))
}

/// Where, on what and how often it ran so far.
pub(super) fn so_far(analysis: &Analysis) -> String {
    let trials = trials(analysis);
    match analysis.seed {
        Some(seed) => {
            let (lab, drive, size) = (analysis.lab, drive(analysis), size(analysis));
            format!("{lab} lab{drive}, {trials} a treatment, seed {seed}{size}")
        }
        None => format!("imported, {trials} a treatment"),
    }
}

/// How many trials the treatments have that could run at all.
fn trials(analysis: &Analysis) -> String {
    let ran = analysis.treatments.iter().filter(|own| own.status != TreatmentStatus::Unavailable);
    let counts: BTreeSet<usize> = ran.map(|own| own.trials.len()).filter(|n| *n > 0).collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} trials"),
        (_, most) => counted(most.copied().unwrap_or(0), "trial"),
    }
}

/// The drive and the host of all trials, unless they are among the levels that reports name.
fn drive(analysis: &Analysis) -> String {
    let mut says = String::new();
    for factor in [Factor::Drive, Factor::Host] {
        let is_level = |own: &TreatmentResult| own.levels.0.contains_key(&factor);
        let is_named = analysis.treatments.len() > 1 && analysis.treatments.iter().all(is_level);
        if let Some(name) = analysis.applied.get(factor.name()).filter(|_| !is_named) {
            let _ = write!(says, ", {factor} {name}");
        }
    }
    if let Some(models) = analysis.environment.get("drive_model") {
        let models: Vec<&str> = models.iter().map(String::as_str).collect();
        let _ = write!(says, ", drive {}", models.join(" and "));
    }
    says
}

/// The scale of the workload, the capacity, and the drives' condition.
fn size(analysis: &Analysis) -> String {
    let mut size = format!(", scale {}", analysis.scale);
    let capacities = capacities(analysis);
    for (what, values) in [("capacity", &capacities), ("condition", &analysis.conditions)] {
        if !values.is_empty() {
            let _ = write!(size, ", {what} {}", listed(values));
        }
    }
    size
}

/// The capacities of the drives; where they differ, each with the drives that have it.
fn capacities(analysis: &Analysis) -> Vec<String> {
    let shown = |bytes: &u64| Bytes(*bytes).to_string();
    let mut capacities: Vec<String> = analysis.capacities_bytes.iter().map(shown).collect();
    capacities.dedup();
    if capacities.len() < 2 {
        return capacities;
    }
    let with_drives = |capacity: String| {
        let drives = analysis.capacities_of_drives.iter();
        let drives = drives.filter(|(_, own)| own.iter().any(|bytes| shown(bytes) == capacity));
        let drives: Vec<String> = drives.map(|(drive, _)| drive.clone()).collect();
        if drives.is_empty() { capacity } else { format!("{capacity} ({})", listed(&drives)) }
    };
    capacities.into_iter().map(with_drives).collect()
}

/// The heading of the main table.
pub(super) fn main_heading(schedule: &Schedule, analysis: &Analysis) -> String {
    let metric = if shows_bytes(analysis) { BYTES } else { analysis.metric.name };
    let metrics = iter::once(metric).chain(schedule.beside.iter().map(|metric| metric.name));
    let metric = metrics.collect::<Vec<_>>().join(", below it ");
    let beside = beside(analysis).map_or(String::new(), |beside| format!(" ({beside})"));
    let rates = if analysis.metric.source == Source::Time && writes(analysis) {
        "; MB/s: what was written since the last sync, over the time since it"
    } else {
        ""
    };
    if analysis.plausible_drives > 0 {
        return format!(
            "{metric}{beside} on the published drive{rates}; ratio to the baseline, in brackets \
             its range with {}",
            counted(analysis.plausible_drives, "plausible drive")
        );
    }
    let is_compared = analysis.effects.iter().any(|effect| effect.metric == analysis.metric);
    let ratios = match analysis.lab {
        _ if !is_compared => "",
        Origin::Imported => "; ratio to the baseline: of geometric means with its 95 % interval",
        Origin::Lab(LabKind::Live) => {
            "; ratio to the baseline: of the totals with its 95 % interval"
        }
        Origin::Lab(_) => {
            "; ratio to the baseline: geometric mean over blocks with its 95 % interval"
        }
    };
    format!("{metric}{beside}: arithmetic mean{rates}{ratios}")
}

/// What the letters of a ranking say. A claim about one pair can hold where they do not tell it
/// apart.
pub(super) const LETTERS: &str = "treatments with a letter in common cannot be told apart \
                                  (corrected over all pairs, so stricter than a claim about one)";

pub(super) fn ranking_heading(ranking: &StepRanking) -> String {
    let step = ranking.step.as_ref().map_or("Ranking".to_owned(), |name| format!("Step {name}"));
    let phases = counted(ranking.phases.len(), "phase");
    format!("{step}: by {} over {phases}; {LETTERS}", ranking.metric)
}

fn shows_bytes(analysis: &Analysis) -> bool {
    analysis.metric.source == Source::WrittenBytes
}

/// Whether any phase wrote, as the workload itself counts.
fn writes(analysis: &Analysis) -> bool {
    let mut phases = analysis.treatments.iter().flat_map(|treatment| &treatment.summary);
    let written = Source::ApplicationBytes.into();
    phases.any(|phase| phase.metrics.get(&written).is_some_and(|own| own.max > 0.0))
}

fn has_device(analysis: &Analysis) -> bool {
    let mut phases = analysis.treatments.iter().flat_map(|treatment| &treatment.summary);
    phases.any(|phase| phase.metrics.contains_key(&Source::WrittenBytes.into()))
}

fn write_claim(out: &mut String, claim: &ReportedClaim<'_>, style: Style) -> std::fmt::Result {
    let mut line =
        |first: &str, says: &str| writeln!(out, "{}", wrapped(first, says, INDENT, style));
    let is_one = claim.cases.len() == 1;
    if !is_one {
        let cases = counted(claim.cases.len(), "case");
        line(&format!("{cases:width$}", width = INDENT.len()), claim.says)?;
    }
    for says in &claim.shared {
        line(INDENT, says)?;
    }
    for case in &claim.cases {
        let verdict = verdict(case.judgement.outcome.verdict(), style);
        if is_one {
            line(&verdict, claim.says)?;
            line(INDENT, &case.sides)?;
            line(INDENT, &case.evidence)?;
        } else {
            line(&verdict, &case.line())?;
        }
        if let Some(reason) = &case.reason {
            line(INDENT, reason)?;
        }
    }
    Ok(())
}

/// A verdict, padded to the width of the indent.
pub(super) fn verdict(verdict: Verdict, style: Style) -> String {
    let colour = match verdict {
        Verdict::Holds => 32,
        Verdict::Refuted => 31,
        Verdict::Depends | Verdict::Undecided | Verdict::Identical | Verdict::Untested => 33,
    };
    let verdict = verdict.to_string();
    let padding = " ".repeat(INDENT.len() - verdict.len());
    if style.is_coloured {
        format!("\x1b[1;{colour}m{verdict}\x1b[0m{padding}")
    } else {
        format!("{verdict}{padding}")
    }
}

/// Why a run ended, unless all of its blocks ran.
fn ended(analysis: &Analysis) -> String {
    match analysis.ending {
        Ending::Precise if analysis.lab == Origin::Lab(LabKind::Live) => {
            "; stopped as every claim was decided".to_owned()
        }
        Ending::Precise => "; stopped when precise enough".to_owned(),
        Ending::AllBlocks => String::new(),
        Ending::TimeSpent => "; stopped when its time was spent".to_owned(),
        Ending::BytesSpent => "; stopped when its bytes were written".to_owned(),
        Ending::NothingRuns => "; nothing could run here".to_owned(),
        Ending::NothingToCompare => "; stopped, as only one treatment can run here".to_owned(),
        Ending::Interrupted => {
            let run = argument(analysis);
            format!("; interrupted, so partial: `ssdlab run --resume {run}` continues it")
        }
    }
}

//! Bar charts of means for a terminal: Unicode block elements, no colours.

use std::fmt::Write;

use ssdlab_advice::{Analysis, TreatmentResult};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{LabKind, Origin, Schedule};
use textwrap::core::display_width;

use super::compared::ComparedTreatments;
use super::grid::FILE_WIDTH;
use super::levels::label;
use super::nouns;
use super::number;
use super::table::{mean, total};
use super::words::{Style, plain, written};

/// The maximum number of lines; results with more need a chart. Next to an answer, fewer fit.
const MOST_LINES: usize = 48;
const MOST_LINES_OF_ANSWER: usize = 24;

/// The length of the longest bar, in columns, and the least that is readable.
const LONGEST: usize = 48;
const SHORTEST: usize = 8;

/// A bar's end, in eighths of a column.
const ENDS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The start of each line.
const INDENT: &str = "  ";

/// What the bars of a metric show, beside the numbers of claims.
pub(super) fn heading(metric: Metric, analysis: &Analysis) -> String {
    if analysis.plausible_drives > 0 {
        return format!("{metric}, on the published drive");
    }
    let of_claims = match analysis.lab {
        Origin::Lab(LabKind::Live) => "ratio of the totals",
        _ => "geometric mean over blocks",
    };
    format!("{metric}, arithmetic mean (claims: {of_claims})")
}

/// A bar of the plan's metric for each treatment in each phase, all from 0; `None` if there are too
/// many or too few of them, or no room.
pub(super) fn bars(schedule: &Schedule, analysis: &Analysis, style: Style) -> Option<String> {
    let (metric, phases) = (analysis.metric, schedule.phase_names());
    of_phases(&named(schedule, analysis), (metric, &phases), MOST_LINES, style)
}

/// A treatment with its name.
type Named<'a> = (&'a TreatmentResult, String);

fn named<'a>(schedule: &Schedule, analysis: &'a Analysis) -> Vec<Named<'a>> {
    let named =
        |treatment: &'a TreatmentResult| (treatment, plain(&label(schedule, &treatment.levels)));
    analysis.treatments.iter().map(named).collect()
}

/// The metric of the claim that answers the question, and bars of it in the claim's phases; `None`
/// if that is the plan's metric.
pub(super) fn answering(
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
) -> Option<(Metric, String)> {
    let claim = schedule.answering_claim().filter(|claim| claim.metric != analysis.metric)?;
    let phases = claim.all_phases();
    let quantity = (claim.metric, &*phases);
    let bars = of_phases(&named(schedule, analysis), quantity, MOST_LINES_OF_ANSWER, style)?;
    Some((claim.metric, bars))
}

/// What the claims that decide compare, as bars of at most so many lines; `None` if they do not
/// fit, or compare nothing.
pub(super) fn of_answer(
    schedule: &Schedule,
    analysis: &Analysis,
    room: usize,
    style: Style,
) -> Option<String> {
    let compared = ComparedTreatments::of_answer(schedule, analysis);
    let first = schedule.answering_claim()?;
    let decides = &schedule.answer.decides;
    let deciding = schedule.claims.iter().filter(|claim| decides.contains(&claim.id));
    let mut groups: Vec<&[String]> = Vec::new();
    for claim in deciding.filter(|claim| claim.metric == first.metric) {
        for phases in [&claim.phases[..], claim.other_phases()] {
            if !groups.contains(&phases) {
                groups.push(phases);
            }
        }
    }
    let bars_of = |phases: &&[String]| {
        let bars = compared.treatments.iter().filter_map(|own| {
            let value = total(analysis, &own.levels, phases, first.metric)?;
            let says = number::spoken(first.metric.unit, value);
            let (phase, name) = (nouns::phases(phases), compared.name(own));
            value.is_finite().then_some(Bar { phase, name, value, says })
        });
        bars.collect::<Vec<Bar>>()
    };
    let mut groups: Vec<Vec<Bar>> =
        groups.iter().map(bars_of).filter(|bars| !bars.is_empty()).collect();
    if groups.len() > 1 && groups.iter().all(|bars| bars.len() == 1) {
        // Where one treatment is shown, its phases are what is compared.
        let named = |bar: Bar| Bar { name: bar.phase.clone(), ..bar };
        groups = vec![groups.into_iter().flatten().map(named).collect()];
    }
    // One group needs no name of its phases, as the answer has it.
    let names = usize::from(groups.len() > 1);
    let lines = |group: &Vec<Bar>| group.len() + names;
    let mut left = room;
    let fit = groups.iter().take_while(|group| {
        let fits = lines(group) <= left;
        left = left.saturating_sub(lines(group));
        fits
    });
    let fit: Vec<&Vec<Bar>> = fit.collect();
    let all = || fit.iter().copied().flatten();
    let columns = BarColumns::of(&all(), style)?;
    // A bar alone compares nothing.
    if all().count() < 2 {
        return None;
    }
    let most = all().map(|bar| bar.value).fold(0.0, f64::max);
    let text = written(|out| {
        for group in &fit {
            if names > 0 {
                writeln!(out, "{INDENT}{}", group[0].phase)?;
            }
            group.iter().try_for_each(|bar| write_bar(out, bar, most, &columns))?;
        }
        Ok(())
    });
    Some(text.trim_end().to_owned())
}

fn of_phases(
    treatments: &[Named<'_>],
    (metric, phases): (Metric, &[String]),
    most_lines: usize,
    style: Style,
) -> Option<String> {
    let phases: Vec<Vec<Bar>> = phases
        .iter()
        .map(|phase| of_phase(treatments, metric, phase))
        .filter(|bars| bars.len() > 1)
        .collect();
    let lines_of = |bars: &Vec<Bar>| if are_equal(bars) { 1 } else { bars.len() + 1 };
    let lines: usize = phases.iter().map(lines_of).sum();
    let columns = BarColumns::of(&phases.iter().flatten(), style)?;
    if lines > most_lines {
        return None;
    }
    let text = written(|out| phases.iter().try_for_each(|bars| write_phase(out, bars, &columns)));
    Some(text.trim_end().to_owned())
}

/// A treatment in a phase.
struct Bar {
    phase: String,
    name: String,
    value: f64,
    /// The value, written out.
    says: String,
}

/// The widths of names, of values, and of the longest bar.
struct BarColumns {
    names: usize,
    values: usize,
    longest: usize,
}

impl BarColumns {
    /// `None` without bars, or without room for them.
    fn of<'a>(bars: &(impl Iterator<Item = &'a Bar> + Clone), style: Style) -> Option<Self> {
        let width_of = |of: fn(&Bar) -> &str| bars.clone().map(|bar| display_width(of(bar))).max();
        let (names, values) = (width_of(|bar| &bar.name)?, width_of(|bar| &bar.says)?);
        let width = usize::from(style.width.unwrap_or(FILE_WIDTH));
        let longest = width.saturating_sub(INDENT.len() + names + values + 2).min(LONGEST);
        (longest >= SHORTEST).then_some(Self { names, values, longest })
    }
}

/// Whether readers see no difference, so that one line says it all.
fn are_equal(bars: &[Bar]) -> bool {
    bars.iter().all(|bar| bar.says == bars[0].says)
}

fn of_phase(treatments: &[Named<'_>], metric: Metric, phase: &str) -> Vec<Bar> {
    let bars = treatments.iter().filter_map(|(treatment, name)| {
        let value = mean(treatment, phase, metric)?;
        let name = name.clone();
        let says = number::value(metric, value);
        value.is_finite().then(|| Bar { phase: plain(phase), name, value, says })
    });
    bars.collect()
}

fn write_phase(out: &mut String, bars: &[Bar], columns: &BarColumns) -> std::fmt::Result {
    if are_equal(bars) {
        return writeln!(out, "{}: {} each", bars[0].phase, bars[0].says);
    }
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    writeln!(out, "{}", bars[0].phase)?;
    bars.iter().try_for_each(|bar| write_bar(out, bar, most, columns))
}

/// A bar beside its name and value, which are padded to the widths of their columns.
fn write_bar(
    out: &mut String,
    Bar { name, value, says, .. }: &Bar,
    most: f64,
    columns: &BarColumns,
) -> std::fmt::Result {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let drawn = drawn(share, columns.longest);
    let names = columns.names - display_width(name);
    let values = columns.values - display_width(says);
    writeln!(out, "{INDENT}{name}{:names$} {:values$}{says} {drawn}", "", "")
}

/// A bar that takes a share of the room; a share above 0 is always visible.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is 0 to 1")]
fn drawn(share: f64, room: usize) -> String {
    let eighths = (share * room as f64 * 8.0).round().max(f64::from(share > 0.0)) as usize;
    "█".repeat(eighths / 8) + ENDS[eighths % 8]
}

#[cfg(test)]
mod tests;

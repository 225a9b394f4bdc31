//! Bar charts of means for a terminal: Unicode block elements, no colours.

use std::fmt::Write;

use ssdlab_advice::{Analysis, Judgement, TreatmentResult};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Answer, LabKind, Origin, Schedule};
use textwrap::core::display_width;

use super::answer::facts;
use super::answer::ranking::{self, ValueGroup};
use super::compared::ComparedTreatments;
use super::grid::FILE_WIDTH;
use super::levels::label;
use super::nouns::{self, capitalised, noun, uncounted};
use super::number;
use super::table::{mean, total};
use super::words::{Style, plain, wrapped, written};

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

/// What the answer rests on, as bars of at most so many lines below a line that says what they
/// show, if it fits: what the plan wants to be shown, or else what decides. `None` if neither fits,
/// or compares anything.
pub(super) fn of_answer(
    schedule: &Schedule,
    analysis: &Analysis,
    room: usize,
    style: Style,
) -> Option<String> {
    let ranks = !schedule.is_asked_for && schedule.answer.names_best();
    if let Some(ranked) = ranks.then(|| ranked(schedule, analysis, room)).flatten() {
        return drawn_in(room, ranked, style);
    }
    let Answer { decides, .. } = &schedule.answer;
    let drawn = |charted: &[String]| drawn_in(room, decisive(schedule, analysis, charted)?, style);
    drawn(schedule.answer.charted()).or_else(|| drawn(decides))
}

/// Figures as bars of at most so many lines.
fn drawn_in(room: usize, figures: Figures, style: Style) -> Option<String> {
    let Figures { caption, groups, says } = figures;
    let group = |(heading, values): ValueGroup| {
        let bar = |(name, value)| Bar { name, value, says: says(value) };
        BarGroup { heading, bars: values.into_iter().map(bar).collect() }
    };
    let groups: Vec<BarGroup> = groups.into_iter().map(group).collect();
    // One group is named by the caption.
    let headings = usize::from(groups.len() > 1);
    let lines = |group: &BarGroup| group.bars.len() + headings;
    let caption = wrapped(INDENT, &capitalised(&caption), INDENT, style) + "\n";
    let above = caption.lines().count();
    let is_captioned = groups.first().is_some_and(|group| lines(group) + above <= room);
    let mut left = if is_captioned { room - above } else { room };
    let fit = groups.iter().take_while(|group| {
        let fits = lines(group) <= left;
        left = left.saturating_sub(lines(group));
        fits
    });
    let fit: Vec<&BarGroup> = fit.collect();
    let all = || fit.iter().flat_map(|group| &group.bars);
    let columns = BarColumns::of(&all(), style)?;
    // A bar alone compares nothing.
    if all().count() < 2 {
        return None;
    }
    let most = all().map(|bar| bar.value).fold(0.0, f64::max);
    let text = written(|out| {
        if is_captioned {
            out.write_str(&caption)?;
        }
        for group in &fit {
            if headings > 0 {
                writeln!(out, "{INDENT}{}", group.heading)?;
            }
            group.bars.iter().try_for_each(|bar| write_bar(out, bar, most, &columns))?;
        }
        Ok(())
    });
    Some(text.trim_end().to_owned())
}

/// What bars show: values in groups, and how they are written.
struct Figures {
    caption: String,
    groups: Vec<ValueGroup>,
    says: Box<dyn Fn(f64) -> String>,
}

/// The last ranking; of each group as many of the first as fit.
fn ranked(schedule: &Schedule, analysis: &Analysis, room: usize) -> Option<Figures> {
    let caption = format!("{}, relative to the best", uncounted(&ranking::measure(analysis)?));
    let groups = ranking::ranked(schedule, analysis);
    // Of more groups than there is room for, the first are shown.
    let each = room.saturating_sub(1) / groups.len().max(1);
    let most = each.saturating_sub(usize::from(groups.len() > 1)).max(3);
    let first = |(heading, places): ValueGroup| (heading, places.into_iter().take(most).collect());
    let groups = groups.into_iter().map(first).collect();
    Some(Figures { caption, groups, says: Box::new(number::spoken_ratio) })
}

/// What some claims compare.
fn decisive(schedule: &Schedule, analysis: &Analysis, charted: &[String]) -> Option<Figures> {
    let compared = ComparedTreatments::of_answer(schedule, analysis, charted);
    let metric = schedule.answering_claim()?.metric;
    let Answer { labels, .. } = &schedule.answer;
    let claims = schedule.claims.iter().filter(|own| charted.contains(&own.id));
    let mut all_phases: Vec<&[String]> = Vec::new();
    for claim in claims.filter(|claim| claim.metric == metric) {
        for phases in [&claim.phases[..], claim.other_phases()] {
            if !all_phases.contains(&phases) {
                all_phases.push(phases);
            }
        }
    }
    let of = |phases: &[String]| -> ValueGroup {
        let values = compared.treatments.iter().filter_map(|own| {
            let is_own = |judged: &&Judgement| {
                let claim = &judged.claim;
                (claim.metric, &*claim.phases) == (metric, phases)
                    && judged.levels.as_ref() == Some(&own.levels)
            };
            // Of power cuts only claims have numbers.
            let judged = || facts::own(analysis, analysis.claims.iter().find(is_own)?);
            let value = total(analysis, &own.levels, phases, metric).or_else(judged)?;
            value.is_finite().then(|| (compared.name(own), value))
        });
        let phases = phases.iter().map(|phase| labels.get(phase).unwrap_or(phase).clone());
        (plain(&nouns::phases(&phases.collect::<Vec<_>>())), values.collect())
    };
    let groups = all_phases.into_iter().map(of);
    let mut groups: Vec<ValueGroup> = groups.filter(|(_, values)| !values.is_empty()).collect();
    let values = groups.iter().flat_map(|(_, values)| values).map(|(_, value)| *value);
    let values: Vec<f64> = values.collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let is_shown = |judged: &&Judgement| {
        let claim = &judged.claim;
        claim.metric == metric && charted.contains(&claim.id)
    };
    let of_ratios = analysis.claims.iter().filter(is_shown);
    let of_ratios = of_ratios.map(|judged| facts::digits(analysis, judged));
    let digits = of_ratios.fold(distinct_digits(&values), i32::max);
    let what = labels.get(metric.name).cloned().unwrap_or_else(|| uncounted(&noun(metric)));
    let caption = match &groups[..] {
        [(phases, _)] => format!("{what}, {phases}"),
        _ => what,
    };
    if groups.len() > 1 && groups.iter().all(|(_, values)| values.len() == 1) {
        // Where one treatment is shown, its phases are what is compared.
        let values = groups.into_iter().map(|(phases, values)| (phases, values[0].1));
        groups = vec![(String::new(), values.collect())];
    }
    let says = Box::new(move |value| number::spoken_beside(most, digits, metric.unit, value));
    Some(Figures { caption, groups, says })
}

/// The number of significant digits with which values that differ by a few percent do so for
/// readers, too.
fn distinct_digits(values: &[f64]) -> i32 {
    let differ_little = |a: f64, b: f64| a < b && (1.005..1.1).contains(&(b / a));
    let is_close = values.iter().any(|a| values.iter().any(|b| differ_little(*a, *b)));
    if is_close { 3 } else { 2 }
}

fn of_phases(
    treatments: &[Named<'_>],
    (metric, phases): (Metric, &[String]),
    most_lines: usize,
    style: Style,
) -> Option<String> {
    let phases: Vec<BarGroup> = phases
        .iter()
        .map(|phase| of_phase(treatments, metric, phase))
        .filter(|group| group.bars.len() > 1)
        .collect();
    let lines_of =
        |BarGroup { bars, .. }: &BarGroup| if are_equal(bars) { 1 } else { bars.len() + 1 };
    let lines: usize = phases.iter().map(lines_of).sum();
    let columns = BarColumns::of(&phases.iter().flat_map(|group| &group.bars), style)?;
    if lines > most_lines {
        return None;
    }
    let text = written(|out| phases.iter().try_for_each(|group| write_phase(out, group, &columns)));
    Some(text.trim_end().to_owned())
}

/// Bars that are compared with each other.
struct BarGroup {
    heading: String,
    bars: Vec<Bar>,
}

struct Bar {
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

fn of_phase(treatments: &[Named<'_>], metric: Metric, phase: &str) -> BarGroup {
    let bars = treatments.iter().filter_map(|(treatment, name)| {
        let value = mean(treatment, phase, metric)?;
        let name = name.clone();
        let says = number::value(metric, value);
        value.is_finite().then_some(Bar { name, value, says })
    });
    BarGroup { heading: plain(phase), bars: bars.collect() }
}

fn write_phase(
    out: &mut String,
    BarGroup { heading, bars }: &BarGroup,
    columns: &BarColumns,
) -> std::fmt::Result {
    if are_equal(bars) {
        return writeln!(out, "{heading}: {} each", bars[0].says);
    }
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    writeln!(out, "{heading}")?;
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

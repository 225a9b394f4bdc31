//! Bar charts of means for a terminal: Unicode block elements, no colours.

use std::fmt::Write;

use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;
use textwrap::core::display_width;

use super::grid::FILE_WIDTH;
use super::number;
use super::table::{label, mean};
use super::text::{Style, plain};

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

/// A bar of the plan's metric for each treatment in each phase, all from 0; `None` if there are too
/// many or too few of them, or no room.
pub(super) fn bars(schedule: &Schedule, analysis: &Analysis, style: Style) -> Option<String> {
    let (metric, phases) = (&analysis.metric, schedule.phase_names());
    of_phases(schedule, analysis, (metric, &phases), MOST_LINES, style)
}

/// The metric of the claim that answers the question, and bars of it in the claim's phases; `None`
/// if that is the plan's metric.
pub(super) fn answering<'a>(
    schedule: &'a Schedule,
    analysis: &Analysis,
    style: Style,
) -> Option<(&'a str, String)> {
    let claim = schedule.answering_claim().filter(|claim| claim.metric != analysis.metric)?;
    let quantity = (claim.metric.as_str(), &*claim.phases);
    let bars = of_phases(schedule, analysis, quantity, MOST_LINES_OF_ANSWER, style)?;
    Some((&claim.metric, bars))
}

fn of_phases(
    schedule: &Schedule,
    analysis: &Analysis,
    (metric, phases): (&str, &[String]),
    most_lines: usize,
    style: Style,
) -> Option<String> {
    let phases: Vec<Vec<Bar>> = phases
        .iter()
        .map(|phase| of_phase(schedule, analysis, metric, phase))
        .filter(|bars| bars.len() > 1)
        .collect();
    let lines: usize = phases.iter().map(|bars| bars.len() + 1).sum();
    let width_of = |of: fn(&Bar) -> &str| {
        phases.iter().flatten().map(|bar| display_width(of(bar))).max().unwrap_or(0)
    };
    let (names, values) = (width_of(|bar| &bar.name), width_of(|bar| &bar.says));
    let width = usize::from(style.width.unwrap_or(FILE_WIDTH));
    let room = width.saturating_sub(INDENT.len() + names + values + 2).min(LONGEST);
    if phases.is_empty() || lines > most_lines || room < SHORTEST {
        return None;
    }
    let mut out = String::new();
    for bars in &phases {
        write_phase(&mut out, bars, [names, values], room).expect("a String takes everything");
    }
    Some(out.trim_end().to_owned())
}

/// A treatment in a phase.
struct Bar {
    phase: String,
    name: String,
    value: f64,
    /// The value, written out.
    says: String,
}

fn of_phase(schedule: &Schedule, analysis: &Analysis, metric: &str, phase: &str) -> Vec<Bar> {
    let bars = analysis.treatments.iter().filter_map(|treatment| {
        let value = mean(treatment, phase, metric)?;
        let name = plain(&label(schedule, &treatment.levels));
        let says = number::value(metric, value);
        value.is_finite().then(|| Bar { phase: plain(phase), name, value, says })
    });
    bars.collect()
}

fn write_phase(
    out: &mut String,
    bars: &[Bar],
    [names, values]: [usize; 2],
    room: usize,
) -> std::fmt::Result {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    writeln!(out, "{}", bars[0].phase)?;
    for Bar { name, value, says, .. } in bars {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        let drawn = drawn(share, room);
        let [names, values] = [names - display_width(name), values - display_width(says)];
        writeln!(out, "{INDENT}{name}{:names$} {:values$}{says} {drawn}", "", "")?;
    }
    Ok(())
}

/// A bar that takes a share of the room; a share above 0 is always visible.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is 0 to 1")]
fn drawn(share: f64, room: usize) -> String {
    let eighths = (share * room as f64 * 8.0).round().max(f64::from(share > 0.0)) as usize;
    "█".repeat(eighths / 8) + ENDS[eighths % 8]
}

#[cfg(test)]
mod tests;

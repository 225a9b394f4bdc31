//! Runs side by side: on a terminal, or as Markdown to paste.

use std::fmt::Write;

use ssdlab_advice::{
    ComparedRun, Comparison, ComparisonCell, ComparisonRow, Completeness, Difference, NEAR,
    RunRatio,
};
use ssdlab_plan::Levels;

use super::grid::{ReportTable, side_by_side};
use super::markdown::{inline, table};
use super::number;
use super::words::{Style, counted, plain, wrapped, written};

/// The width of a treatment's and a phase's name.
const LABEL_WIDTH: usize = 36;

/// A comparison for the terminal.
pub fn comparison(comparison: &Comparison, style: Style) -> String {
    let draw = |table: ReportTable| table.text(style) + "\n";
    let para = |first: &str, text: &str, indent: &str| wrapped(first, text, indent, style);
    let beside = side_by_side(style, LABEL_WIDTH).saturating_sub(1).max(1);
    written(|out| write(out, comparison, beside, draw, para))
}

pub fn comparison_markdown(comparison: &Comparison) -> String {
    let para = |first: &str, text: &str, _: &str| {
        // A paragraph of its own, unless it is an item.
        let end = if first == "- " { "" } else { "\n" };
        format!("{first}{}{end}", inline(text))
    };
    written(|out| write(out, comparison, usize::MAX, |grid| table(&grid), para))
}

/// Writes the comparison; `draw` draws a table, `para` a paragraph with the prefixes of its first
/// and its other lines.
fn write(
    out: &mut String,
    comparison: &Comparison,
    beside: usize,
    draw: impl Fn(ReportTable) -> String,
    para: impl Fn(&str, &str, &str) -> String,
) -> std::fmt::Result {
    let runs = &comparison.runs;
    writeln!(
        out,
        "{}",
        para("", &format!("{} beside each other", counted(runs.len(), "run")), "")
    )?;
    for (index, run) in runs.iter().enumerate() {
        writeln!(out, "{}", para("- ", &format!("run {}: {}", index + 1, described(run)), "  "))?;
    }
    writeln!(out)?;
    if !comparison.differences.is_empty() {
        writeln!(out, "{}", para("", "What differs between them", ""))?;
        writeln!(out, "{}", draw(differences(&comparison.differences, runs.len())))?;
    }
    let tested = match comparison.tests {
        0 => "; no ratio has an interval, so that none is tested".to_owned(),
        tests => {
            let corrected = if tests > 1 {
                format!(", corrected for {} (Holm)", counted(tests, "comparison"))
            } else {
                String::new()
            };
            format!(
                " with its 95 % interval; higher and lower are said if shown{corrected}, and \
                 within 5 % if the whole interval is"
            )
        }
    };
    let metric = comparison.metric;
    let says = format!("{metric}: arithmetic mean, and ratio to run 1 (geometric){tested}");
    writeln!(out, "{}", para("", &says, ""))?;
    let others: Vec<usize> = (1..runs.len()).collect();
    for others in others.chunks(beside.min(runs.len())) {
        writeln!(out, "{}", draw(effects(comparison, others)))?;
    }
    for unshared in &comparison.unshared {
        let having: Vec<String> = unshared.runs.iter().map(|run| (run + 1).to_string()).collect();
        let says = format!("only in run {}: {}", having.join(", "), unshared.levels);
        writeln!(out, "{}", para("- ", &says, "  "))?;
    }
    if !comparison.unshared.is_empty() {
        writeln!(out)?;
    }
    writeln!(out, "{}", para("", "Caveats", ""))?;
    for note in &comparison.notes {
        writeln!(out, "{}", para("- ", note, "  "))?;
    }
    Ok(())
}

fn described(run: &ComparedRun) -> String {
    format!(
        "{}, plan {}, {} lab, {}, {} of {} went well{}",
        run.run,
        run.plan,
        run.lab,
        if run.started_s > 0 { number::moment(run.started_s) } else { "time not said".to_owned() },
        run.trials_ok,
        counted(run.trials, "trial"),
        match run.status {
            Completeness::Complete => "",
            Completeness::Partial => ", partial",
        }
    )
}

fn numbered(runs: impl Iterator<Item = usize>) -> impl Iterator<Item = String> {
    runs.map(|run| format!("run {}", run + 1))
}

fn differences(differences: &[Difference], runs: usize) -> ReportTable {
    let header = [String::new()].into_iter().chain(numbered(0..runs)).collect();
    let value = |value: &Option<String>| plain(value.as_deref().unwrap_or("-"));
    let row = |difference: &Difference| {
        let name = plain(&difference.what);
        [name].into_iter().chain(difference.values.iter().map(value)).collect()
    };
    ReportTable { header, rows: differences.iter().map(row).collect(), numbers: usize::MAX }
}

/// A table of the first run and some others.
fn effects(comparison: &Comparison, others: &[usize]) -> ReportTable {
    let differing = |levels: &Levels| {
        levels.only(|factor| {
            let level = levels.0.get(factor);
            comparison.rows.iter().any(|row| row.levels.0.get(factor) != level)
        })
    };
    let labelled = comparison.rows.windows(2).any(|two| two[0].levels != two[1].levels);
    let header = labelled.then(|| "treatment".to_owned()).into_iter().chain(["phase".to_owned()]);
    let header = header.chain(numbered([0].into_iter().chain(others.iter().copied()))).collect();
    let mut above: Option<&Levels> = None;
    let mut rows = Vec::new();
    for row in &comparison.rows {
        let is_new = above != Some(&row.levels);
        above = Some(&row.levels);
        let name = if is_new { plain(&differing(&row.levels).to_string()) } else { String::new() };
        let of = |run: usize| cell(comparison, row, run);
        let values = [0].iter().chain(others).map(|run| of(*run));
        let labels = labelled.then_some(name).into_iter().chain([phases(row)]);
        rows.push(labels.chain(values).collect());
    }
    ReportTable { header, rows, numbers: 1 + usize::from(labelled) }
}

fn phases(row: &ComparisonRow) -> String {
    match &row.phases[..] {
        [phase] => plain(phase),
        _ => "all phases".to_owned(),
    }
}

/// The mean of a run, with its ratio to the first run's. Both means are those of the trials that
/// the ratio is of; where the first run's differ between ratios, each says its own.
fn cell(comparison: &Comparison, row: &ComparisonRow, run: usize) -> String {
    let effects = || row.cells.iter().filter_map(|cell| cell.effect.as_ref());
    let ComparisonCell { mean: Some(all), effect, .. } = &row.cells[run] else {
        return "-".to_owned();
    };
    let shown = |mean: f64| number::value(comparison.metric, mean);
    let shared = effects()
        .next()
        .map(|first| first.means[1])
        .filter(|first| effects().all(|effect| shown(effect.means[1]) == shown(*first)));
    let Some(effect) = effect else {
        return shown(shared.filter(|_| run == 0).unwrap_or(*all));
    };
    let [own, other] = effect.means.map(shown);
    let against = if shared.is_some() { String::new() } else { format!(" against {other}") };
    format!("{own}{against}\n{}", effect_of(effect))
}

fn effect_of(effect: &RunRatio) -> String {
    let found = match effect {
        RunRatio { is_different: true, ratio, .. } if *ratio > 1.0 => Some("higher"),
        RunRatio { is_different: true, .. } => Some("lower"),
        _ => None,
    };
    let near = effect.is_near.then(|| format!("within {:.0} %", NEAR * 100.0));
    let words: Vec<&str> = found.into_iter().chain(near.as_deref()).collect();
    let ratio = number::effect(effect.ratio, effect.interval);
    if words.is_empty() { ratio } else { format!("{ratio}\n{}", words.join(", ")) }
}

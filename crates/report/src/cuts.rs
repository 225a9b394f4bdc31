//! The results of power cuts for each treatment.

use ssdlab_advice::{Analysis, CutsResult, Example, Proportion, Quantiles, TreatmentResult};
use ssdlab_plan::Schedule;

use super::compared::Compared;
use super::grid::Grid;
use super::number;
use super::table::label;

/// The table's heading.
pub(super) const HEADING: &str = "After power cuts: how many cuts did what (95 %), and what was \
                                  lost at random moments (median / 99 % / worst)";

/// The heading of [`brief_table`].
pub(super) const BRIEF_HEADING: &str =
    "After power cuts: how many did what, and the median of the time lost";

/// A row for each treatment with power cuts; `None` if there were none. The plan's own check has a
/// column if the plan has one.
pub(super) fn table(schedule: &Schedule, analysis: &Analysis) -> Option<Grid> {
    let cut = analysis.treatments.iter().filter_map(|treatment| {
        Some((label(schedule, &treatment.levels), treatment.cuts.as_ref()?))
    });
    of(cut.collect())
}

/// The same for the treatments that the answer compares, with one line for each: intervals, the
/// last columns, and all quantiles but the median are left out.
pub(super) fn brief_table(compared: &Compared<'_>) -> Option<Grid> {
    let cut = compared.treatments.iter();
    let cut = cut.filter_map(|own| Some((compared.name(own), own.cuts.as_ref()?)));
    let Grid { header, rows, numbers } = of(cut.collect())?;
    let columns = header.len() - DETAILS;
    let first_line =
        |cell: &String| cell.lines().next().unwrap_or_default().replace("less than", "<");
    let short = |row: &Vec<String>| row[..columns].iter().map(first_line).collect();
    Some(Grid { header: short(&header), rows: rows.iter().map(short).collect(), numbers })
}

fn of(cut: Vec<(String, &CutsResult)>) -> Option<Grid> {
    let has_check = cut.iter().any(|(_, cuts)| cuts.rejected.is_some());
    let shown = |columns: [String; 10]| -> Vec<String> {
        let all = columns.into_iter().enumerate();
        all.filter(|(at, _)| has_check || *at != REJECTED).map(|(_, column)| column).collect()
    };
    let header = [
        "",
        "cuts",
        "broken promises",
        "damaged",
        "unmountable",
        "check fails",
        "data rejected",
        "time lost",
        "bytes lost",
        "time to mount",
    ];
    let header = shown(header.map(str::to_owned));
    let rows: Vec<Vec<String>> =
        cut.into_iter().map(|(name, cuts)| shown(cells(name, cuts))).collect();
    (!rows.is_empty()).then_some(Grid { header, rows, numbers: 1 })
}

/// The place of what the plan's own check says among the columns.
const REJECTED: usize = 6;

/// The number of columns at the end that are details.
const DETAILS: usize = 2;

/// The heading of [`reproducers`].
pub(super) const REPRODUCERS: &str = "To repeat one finding of each treatment:";

/// The treatments with a finding, each with the command that repeats that cut.
pub(super) fn reproducers(schedule: &Schedule, analysis: &Analysis) -> Vec<(String, String)> {
    let run = analysis.folder.as_ref().unwrap_or(&analysis.run);
    let run = shlex::try_quote(run).unwrap_or_default();
    let of = |treatment: &TreatmentResult| {
        let Example { trial, cut, survivor } = treatment.cuts.as_ref()?.example?;
        let command = format!("ssdlab cut {run} --trial {trial} --cut {cut} --survivor {survivor}");
        Some((label(schedule, &treatment.levels), command))
    };
    analysis.treatments.iter().filter_map(of).collect()
}

fn cells(name: String, cuts: &CutsResult) -> [String; 10] {
    let is_never_mounted = cuts.unmountable.count == cuts.unmountable.of;
    let unjudged = if is_never_mounted { "not mounted" } else { "not judged" };
    let states = cuts.states.map(|states| format!("\n{} states", number::count(states as f64)));
    [
        name,
        number::count(cuts.number as f64) + &states.unwrap_or_default(),
        proportion(cuts.broken_promises, unjudged),
        proportion(cuts.damaged, unjudged),
        proportion(Some(cuts.unmountable), ""),
        proportion(cuts.amiss, "not checked"),
        proportion(cuts.rejected, unjudged),
        quantiles(cuts.lost_ns, number::duration),
        quantiles(cuts.lost_bytes, number::bytes),
        quantiles(cuts.recovery_ns, number::duration),
    ]
}

/// A proportion with its interval; if nothing was seen, its upper bound, as that is not never. The
/// words for `None` are `without`.
pub(super) fn proportion(of: Option<Proportion>, without: &str) -> String {
    let Some(of) = of else { return without.to_owned() };
    let [lo, hi] = of.interval.map(|share| format!("{:.2}", share * 100.0));
    if of.count == 0 {
        return format!("less than {hi} %");
    }
    let share = of.count as f64 / of.of as f64 * 100.0;
    format!("{share:.1} %\n{lo} to {hi} %")
}

pub(super) fn quantiles(of: Option<Quantiles>, shown: fn(f64) -> String) -> String {
    of.map_or_else(String::new, |of| {
        [of.p50, of.p99, of.max].map(|value| shown(value as f64)).join("\n")
    })
}

#[cfg(test)]
mod tests;

//! The chart of power cuts: the share of them that did harm, by kind, with exact intervals.

use ssdlab_advice::{CutsResult, Proportion};
use ssdlab_plan::metric::Unit;

use super::canvas::{Chart, Heading, in_parts};
use super::data::ChartData;
use super::palette::{PLAIN, Symbol};
use super::rows::{Mark, Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;

/// A kind of harm, and how often a treatment had it.
type Kind = (&'static str, fn(&CutsResult) -> Option<Proportion>);

const KINDS: [Kind; 4] = [
    ("broke a promise", |cuts| cuts.broken_promises),
    ("damaged a file", |cuts| cuts.damaged),
    ("left the filesystem unmountable", |cuts| Some(cuts.unmountable)),
    ("made the check fail", |cuts| cuts.amiss),
];

/// Only of plans with a check of their own.
const REJECTED: Kind = ("left data that the plan's check rejects", |cuts| cuts.rejected);

/// A row for each treatment with power cuts, and a panel for each kind of harm.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let cut = data
        .treatments
        .iter()
        .filter_map(|shown| Some((shown.name.as_str(), shown.treatment.cuts.as_ref()?)));
    let cut: Vec<(&str, &CutsResult)> = cut.collect();
    if cut.is_empty() {
        return Vec::new();
    }
    let has_check = cut.iter().any(|(_, cuts)| cuts.rejected.is_some());
    let kinds: Vec<Kind> = KINDS.into_iter().chain(has_check.then_some(REJECTED)).collect();
    in_parts(&kinds, panels_in_a_chart(cut.len()), |kinds, part| chart(&cut, kinds, part))
}

fn chart(cut: &[(&str, &CutsResult)], kinds: &[Kind], part: &str) -> Chart {
    let title = format!("Power cuts{part}");
    let notes = "Disc: the share of the cuts that could tell. Whisker: its exact 95 % interval \
                 (Clopper and Pearson), which says how often it may be where it was never seen.";
    let heading = Heading { title, notes: notes.to_owned(), keys: Vec::new() };
    let names = cut.iter().map(|(name, _)| (*name).to_owned()).collect();
    let panels = kinds.iter().map(|kind| panel(cut, kind)).collect();
    let says: Vec<String> = kinds.iter().map(|kind| says(cut, kind)).collect();
    RowChart { heading, names, panels }.chart("power-cuts", says.join(" "))
}

fn panel(cut: &[(&str, &CutsResult)], (title, of): &Kind) -> RowPanel {
    let found = || cut.iter().map(|(_, cuts)| of(cuts));
    let highest = found().flatten().map(|found| 100.0 * found.interval[1]).fold(0.0, f64::max);
    RowPanel {
        title: (*title).to_owned(),
        scale: Scale::from_zero(Unit::Percent, highest),
        reference: None,
        rows: found().map(row).collect(),
    }
}

fn row(found: Option<Proportion>) -> Row {
    let Some(found) = found else { return Row::default() };
    let point =
        Mark::Point { at: percent(found), lane: 0, symbol: Symbol::Disc, colour: PLAIN, radius: 8 };
    let whisker = Mark::Whisker(found.interval.map(|end| 100.0 * end));
    Row { marks: vec![whisker, point], says: format!("{} of {}", found.count, found.of) }
}

fn percent(found: Proportion) -> f64 {
    100.0 * found.count as f64 / found.of.max(1) as f64
}

fn says(cut: &[(&str, &CutsResult)], (title, of): &Kind) -> String {
    let found = cut.iter().filter_map(|(name, cuts)| Some((*name, of(cuts)?)));
    let most = found.max_by(|(_, one), (_, other)| percent(*one).total_cmp(&percent(*other)));
    match most {
        Some((name, found)) if found.count > 0 => {
            format!("A cut {title} most often with {name}: {} of {}.", found.count, found.of)
        }
        _ => format!("No cut {title}."),
    }
}

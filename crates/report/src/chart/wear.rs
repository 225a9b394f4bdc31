//! The wear histogram: the erase counts of a simulated drive's blocks.

use ssdlab_flash::{WearBin, WearSummary};
use ssdlab_plan::metric::Unit;

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, ChartTreatment};
use super::grid::{GridPanel, PanelGrid, Shares, panels_in_a_chart};
use super::scale::Scale;

/// The largest factor by which the wear of two drives on one axis may differ.
const MOST_APART: u32 = 4;

/// Panels side by side.
const COLUMNS: u32 = 3;

/// A panel for each treatment on a simulated drive, if a block of any was erased.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let worn: Vec<(&ChartTreatment<'_>, &WearSummary)> =
        data.treatments.iter().filter_map(|shown| Some((shown, wear(shown)?))).collect();
    if worn.iter().all(|(_, wear)| wear.most == 0) {
        return Vec::new();
    }
    let least = worn.iter().map(|(_, wear)| wear.least).min().unwrap_or(0);
    let most = worn.iter().map(|(_, wear)| wear.most).max().unwrap_or(0);
    // On the axis of a drive with a hot spot the others' histograms would have no shape.
    let shares_across = worn.iter().all(|(_, wear)| most <= MOST_APART * wear.most.max(1));
    let across = |wear: &WearSummary| {
        let ends = if shares_across { [least, most] } else { [wear.least, wear.most] };
        Scale::between(Unit::Number, f64::from(ends[0]), f64::from(ends[1]) + 1.0)
    };
    let shares =
        worn.iter().flat_map(|(_, wear)| wear.histogram.iter().map(|bin| share(bin, wear)));
    let up = Scale::from_zero(Unit::Percent, shares.fold(0.0, f64::max));
    in_parts(&worn, panels_in_a_chart(COLUMNS), |worn, part| {
        let title = format!("Wear: erases of blocks{part}");
        let axes = if shares_across {
            "All panels have the same axes."
        } else {
            "Each panel has its own axis of erases."
        };
        let notes = format!(
            "Bar: the share of all blocks, for each number of erases, by the end of the first \
             trial, their life before it included. {axes}"
        );
        let heading = Heading { title, notes, keys: Vec::new() };
        let panels = worn.iter().map(|(shown, wear)| GridPanel {
            bars: wear.histogram.iter().map(|bin| (ends(bin), share(bin, wear))).collect(),
            ..GridPanel::new(shown.name.clone(), across(wear), up.clone(), shown.colour)
        });
        let panels = panels.collect();
        let shares = Shares { across: shares_across, up: true };
        PanelGrid { heading, columns: COLUMNS, shares, panels }.chart("wear", says(worn))
    })
}

fn wear<'a>(shown: &ChartTreatment<'a>) -> Option<&'a WearSummary> {
    shown.trials.iter().find_map(|trial| trial.drive.as_ref()).map(|course| &course.wear)
}

fn ends(bin: &WearBin) -> [f64; 2] {
    [f64::from(bin.from), f64::from(bin.to) + 1.0]
}

/// The share of blocks in a bin per erase count in it, in per cent: bins of one drive may be wider
/// than those of another.
fn share(bin: &WearBin, wear: &WearSummary) -> f64 {
    let [from, to] = ends(bin);
    100.0 * f64::from(bin.blocks) / f64::from(wear.blocks.max(1)) / (to - from).max(1.0)
}

fn says(worn: &[(&ChartTreatment<'_>, &WearSummary)]) -> String {
    let one = |(shown, wear): &(&ChartTreatment<'_>, &WearSummary)| {
        let WearSummary { least, median, most, .. } = wear;
        format!("{} {least} to {most}, half of them up to {median}", shown.name)
    };
    format!("Erases of a block: {}.", worn.iter().map(one).collect::<Vec<_>>().join("; "))
}

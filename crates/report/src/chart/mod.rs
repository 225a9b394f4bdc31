//! Charts of a run, as SVG: drawn by plotters, laid out here so that no texts overlap.
//!
//! A chart is drawn only if the run has its data. There are two layouts, rows of treatments
//! (`rows`) and small panels with two axes (`grid`); what does not fit into one chart continues in
//! the next.

mod at_risk;
mod canvas;
mod cuts;
mod data;
mod drift;
mod drive;
mod effects;
mod grid;
mod label;
mod latency;
mod ledger;
mod palette;
mod rows;
mod samples;
mod scale;
mod series;
mod trace;
mod wear;
mod written;

use std::collections::BTreeSet;

pub use canvas::Chart;
pub use trace::trace as trace_chart;

use data::ChartData;
use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

/// Every chart that a run has the data for.
pub fn charts(schedule: &Schedule, analysis: &Analysis) -> Vec<Chart> {
    let data = ChartData::new(schedule, analysis);
    let kinds: [fn(&ChartData<'_>) -> Vec<Chart>; 12] = [
        samples::answer,
        samples::charts,
        effects::charts,
        cuts::charts,
        at_risk::charts,
        latency::charts,
        series::charts,
        written::charts,
        ledger::charts,
        drive::charts,
        wear::charts,
        drift::charts,
    ];
    let mut charts: Vec<Chart> = kinds.into_iter().flat_map(|kind| kind(&data)).collect();
    let mut taken = BTreeSet::new();
    for chart in &mut charts {
        let alone = chart.id.trim_end_matches('-').to_owned();
        let mut id = alone.clone();
        let mut number = 1;
        while !taken.insert(id.clone()) {
            number += 1;
            id = format!("{alone}-{number}");
        }
        chart.id = id;
    }
    charts
}

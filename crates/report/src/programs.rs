//! Whose bytes were written in the stretches of a running machine's time, under each treatment.

use std::collections::BTreeMap;
use std::iter;

use ssdlab_advice::{Analysis, StretchPrograms, TreatmentResult};
use ssdlab_plan::Schedule;
use ssdlab_results::{ByProgram, ProgramBytes};

use super::grid::{ReportTable, side_by_side};
use super::levels::label;
use super::number;
use super::words::Style;

/// The heading of the tables.
pub(super) const HEADING: &str = "bytes written by program, stretch: arithmetic mean; ratio to \
                                  the baseline: of the means (exploratory; no verdict rests on it)";

/// The most programs that are shown.
const MOST_ROWS: usize = 8;

/// The width of a program's name with its service's.
const NAME_WIDTH: usize = 30;

/// The name of a row's program, with its service's.
fn name(row: &ProgramBytes) -> String {
    let ProgramBytes { program, service, .. } = row;
    if service.is_empty() { program.clone() } else { format!("{program} ({service})") }
}

/// The mean bytes of a stretch under a treatment: of some programs, then of all others.
fn means(own: &StretchPrograms, names: &[String]) -> Vec<f64> {
    let ByProgram { largest, rest_bytes } = &own.total;
    let of = |shown: &String| {
        largest.iter().filter(|row| name(row) == *shown).map(|row| row.bytes).sum::<u64>()
    };
    let rows: Vec<u64> = names.iter().map(of).collect();
    let all = rest_bytes + largest.iter().map(|row| row.bytes).sum::<u64>();
    let others = all - rows.iter().sum::<u64>();
    rows.into_iter().chain([others]).map(|bytes| bytes as f64 / own.stretches as f64).collect()
}

/// The programs with the most bytes by treatments, in several tables if they do not fit into one;
/// none if it is not known who wrote.
pub(super) fn tables(schedule: &Schedule, analysis: &Analysis, style: Style) -> Vec<ReportTable> {
    let known = analysis.treatments.iter().filter_map(|own| own.by_program.as_ref());
    let mut together: BTreeMap<String, f64> = BTreeMap::new();
    for own in known {
        for row in &own.total.largest {
            *together.entry(name(row)).or_default() += row.bytes as f64 / own.stretches as f64;
        }
    }
    let mut names: Vec<String> = together.keys().cloned().collect();
    names.sort_by(|one, other| together[other].total_cmp(&together[one]));
    names.truncate(MOST_ROWS);
    let of_treatment = |own: &TreatmentResult| Some(means(own.by_program.as_ref()?, &names));
    let columns: Vec<Option<Vec<f64>>> = analysis.treatments.iter().map(of_treatment).collect();
    let cell = |treatment: usize, row: usize| {
        let of = |treatment: usize| Some(columns[treatment].as_ref()?[row]);
        let Some(bytes) = of(treatment) else { return String::new() };
        let baseline = schedule.treatments[treatment].baseline.and_then(of);
        let ratio = baseline.filter(|baseline| *baseline > 0.0 && bytes > 0.0);
        let ratio = ratio.map(|baseline| format!("\n{}", number::effect(bytes / baseline, None)));
        format!("{}{}", number::bytes(bytes), ratio.unwrap_or_default())
    };
    let known: Vec<usize> = (0..columns.len()).filter(|index| columns[*index].is_some()).collect();
    let tables = known.chunks(side_by_side(style, NAME_WIDTH)).map(|treatments| {
        let heads =
            treatments.iter().map(|index| label(schedule, &analysis.treatments[*index].levels));
        let row = |(index, name): (usize, &str)| {
            let cells = treatments.iter().map(|treatment| cell(*treatment, index));
            iter::once(name.to_owned()).chain(cells).collect()
        };
        let names = names.iter().map(String::as_str).chain(["all others"]);
        ReportTable {
            header: iter::once("program".to_owned()).chain(heads).collect(),
            rows: names.enumerate().map(row).collect(),
            numbers: 1,
        }
    });
    tables.collect()
}

#[cfg(test)]
mod tests;

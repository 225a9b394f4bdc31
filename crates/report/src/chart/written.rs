//! The chart of bytes written: by the workload, to the device, and into its flash; stacked by
//! phase, because a phase may write what an earlier one left in a cache.

use ssdlab_plan::metric::{Source, Unit};

use super::canvas::{Chart, Heading, Key, in_parts};
use super::data::{ChartData, ChartTreatment, range};
use super::label;
use super::palette::{COLOURS, Symbol};
use super::rows::{Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;
use crate::words::plain;

/// The levels at which bytes are counted, from the workload down.
const LEVELS: [(Source, &str); 3] = [
    (Source::ApplicationBytes, "written by the workload"),
    (Source::WrittenBytes, "written to the device"),
    (Source::FlashWrittenBytes, "programmed into the flash"),
];

/// How many phases have their own colour; the others share the last one.
const TOLD_APART: usize = COLOURS.len() - 1;

/// The bytes at each level, on one axis.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    // A treatment that went well on plausible drives only has no means.
    let has_means = |shown: &&ChartTreatment<'_>| !shown.trials.is_empty();
    let rows: Vec<&ChartTreatment<'_>> = data.treatments.iter().filter(has_means).collect();
    let is_written = |metric: Source| rows.iter().any(|shown| total(data, shown, metric) > 0.0);
    if !is_written(LEVELS[1].0) {
        return Vec::new();
    }
    let levels = LEVELS.into_iter().filter(|(metric, _)| is_written(*metric));
    let levels: Vec<(Source, &str)> = levels.collect();
    let of_level = |metric| rows.iter().map(move |shown| total(data, shown, metric));
    let totals = levels.iter().flat_map(|(metric, _)| of_level(*metric));
    let scale = Scale::from_zero(Unit::Bytes, totals.fold(0.0, f64::max));
    let places = places(data);
    in_parts(&levels, panels_in_a_chart(rows.len()), |levels, part| {
        chart(data, (&rows, levels), &scale, &places, part)
    })
}

fn total(data: &ChartData<'_>, shown: &ChartTreatment<'_>, metric: Source) -> f64 {
    data.phases.iter().map(|phase| shown.mean(phase, metric)).sum()
}

/// The index of each phase's colour: phases with the most bytes have their own, those without any
/// have none.
fn places(data: &ChartData<'_>) -> Vec<Option<usize>> {
    let most = |phase: &String| {
        let of_level = |metric| data.treatments.iter().map(move |shown| shown.mean(phase, metric));
        LEVELS.iter().flat_map(|(metric, _)| of_level(*metric)).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> =
        (0..data.phases.len()).filter(|phase| most(&data.phases[*phase]) > 0.0).collect();
    order.sort_by(|one, other| most(&data.phases[*other]).total_cmp(&most(&data.phases[*one])));
    let mut told_apart: Vec<usize> = order.into_iter().take(TOLD_APART).collect();
    told_apart.sort_unstable();
    let place = |phase| match told_apart.iter().position(|known| *known == phase) {
        None if most(&data.phases[phase]) > 0.0 => Some(TOLD_APART),
        place => place,
    };
    (0..data.phases.len()).map(place).collect()
}

fn chart(
    data: &ChartData<'_>,
    (rows, levels): (&[&ChartTreatment<'_>], &[(Source, &str)]),
    scale: &Scale,
    places: &[Option<usize>],
    part: &str,
) -> Chart {
    let title = format!("Bytes written{part}");
    let notes = "Means over trials, phase by phase from the left. The number is that of all phases \
                 together. A phase may write what an earlier one has handed to the cache.";
    let used = |place: &usize| places.contains(&Some(*place));
    let key = |place: usize| Key {
        symbol: Symbol::Square,
        colour: COLOURS[place],
        says: format!("{} {}", place + 1, phase_name(data, places, place)),
    };
    let keys = (0..COLOURS.len()).filter(used).map(key).collect();
    let heading = Heading { title, notes: notes.to_owned(), keys };
    let names = rows.iter().map(|shown| shown.name.clone()).collect();
    let panels = levels.iter().map(|(metric, says)| RowPanel {
        title: (*says).to_owned(),
        scale: scale.clone(),
        reference: None,
        rows: rows.iter().map(|shown| row(data, shown, *metric, places)).collect(),
    });
    let panels = panels.collect();
    let ranges = levels.iter().filter_map(|(metric, says)| {
        let totals = rows.iter().map(|shown| shown.named(total(data, shown, *metric)));
        Some(format!("{says}: {}", range(Unit::Bytes, totals)?))
    });
    let says = format!("All phases together, {}.", ranges.collect::<Vec<_>>().join("; "));
    RowChart { heading, names, panels }.chart("written", says)
}

fn phase_name(data: &ChartData<'_>, places: &[Option<usize>], place: usize) -> String {
    let mut of_place = data.phases.iter().zip(places).filter(|(_, own)| **own == Some(place));
    match (of_place.next(), of_place.next()) {
        (Some((phase, _)), None) => label::cut(&plain(phase), 30),
        _ => "all other phases".to_owned(),
    }
}

fn row(
    data: &ChartData<'_>,
    shown: &ChartTreatment<'_>,
    metric: Source,
    places: &[Option<usize>],
) -> Row {
    let parts = COLOURS.into_iter().enumerate().map(|(place, colour)| {
        let of_place = data.phases.iter().zip(places).filter(|(_, own)| **own == Some(place));
        let bytes = of_place.map(|(phase, _)| shown.mean(phase, metric)).sum();
        (bytes, colour, (place + 1).to_string())
    });
    Row::stacked(Unit::Bytes, parts)
}

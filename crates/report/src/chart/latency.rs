//! The latency chart: percentiles of operation times, on a logarithmic axis.

use ssdlab_plan::metric::{Source, Unit};

use super::canvas::{Chart, Heading, Key, in_parts};
use super::data::{ChartData, ChartTreatment, range};
use super::label;
use super::palette::{COLOURS, PLAIN, SYMBOLS};
use super::rows::{Mark, Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;
use crate::number;
use crate::words::plain;

/// The percentiles, by metric and name.
const PERCENTILES: [(Source, &str); 5] = [
    (Source::LatencyP50, "median"),
    (Source::LatencyP90, "90 %"),
    (Source::LatencyP99, "99 %"),
    (Source::LatencyP999, "99.9 %"),
    (Source::LatencyMax, "longest"),
];

/// A panel for each phase that timed its operations.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let is_timed =
        |shown: &&ChartTreatment<'_>| data.phases.iter().any(|phase| means(shown, phase).is_some());
    let rows: Vec<&ChartTreatment<'_>> = data.treatments.iter().filter(is_timed).collect();
    let phases =
        data.phases.iter().filter(|phase| rows.iter().any(|row| means(row, phase).is_some()));
    let phases: Vec<&String> = phases.collect();
    in_parts(&phases, panels_in_a_chart(rows.len()), |phases, part| chart(&rows, phases, part))
}

fn means(shown: &ChartTreatment<'_>, phase: &str) -> Option<[f64; PERCENTILES.len()]> {
    let mean = |source: Source| shown.summary(phase, source).map(|found| found.mean);
    let [p50, p90, p99, p999, max] = PERCENTILES.map(|(source, _)| mean(source));
    Some([p50?, p90?, p99?, p999?, max?])
}

fn chart(rows: &[&ChartTreatment<'_>], phases: &[&String], part: &str) -> Chart {
    let title = format!("Latency of operations{part}");
    let notes = "How long operations took at most: half of them, 90 %, 99 %, 99.9 %, all; means \
                 over trials. The number is that of 99 %.";
    let key = |((_, says), place): ((Source, &str), usize)| Key {
        symbol: SYMBOLS[place],
        colour: COLOURS[place],
        says: says.to_owned(),
    };
    let keys = PERCENTILES.into_iter().zip(0..).map(key).collect();
    let heading = Heading { title, notes: notes.to_owned(), keys };
    let names = rows.iter().map(|shown| shown.name.clone()).collect();
    let panels = phases.iter().map(|phase| panel(rows, phase)).collect();
    let ranges = phases.iter().filter_map(|phase| {
        let p99 = |shown: &&ChartTreatment<'_>| means(shown, phase).map(|means| means[2]);
        let values = rows.iter().filter_map(|shown| Some(shown.named(p99(shown)?)));
        Some(format!("{} {}", label::cut(&plain(phase), 60), range(Unit::Ns, values)?))
    });
    let ranges: Vec<String> = ranges.collect();
    let says = format!("What 1 % of operations exceeded: {}.", ranges.join("; "));
    RowChart { heading, names, panels }.chart("latency", says)
}

fn panel(rows: &[&ChartTreatment<'_>], phase: &str) -> RowPanel {
    let all: Vec<Option<[f64; PERCENTILES.len()]>> =
        rows.iter().map(|shown| means(shown, phase)).collect();
    let values: Vec<f64> = all.iter().flatten().flatten().copied().collect();
    let scale = Scale::logarithmic(Unit::Ns, &values);
    let row = |means: &Option<[f64; PERCENTILES.len()]>| {
        let Some(means) = means else { return Row::default() };
        let ends = [means[0], means[PERCENTILES.len() - 1]];
        let mut marks = vec![Mark::Span { ends, colour: PLAIN }];
        marks.extend(means.iter().zip(0..).filter(|(at, _)| scale.has(**at)).map(|(at, place)| {
            let (symbol, colour) = (SYMBOLS[place], COLOURS[place]);
            Mark::Point { at: *at, lane: 0, symbol, colour, radius: 8 }
        }));
        Row { marks, says: number::duration(means[2]) }
    };
    let rows = all.iter().map(row).collect();
    RowPanel { title: plain(phase), scale, reference: None, rows }
}

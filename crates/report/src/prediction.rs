//! What the virtual lab said before a run of the live lab, beside what was measured.

use ssdlab_advice::{Analysis, Prediction};
use ssdlab_plan::Schedule;

use super::grid::ReportTable;
use super::levels::label;
use super::number;

/// The heading of the table.
pub(super) const HEADING: &str = "Predicted before the run, on a simulated drive";

/// An error that leaves a prediction useful.
const CLOSE: f64 = 0.1;

/// Each prediction and what was measured; `None` if there is no prediction.
pub(super) fn table(schedule: &Schedule, analysis: &Analysis) -> Option<ReportTable> {
    let header = ["treatment", "phase", "metric", "predicted", "measured", "ratio"];
    let row = |of: &Prediction| {
        let value = |value: f64| number::value(of.metric, value);
        let ratio = (of.measured > 0.0).then(|| number::ratio(of.predicted / of.measured));
        vec![
            label(schedule, &of.levels),
            of.phase.clone(),
            of.metric.name.to_owned(),
            value(of.predicted),
            value(of.measured),
            ratio.unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = analysis.predictions.iter().map(row).collect();
    let header = header.map(str::to_owned).into();
    (!rows.is_empty()).then_some(ReportTable { header, rows, numbers: 3 })
}

/// How many predictions were right; `None` if there is none.
pub(super) fn sentence(analysis: &Analysis) -> Option<String> {
    let predictions = &analysis.predictions;
    let close = predictions.iter().filter(|of| of.error() <= CLOSE).count();
    let percent = CLOSE * 100.0;
    (!predictions.is_empty()).then(|| {
        format!(
            "before the run on a simulated drive: {close} of {} numbers of bytes and flushes are \
             within {percent} % of what was measured",
            predictions.len()
        )
    })
}

#[cfg(test)]
mod tests;

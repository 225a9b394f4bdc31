//! The measurements of every trial, collapsed.

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, TreatmentResult, TrialResult};
use ssdlab_plan::Schedule;
use ssdlab_plan::metric::Metric;
use ssdlab_results::TrialStatus;

use super::cells::{boxed, factor_cells, factor_heads, factors};
use crate::words::counted;

/// A page with more trials than this is slow to open.
const MOST: usize = 2_000;

/// The trials in the order they ran; if there are too many, how to get them.
pub(super) fn samples(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let count: usize = analysis.treatments.iter().map(|own| own.trials.len()).sum();
    match count {
        0 => None,
        count if count > MOST => Some(markup! {
            p { (count) " trials are too many for a page. All samples, for any program that reads \
                 CSV: " code { "ssdlab report " (analysis.run) " --format csv" } }
        }),
        _ => Some(markup! {
            details {
                summary { (counted(count, "trial")) }
                (table(schedule, analysis))
            }
        }),
    }
}

fn table<'a>(schedule: &Schedule, analysis: &'a Analysis) -> Markup {
    let (factors, phases) = (factors(schedule), schedule.phase_names());
    let has_drives = analysis.plausible_drives > 0;
    let of =
        |treatment: &'a TreatmentResult| treatment.trials.iter().map(move |own| (treatment, own));
    let mut trials: Vec<(&TreatmentResult, &TrialResult)> =
        analysis.treatments.iter().flat_map(of).collect();
    trials.sort_by_key(|(_, trial)| trial.position);
    let caption = markup! {
        code { (analysis.metric) } " of each phase, by the order in which trials ran"
    };
    let body = markup! {
        thead {
            tr {
                (factor_heads(&factors))
                th.number scope="col" { "position" }
                th.number scope="col" { "block" }
                @if has_drives { th scope="col" { "drive" } }
                @for phase in &phases { th.number scope="col" { (phase) } }
                th scope="col" { "status" }
            }
        }
        tbody {
            @for (treatment, trial) in trials {
                tr {
                    (factor_cells(&factors, &treatment.levels))
                    td.number { (trial.position + 1) }
                    td.number { (trial.block + 1) }
                    @if has_drives { td { (drive(schedule, trial)) } }
                    @for phase in &phases { (cell(trial, phase, analysis.metric)) }
                    td { (ended(trial)) }
                }
            }
        }
    };
    boxed("samples", "sortable filterable samples", &caption, &body)
}

fn cell(trial: &TrialResult, phase: &str, metric: Metric) -> Markup {
    let phase = trial.phases.iter().find(|own| own.name == *phase);
    let value = phase.and_then(|phase| phase.metric(metric));
    markup! { td.number { @if let Some(value) = value { (shortened(value)) } } }
}

/// A value with six significant digits, or all digits of a whole number.
fn shortened(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1e6 {
        return format!("{value:.0}");
    }
    let digits = match value.abs() {
        v if v >= 1e5 => 0,
        v if v >= 1e4 => 1,
        v if v >= 1e3 => 2,
        v if v >= 1e2 => 3,
        v if v >= 10.0 => 4,
        v if v >= 1.0 => 5,
        _ => return value.to_string(),
    };
    format!("{value:.digits$}")
}

fn drive(schedule: &Schedule, trial: &TrialResult) -> &'static str {
    // A trial that failed before its drive was drawn has no draw.
    if schedule.draw_of(trial.block).is_some() { "plausible" } else { "published" }
}

fn ended(trial: &TrialResult) -> String {
    match (&trial.reason, trial.status) {
        (_, TrialStatus::Ok) | (None, _) => trial.status.to_string(),
        (Some(reason), status) => format!("{status}: {reason}"),
    }
}

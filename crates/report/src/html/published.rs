//! Published measurements next to those of this run.

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, TreatmentResult};
use ssdlab_plan::{PublishedValue, Schedule};

use super::cells::{boxed, factor_cells, factor_heads, factors};
use crate::nouns::spoken;
use crate::{number, table};

/// The table; `None` if the plan has no published numbers.
pub(super) fn table(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let factors = factors(schedule);
    let rows: Vec<(&TreatmentResult, String, PublishedValue)> = analysis
        .treatments
        .iter()
        .flat_map(|treatment| {
            let published = move |phase: String| {
                let value = schedule.published(&treatment.levels, &phase)?;
                Some((treatment, phase, value))
            };
            schedule.phase_names().into_iter().filter_map(published)
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let metric = analysis.metric;
    let caption = markup! {
        "Means of " (spoken(metric.name)) " (" code { (metric) } ")"
        @if let Some(source) = &schedule.source { "; published: " (source) }
    };
    let body = markup! {
        thead {
            tr {
                (factor_heads(&factors))
                th scope="col" { "phase" }
                th.number scope="col" { "published" }
                th scope="col" { "basis" }
                th.number scope="col" { "here" }
                th.number scope="col" { "here / published" }
            }
        }
        tbody {
            @for (treatment, phase, published) in &rows {
                @let here = table::mean(treatment, phase, metric);
                tr {
                    (factor_cells(&factors, &treatment.levels))
                    td { (phase) }
                    td.number { (number::value(metric, published.value)) }
                    td { (published.basis) }
                    @if let Some(here) = here {
                        td.number { (number::value(metric, here)) }
                        td.number { "×" (number::ratio(here / published.value)) }
                    } @else {
                        td.number {}
                        td.number {}
                    }
                }
            }
        }
    };
    Some(boxed("published", "published", &caption, &body))
}

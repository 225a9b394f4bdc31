//! The table of treatments: means of the plan's metric by phase, and ratios to the baseline.

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, Effect, TreatmentResult, TreatmentStatus};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{LabKind, Origin, Schedule};

use super::cells::{boxed, factor_cells, factor_heads, factors, times};
use crate::nouns::spoken;
use crate::words::counted;
use crate::{number, plausible, table};

/// The table, which can be sorted and filtered.
pub(super) fn table(schedule: &Schedule, analysis: &Analysis) -> Markup {
    let (factors, phases) = (factors(schedule), schedule.phase_names());
    let reasons = analysis.treatments.iter().any(|treatment| treatment.reason.is_some());
    let is_own = |effect: &&Effect| effect.metric == analysis.metric;
    let effects: Vec<&Effect> = analysis.effects.iter().filter(is_own).collect();
    let together = effects.iter().any(|effect| effect.phases.len() > 1);
    let caption = markup! {
        "Arithmetic means of " (spoken(analysis.metric.name)) " (" code { (analysis.metric) } ")"
        @for metric in &schedule.beside {
            ", and of " (spoken(metric.name)) " (" code { (metric) } ")"
        }
        @if let Some(beside) = table::beside(analysis) { ", in brackets " code { (beside) } }
        @if analysis.plausible_drives > 0 {
            ", by phase, on the published drive; below each its ratio to the baseline's, in \
             brackets the range with " (counted(analysis.plausible_drives, "plausible drive"))
        } @else if analysis.lab == Origin::Imported {
            ", by phase; below each the ratio of its geometric mean to the baseline's, with the \
             95 % interval"
        } @else if analysis.lab == Origin::Lab(LabKind::Live) {
            ", by phase; below each the ratio of its total to the baseline's, with the 95 % \
             interval"
        } @else {
            ", by phase; below each the geometric mean of its ratios to the baseline's, with the \
             95 % interval"
        }
    };
    let body = markup! {
        thead {
            tr {
                (factor_heads(&factors))
                th scope="col" { "status" }
                @if together { th.number scope="col" { "all phases" } }
                @for phase in &phases { th.number scope="col" { (phase) } }
                @if reasons { th scope="col" { "reason" } }
            }
        }
        tbody {
            @for treatment in &analysis.treatments {
                @let own = own(&effects, treatment);
                @let is_measured = treatment.status == TreatmentStatus::Ok;
                tr class=[(!is_measured).then_some("unmeasured")] {
                    (factor_cells(&factors, &treatment.levels))
                    td { (treatment.status) @if is_baseline(schedule, treatment) { ", baseline" } }
                    @if together { (overall(&own)) }
                    @for phase in &phases { (cell(schedule, analysis, &own, treatment, phase)) }
                    @if reasons { td.reason { (treatment.reason.as_deref().unwrap_or_default()) } }
                }
            }
        }
    };
    boxed("treatments", "sortable filterable treatments", &caption, &body)
}

fn is_baseline(schedule: &Schedule, treatment: &TreatmentResult) -> bool {
    let index = schedule.find(&treatment.levels);
    let others = schedule.treatments.iter().any(|other| other.baseline == index);
    index.is_some() && others
}

/// A treatment's effects.
fn own<'a>(effects: &[&'a Effect], treatment: &TreatmentResult) -> Vec<&'a Effect> {
    effects.iter().copied().filter(|effect| effect.levels == treatment.levels).collect()
}

fn cell(
    schedule: &Schedule,
    analysis: &Analysis,
    own: &[&Effect],
    treatment: &TreatmentResult,
    phase: &str,
) -> Markup {
    let shown = table::shown(analysis, treatment, phase);
    let beside = schedule.beside.iter().copied();
    let beside: Vec<(Metric, Option<f64>)> =
        beside.map(|metric| (metric, table::mean(treatment, phase, metric))).collect();
    let has_any = beside.iter().any(|(_, mean)| mean.is_some());
    if shown.is_none() && !has_any {
        return markup! { td.number {} };
    }
    let (mean, shown) = shown.unzip();
    let ratio = own.iter().find(|effect| effect.phases == [phase]);
    markup! {
        td.number data-value=[mean] {
            (shown.as_deref().unwrap_or("-"))
            @if let Some(one) = ratio { small { (times(&plausible::effect(one))) } }
            @for (metric, mean) in beside.iter().filter(|_| has_any) {
                br;
                (mean.map_or("-".to_owned(), |mean| number::value(*metric, mean)))
                @if let Some(one) = analysis.effect(*metric, &treatment.levels, phase) {
                    small { (times(&plausible::effect(one))) }
                }
            }
        }
    }
}

/// The effect over all phases together.
fn overall(own: &[&Effect]) -> Markup {
    let Some(one) = own.iter().find(|effect| effect.phases.len() > 1) else {
        return markup! { td.number {} };
    };
    markup! { td.number data-value=(one.ratio) { (times(&plausible::effect(one))) } }
}

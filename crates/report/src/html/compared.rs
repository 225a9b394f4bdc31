//! Treatments compared with each other: rankings, layout scores, and features of filesystems.

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, StepRanking};
use ssdlab_plan::Schedule;

use super::cells::{boxed, times};
use crate::nouns::capitalised;
use crate::text::LETTERS;
use crate::words::counted;
use crate::{aged, features, table};

/// The ranking of each step that has begun; `None` if the plan ranks nothing.
pub(super) fn rankings(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let rankings = &analysis.rankings;
    (!rankings.is_empty()).then(|| {
        markup! {
            p { (capitalised(LETTERS)) "." }
            @for (index, one) in rankings.iter().enumerate() { (ranking(index, schedule, one)) }
        }
    })
}

fn ranking(index: usize, schedule: &Schedule, ranking: &StepRanking) -> Markup {
    let table = table::places(schedule, ranking);
    let heads = table.header.iter().map(|head| if head.is_empty() { "treatment" } else { head });
    let step = ranking.step.as_ref().map_or(String::new(), |step| format!("Step {step}: "));
    let caption = markup! {
        (step) "by " code { (ranking.metric) } " over " (counted(ranking.phases.len(), "phase"))
        ", " (counted(ranking.n, "block"))
    };
    let body = markup! {
        thead { tr { @for head in heads { th scope="col" { (head) } } } }
        tbody {
            @for row in &table.rows {
                tr {
                    @for (index, cell) in row.iter().enumerate() {
                        @if index == 2 { th scope="row" { (cell) } }
                        @else if index == 3 { td { (times(cell)) } }
                        @else { td { (cell) } }
                    }
                }
            }
        }
    };
    boxed(&format!("ranking-{}", index + 1), "ranking", &caption, &body)
}

/// The file layout of aged filesystems; `None` if nothing was aged.
pub(super) fn layout_scores(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let scores = aged::layout_scores(schedule, analysis)?;
    Some(markup! {
        p { "Layout score before the first phase: " (scores) "." }
        p.about { "The share of blocks, but the first of each file, right behind the one before." }
    })
}

/// The features of each filesystem, if several are compared.
pub(super) fn feature_table(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let compared = features::compared(schedule, analysis);
    let mut sources = Vec::new();
    let rows = features::rows(&compared, &mut sources);
    let body = markup! {
        thead {
            tr {
                th scope="col" { "feature" }
                @for (filesystem, _) in &compared { th scope="col" { (filesystem.name) } }
            }
        }
        tbody {
            @for (name, cells) in rows {
                tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } }
            }
        }
    };
    let caption = markup! { "Limits and features; * was checked in this run, [n] is the source" };
    (!compared.is_empty()).then(|| {
        markup! {
            (boxed("features", "features", &caption, &body))
            details {
                summary { (counted(sources.len(), "source")) }
                ol.sources { @for source in &sources { li { (source) } } }
            }
        }
    })
}

//! The results of power cuts.

use maud::{Markup, html as markup};
use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

use super::cells::boxed;
use crate::cuts::{HEADING, REPRODUCERS, reproducers, table};

/// A row for each treatment, and how to repeat its findings; `None` if there were no power cuts.
pub(super) fn cuts(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let table = table(schedule, analysis)?;
    let rows = markup! {
        thead { tr { @for head in &table.header { th scope="col" { (head) } } } }
        tbody {
            @for row in &table.rows {
                tr {
                    @for (index, cell) in row.iter().enumerate() {
                        @if index == 0 { th scope="row" { (cell) } }
                        @else {
                            td.number {
                                @for line in cell.lines() { (line) br; }
                            }
                        }
                    }
                }
            }
        }
    };
    let reproducers = reproducers(schedule, analysis);
    Some(markup! {
        (boxed("cuts", "cuts", &markup! { (HEADING) }, &rows))
        @if !reproducers.is_empty() {
            p { (REPRODUCERS) }
            ul {
                @for (name, command) in &reproducers {
                    li { (name) ": " code { (command) } }
                }
            }
        }
    })
}

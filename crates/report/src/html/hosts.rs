//! Effects by host.

use maud::{Markup, html as markup};
use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

use super::cells::{boxed, effect};
use crate::grid::ReportTable;
use crate::hosts::{sentences, tables};
use crate::words::Style;

/// Unlimited, because tables that are wider than the page scroll.
pub(super) const STYLE: Style = Style { is_coloured: false, width: Some(u16::MAX) };

/// Hosts by phases, and what follows from them; `None` if fewer than two have measured.
pub(super) fn hosts(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let tables = tables(schedule, analysis, STYLE, &effect);
    let tables =
        tables.iter().flat_map(|(heading, tables)| tables.iter().map(move |t| (heading, t)));
    (!analysis.by_host.is_empty()).then(|| {
        markup! {
            @for (index, (heading, table)) in tables.enumerate() {
                @let id = format!("hosts-{}", index + 1);
                (boxed(&id, "hosts", &markup! { (heading) }, &rows(table)))
            }
            ul { @for says in sentences(schedule, analysis, &effect) { li { (says) } } }
        }
    })
}

pub(super) fn rows(table: &ReportTable) -> Markup {
    markup! {
        thead {
            tr {
                @for (index, head) in table.header.iter().enumerate() {
                    th class=[(index >= table.numbers).then_some("number")] scope="col" { (head) }
                }
            }
        }
        tbody {
            @for row in &table.rows {
                tr {
                    @for (index, cell) in row.iter().enumerate() {
                        @if index == 0 { th scope="row" { (cell) } }
                        @else { td.number { (ratio(cell)) } }
                    }
                }
            }
        }
    }
}

/// A ratio, with the remark on it below.
fn ratio(cell: &str) -> Markup {
    let (ratio, remark) = cell.split_once('\n').unwrap_or((cell, ""));
    markup! { (ratio) @if !remark.is_empty() { small { (remark) } } }
}

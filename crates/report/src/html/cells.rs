//! Tables in their boxes, and cells of treatments and ratios.

use maud::{Markup, html as markup};
use ssdlab_plan::{Factor, Levels, Schedule};

use crate::number;

/// A table in its own box, in which it scrolls if the page is too narrow for it.
pub(super) fn boxed(id: &str, class: &str, caption: &Markup, rows: &Markup) -> Markup {
    markup! {
        div.scroll role="region" aria-labelledby={ (id) "-caption" } tabindex="0" {
            table class=(class) {
                caption id={ (id) "-caption" } { (caption) }
                (rows)
            }
        }
    }
}

/// The factors that treatments differ in, or all if there is one treatment: columns.
pub(super) fn factors(schedule: &Schedule) -> Vec<Factor> {
    let levels = schedule.treatments.first().map(|first| schedule.distinct(&first.levels));
    levels.unwrap_or_default().0.into_keys().collect()
}

/// A treatment's level of a factor.
fn level(levels: &Levels, factor: Factor) -> &str {
    levels.0.get(&factor).map_or("", String::as_str)
}

/// The headers of a treatment's columns.
pub(super) fn factor_heads(factors: &[Factor]) -> Markup {
    markup! { @for factor in factors { th scope="col" { (factor) } } }
}

/// A treatment's cells; the first is the header of its row.
pub(super) fn factor_cells(factors: &[Factor], levels: &Levels) -> Markup {
    markup! {
        @for (index, factor) in factors.iter().enumerate() {
            @if index == 0 { th scope="row" { (level(levels, *factor)) } }
            @else { td { (level(levels, *factor)) } }
        }
    }
}

pub(super) fn effect(ratio: f64, interval: Option<[f64; 2]>) -> String {
    times(&number::effect(ratio, interval))
}

/// A text that begins with a ratio, with the multiplication sign that a terminal may lack.
pub(super) fn times(text: &str) -> String {
    text.strip_prefix('x').map_or_else(|| text.to_owned(), |rest| format!("×{rest}"))
}

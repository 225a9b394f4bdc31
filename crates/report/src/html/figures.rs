//! The charts, each with its text alternative.

use maud::{Markup, PreEscaped, html as markup};

use crate::Chart;

/// The charts; `None` if there is nothing to draw.
pub(super) fn figures(charts: &[Chart]) -> Option<Markup> {
    (!charts.is_empty()).then(|| {
        markup! {
            @for chart in charts {
                figure id={ "chart-" (chart.id) } {
                    div.scroll role="region" aria-label=(chart.title) tabindex="0" {
                        (PreEscaped(&chart.svg))
                    }
                    figcaption { (chart.says) }
                }
            }
        }
    })
}

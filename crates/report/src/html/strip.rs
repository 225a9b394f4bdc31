//! A strip plot: the result on each plausible drive, against the claim's bounds.

use maud::{Markup, html as markup};
use ssdlab_advice::{Judgement, OverDrives};

use crate::number;
use crate::words::counted;

/// Its width and height in user units.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 26.0;
const MARGIN: f64 = 8.0;

/// The strip of a claim, on a logarithmic scale; the published drive is a ring.
pub(super) fn strip(claim: &Judgement, over: &OverDrives) -> Markup {
    let (bounds, ratio) = (claim.bounds(), claim.outcome.ratio());
    let spread = &over.spread;
    let values = || spread.values.iter().copied().chain(ratio);
    let all = || bounds.values().chain(values()).filter(|v| *v > 0.0);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let width = (high / low).ln().max(1e-9);
    let place = |value: f64| {
        let share = ((value / low).ln() / width).clamp(0.0, 1.0);
        format!("{:.1}", MARGIN + share * (WIDTH - 2.0 * MARGIN))
    };
    let shown = |value: f64| number::claimed(&claim.claim, value);
    let middle = HEIGHT / 2.0;
    let also = if over.published.is_some() { "the published drive and " } else { "" };
    let says = format!(
        "{also}{} from {} to {}",
        counted(over.of, "plausible drive"),
        shown(spread.least),
        shown(spread.most)
    );
    markup! {
        svg.strip viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(says) {
            line.axis x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(middle) y2=(middle) {}
            @for bound in bounds.values() {
                line.bound x1=(place(bound)) x2=(place(bound)) y1="2" y2=(HEIGHT - 2.0) {
                    title { "claimed: " (shown(bound)) }
                }
            }
            @for value in &spread.values {
                circle.(if bounds.allow(*value) { "holds" } else { "refuted" })
                    cx=(place(*value)) cy=(middle) r="4" { title { (shown(*value)) } }
            }
            @if let (Some(_), Some(own)) = (over.published, ratio) {
                circle.own cx=(place(own)) cy=(middle) r="7" {
                    title { "the published drive: " (shown(own)) }
                }
            }
        }
    }
}

//! The claims with their verdicts and results on plausible drives, and the settings that follow.

use std::collections::BTreeSet;

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, Judgement, OverDrives, RecommendedSetting, Verdict};

use super::cells::times;
use crate::claims::{ClaimCase, ReportedClaim, advice};
use crate::screen::mark;
use crate::words::counted;
use crate::{evidence, number};

/// The settings that follow; `None` if no verdict has one.
pub(super) fn settings(analysis: &Analysis, claims: &[ReportedClaim<'_>]) -> Option<Markup> {
    let place = |id: &String| {
        claims.iter().position(|claim| claim.cases.iter().any(|case| case.judgement.id == *id))
    };
    let setting = |setting: &RecommendedSetting| {
        let from: BTreeSet<usize> = setting.claims.iter().filter_map(place).collect();
        markup! {
            li {
                (advice(setting))
                @for from in from {
                    " " a.from href={ "#claim-" (from + 1) } { "from claim " (from + 1) }
                }
            }
        }
    };
    (!analysis.settings.is_empty()).then(|| {
        markup! { ul.settings { @for one in &analysis.settings { (setting(one)) } } }
    })
}

/// The claims; `None` if the plan makes none.
pub(super) fn claims(claims: &[ReportedClaim<'_>]) -> Option<Markup> {
    (!claims.is_empty()).then(|| {
        markup! {
            ol.claims {
                @for (index, one) in claims.iter().enumerate() { (claim(index, one)) }
            }
        }
    })
}

/// A line that opens: verdict, claim and number, and below what the verdict rests on.
fn claim(index: usize, claim: &ReportedClaim<'_>) -> Markup {
    let first = claim.cases[0].judgement;
    let is_one = claim.cases.len() == 1;
    markup! {
        li id={ "claim-" (index + 1) } {
            details {
                summary {
                    @if is_one { (verdict(first.outcome.verdict())) }
                    @else { span.verdict { (counted(claim.cases.len(), "case")) } }
                    span.says { (claim.says) }
                    @if let Some(amount) = evidence::amount(first).filter(|_| is_one) {
                        span.amount { (times(&amount)) }
                    }
                }
                @for says in &claim.shared { p.about { (times(says)) } }
                p.about {
                    (measured(first)) @if is_one { ": " (claim.cases[0].sides) }
                }
                @for one in &claim.cases {
                    @if !is_one { p { (verdict(one.judgement.outcome.verdict())) " " (one.sides) } }
                    (found(one))
                }
            }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let word = verdict.to_string();
    markup! {
        span.verdict.(word) { span aria-hidden="true" { (mark(verdict)) } " " (word) }
    }
}

fn found(case: &ClaimCase<'_>) -> Markup {
    markup! {
        @if !case.evidence.is_empty() { p.evidence { (times(&case.evidence)) } }
        @if let Some(over) = &case.judgement.plausible { (strip(case.judgement, over)) }
        @if let Some(reason) = &case.reason { p.reason { (reason) } }
    }
}

fn measured(Judgement { claim, .. }: &Judgement) -> Markup {
    let against = claim.against_phase.as_ref();
    markup! {
        code { (claim.metric) } " of " (claim.phases.join(" + "))
        @if let Some(phase) = against { " against " (phase) }
    }
}

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

//! The claims with their verdicts, and the settings that follow from them.

use std::collections::BTreeSet;

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, Judgement, RecommendedSetting, Verdict};

use super::cells::times;
use super::strip::strip;
use crate::claims::{ClaimCase, ReportedClaim, advice};
use crate::evidence;
use crate::screen::mark;
use crate::words::counted;

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

//! The claims with their verdicts, and the settings that follow from them.

use std::collections::BTreeSet;

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, Judgement, RecommendedSetting, Verdict};

use super::cells::times;
use super::strip::strip;
use crate::claims::{ClaimCase, ReportedClaim, advice};
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

fn claim(index: usize, claim: &ReportedClaim<'_>) -> Markup {
    let is_one = claim.cases.len() == 1;
    markup! {
        li id={ "claim-" (index + 1) } {
            @if !is_one {
                p.verdict { (counted(claim.cases.len(), "case")) }
                div {
                    p.says { (claim.says) }
                    @for says in &claim.shared { p.about { (times(says)) } }
                    p.about { (measured(claim.cases[0].judgement)) }
                }
            }
            @for one in &claim.cases {
                @if is_one { (only_case(one, claim.says)) } @else { (case(one)) }
            }
        }
    }
}

fn only_case(case: &ClaimCase<'_>, says: &str) -> Markup {
    markup! {
        (verdict(case.judgement.outcome.verdict()))
        div {
            p.says { (says) }
            (found(case))
            p.about { (measured(case.judgement)) ": " (case.sides) }
        }
    }
}

fn case(case: &ClaimCase<'_>) -> Markup {
    markup! {
        (verdict(case.judgement.outcome.verdict()))
        div {
            p { (case.sides) }
            (found(case))
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let word = verdict.to_string();
    markup! {
        p.verdict.(word) { span aria-hidden="true" { (symbol(verdict)) } " " (word) }
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

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "✓",
        Verdict::Refuted => "✗",
        Verdict::Depends => "◐",
        Verdict::Undecided => "?",
        Verdict::Identical => "=",
        Verdict::Untested => "–",
    }
}

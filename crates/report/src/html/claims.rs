//! The claims with their verdicts, and the settings that follow from them.

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, Judgement, RecommendedSetting, Verdict};
use ssdlab_plan::Schedule;

use super::strip::strip;
use super::times;
use crate::evidence::{compared, evidence};
use crate::reason::reasons;

/// The settings that follow; none where no verdict has one.
pub(super) fn settings(analysis: &Analysis) -> Option<Markup> {
    let place = |id: &String| analysis.claims.iter().position(|claim| claim.id == *id);
    let setting = |setting: &RecommendedSetting| {
        let from: Vec<usize> = setting.claims.iter().filter_map(place).collect();
        markup! {
            li {
                (setting.says)
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

/// The claims; none where the plan makes none.
pub(super) fn claims(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let claims = analysis.claims.iter().zip(reasons(analysis)).enumerate();
    (!analysis.claims.is_empty()).then(|| {
        markup! {
            ol.claims {
                @for (index, (one, reason)) in claims {
                    (claim(schedule, index, one, reason.as_deref()))
                }
            }
        }
    })
}

fn claim(schedule: &Schedule, index: usize, claim: &Judgement, reason: Option<&str>) -> Markup {
    let word = claim.verdict.to_string();
    markup! {
        li id={ "claim-" (index + 1) } {
            p.verdict.(word) { span aria-hidden="true" { (symbol(claim.verdict)) } " " (word) }
            div {
                p.says { (claim.says) }
                p.evidence { (times(&evidence(claim))) }
                @if let Some(over) = &claim.plausible { (strip(claim, over)) }
                @if let Some(reason) = reason { p.reason { (reason) } }
                p.about {
                    code { (claim.metric) } " of " (claim.phases.join(" + "))
                    ": " (compared(schedule, claim))
                }
            }
        }
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

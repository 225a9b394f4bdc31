//! The claims with their verdicts, and the settings that follow from them.

use maud::{Markup, html as markup};

use super::times;
use crate::advice::{Analysis, Judgement, Setting, Verdict};
use crate::plan::Levels;
use crate::report::evidence::evidence;

/// The settings that follow; none where no verdict has one.
pub(super) fn settings(analysis: &Analysis) -> Option<Markup> {
    let setting = |setting: &Setting| {
        let from = analysis.claims.iter().position(|claim| claim.id == setting.claim);
        markup! {
            li {
                (setting.says)
                @if let Some(from) = from {
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
pub(super) fn claims(analysis: &Analysis) -> Option<Markup> {
    let claims = analysis.claims.iter().enumerate();
    (!analysis.claims.is_empty()).then(|| {
        markup! { ol.claims { @for (index, one) in claims { (claim(index, one)) } } }
    })
}

fn claim(index: usize, claim: &Judgement) -> Markup {
    let word = claim.verdict.to_string();
    markup! {
        li id={ "claim-" (index + 1) } {
            p.verdict.(word) { span aria-hidden="true" { (symbol(claim.verdict)) } " " (word) }
            div {
                p.says { (claim.says) }
                p.evidence { (times(&evidence(claim))) }
                p.about {
                    code { (claim.metric) } " of " (claim.phases.join(" + "))
                    @if let Some(levels) = &claim.levels { "; " (sides(claim, levels)) }
                }
            }
        }
    }
}

/// What is compared with what, by the levels in which the sides differ.
fn sides(claim: &Judgement, levels: &Levels) -> String {
    let Some(baseline) = &claim.baseline else { return levels.to_string() };
    let differs = |levels: &Levels, other: &Levels| {
        let mut own = levels.clone();
        own.0.retain(|factor, level| other.0.get(factor) != Some(level));
        own.to_string()
    };
    format!("{} against {}", differs(levels, baseline), differs(baseline, levels))
}

fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "✓",
        Verdict::Refuted => "✗",
        Verdict::Undecided => "?",
    }
}

//! What a verdict rests on, in words: what was found, what was claimed, what is missing.

use super::number;
use super::text::counted;
use crate::advice::{Judgement, Verdict};

/// The evidence of a claim.
pub(super) fn evidence(claim: &Judgement) -> String {
    let mut parts = Vec::new();
    if let Some(ratio) = claim.ratio {
        let found = if claim.is_absolute {
            number::measured(&claim.metric, ratio, claim.interval)
        } else {
            number::effect(ratio, claim.interval)
        };
        let scope = claim.scope.as_ref().map_or(String::new(), |scope| format!(" ({scope})"));
        parts.push(format!("{found}, n = {}", claim.n));
        parts.push(format!("claimed: {}{scope}", bounds(claim)));
        if !claim.not_measured.is_empty() {
            parts.push(format!("not measured: {}", claim.not_measured.join(", ")));
        }
    }
    if claim.verdict == Verdict::Undecided {
        parts.push(match (&claim.reason, claim.more_runs) {
            (Some(reason), _) => reason.clone(),
            (None, Some(runs)) => format!("about {}", counted(runs as usize, "more run")),
            (None, None) => "no number of runs would tell".to_owned(),
        });
    }
    parts.join("; ")
}

fn bounds(claim: &Judgement) -> String {
    let metric = claim.metric.as_str();
    let shown = |bound: f64| {
        if claim.is_absolute { number::value(metric, bound) } else { number::ratio(bound) }
    };
    match (claim.at_least, claim.at_most) {
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => String::new(),
    }
}

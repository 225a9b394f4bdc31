//! What a verdict rests on, in words: what was found, what was claimed, what is missing.

use ssdlab_advice::{Judgement, Verdict};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::number;
use super::plausible;
use super::words::counted;

/// The evidence of a claim, in parts to be joined.
pub(super) fn evidence(claim: &Judgement) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(found) = found(claim) {
        let scope = claim.scope.as_ref().map_or(String::new(), |scope| format!(" ({scope})"));
        let hosts =
            claim.across_hosts.map_or(String::new(), |hosts| format!(" across {hosts} hosts"));
        let equal = claim.may_differ().map_or(String::new(), |share| {
            format!(", all equal (up to {:.0} % of other runs may differ)", 100.0 * share)
        });
        match &claim.plausible {
            Some(over) => {
                let own = over.published.map(|_| format!("{found} on the published drive"));
                parts.extend(own);
                parts.extend(plausible::evidence(claim, over));
            }
            None if claim.against_nothing.is_some() => parts.push(found),
            None => parts.push(format!("{found}{hosts}, n = {}{equal}", claim.n)),
        }
        parts.push(format!("claimed: {}{scope}", bounds(claim)));
        if let (Some(published), Some(basis)) = (claim.published, claim.basis) {
            parts.push(format!("published: {} ({basis})", number::claimed(claim, published)));
        }
        if !claim.not_measured.is_empty() {
            parts.push(format!("not measured: {}", claim.not_measured.join(", ")));
        }
    }
    parts.extend(plausible::flips(claim));
    parts.extend(why_open(claim));
    if claim.left_open > 0 && claim.p.is_some() {
        let runs = counted(claim.left_open as usize, "earlier run");
        parts.push(format!("{runs} left it undecided, so the threshold is stricter"));
    }
    if let Some(from) = &claim.by_construction {
        parts.push(format!("by construction: {from}"));
    }
    if let Some(known) = &claim.exploratory {
        parts.push(format!("exploratory: {known}"));
    }
    parts
}

/// What was found: a ratio or a value with its interval, or what is against nothing.
fn found(claim: &Judgement) -> Option<String> {
    let Some(ratio) = claim.ratio else {
        let found = claim.against_nothing.as_ref()?;
        return Some(number::against_nothing(&claim.metric, found));
    };
    Some(if claim.is_absolute {
        number::measured(&claim.metric, ratio, claim.interval)
    } else {
        number::effect(ratio, claim.interval)
    })
}

/// Why there is no verdict.
pub(super) fn why_open(claim: &Judgement) -> Option<String> {
    match claim.verdict {
        Verdict::Holds | Verdict::Refuted | Verdict::Depends => None,
        Verdict::Undecided => Some(match (&claim.reason, claim.more_runs) {
            (Some(reason), _) => reason.clone(),
            (None, Some(runs)) => format!("about {}", counted(runs as usize, "more run")),
            (None, None) => "no number of runs would tell".to_owned(),
        }),
        Verdict::Identical => claim.reason.clone(),
        Verdict::Untested => {
            let why = claim.reason.as_deref().unwrap_or_default();
            Some(format!("not testable here: {why}"))
        }
    }
}

/// The verdict so far, which way the number leans if there is none, and the number.
pub(super) fn so_far(claim: &Judgement) -> String {
    let verdict = claim.verdict;
    let (Some(ratio), Some(amount)) = (claim.found(), amount(claim)) else {
        return verdict.to_string();
    };
    let leans = match (verdict, claim.allows(ratio)) {
        (Verdict::Undecided, true) => ", leans to holds",
        (Verdict::Undecided, false) => ", leans to refuted",
        _ => "",
    };
    if claim.ratio.is_none() {
        return format!("{verdict}{leans}: {amount}");
    }
    let n = claim
        .plausible
        .as_ref()
        .map_or_else(|| format!("n = {}", claim.n), |over| counted(over.of, "plausible drive"));
    format!("{verdict}{leans}: {amount}, {n}")
}

/// The number that was found, with its range, and what was claimed of it.
pub(super) fn amount(claim: &Judgement) -> Option<String> {
    let found = found(claim)?;
    let amount = match (&claim.plausible, claim.ratio) {
        (Some(over), Some(ratio)) => {
            let times = if claim.is_absolute { "" } else { "x" };
            let own = number::claimed(claim, ratio);
            format!("{times}{own} ({})", plausible::range(claim, &over.spread))
        }
        _ => found,
    };
    Some(format!("{amount}, claimed: {}", bounds(claim)))
}

/// The levels in which a treatment differs from another, those of the other, and those that both
/// share but not all treatments have.
pub(super) fn sides(schedule: &Schedule, levels: &Levels, baseline: &Levels) -> [String; 3] {
    let differs = |factor: &Factor| levels.0.get(factor) != baseline.0.get(factor);
    let shared = schedule.distinct(levels).only(|factor| !differs(factor));
    [levels.only(differs), baseline.only(differs), shared].map(|part| part.to_string())
}

fn bounds(claim: &Judgement) -> String {
    let shown = |bound: f64| number::claimed(claim, bound);
    match (claim.at_least, claim.at_most) {
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => String::new(),
    }
}

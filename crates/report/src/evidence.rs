//! What a verdict rests on, in words: what was found, what was claimed, what is missing.

use ssdlab_advice::{ClaimEstimate, EstimatedValue, Judgement, OpenReason, Verdict};
use ssdlab_plan::schedule::{Bounds, Claim};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::number;
use super::plausible;
use super::words::counted;

/// The evidence of a claim, in parts to be joined.
pub(super) fn evidence(claim: &Judgement) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some((estimate, found)) = claim.outcome.estimate().zip(found(claim)) {
        let scope = claim.scope.map_or(String::new(), |scope| format!(" ({scope})"));
        let equal = claim.may_differ().map_or(String::new(), |share| {
            format!(", all equal (up to {:.0} % of other runs may differ)", 100.0 * share)
        });
        match &claim.plausible {
            Some(over) => {
                let own = over.published.map(|_| format!("{found} on the published drive"));
                parts.extend(own);
                parts.extend(plausible::evidence(claim, over));
            }
            None if matches!(estimate.found, EstimatedValue::AgainstNothing(_)) => {
                parts.push(found);
            }
            None => {
                let hosts = estimate.across_hosts;
                let hosts = hosts.map_or(String::new(), |hosts| format!(" across {hosts} hosts"));
                parts.push(format!("{found}{hosts}, n = {}{equal}", estimate.n));
            }
        }
        parts.push(format!("claimed: {}{scope}", bounds(claim, number::claimed)));
        if let Some(published) = claim.claim.published {
            let published = number::claimed(&claim.claim, published);
            parts.push(format!("published: {published} ({})", claim.claim.basis()));
        }
        if !claim.not_measured.is_empty() {
            parts.push(format!("not measured: {}", claim.not_measured.join(", ")));
        }
    }
    parts.extend(plausible::flips(claim));
    parts.extend(why_open(claim));
    if claim.claim.left_open > 0 && claim.outcome.p().is_some() {
        let runs = counted(claim.claim.left_open as usize, "earlier run");
        parts.push(format!("{runs} left it undecided, so the threshold is stricter"));
    }
    if let Some(from) = &claim.by_construction {
        parts.push(format!("by construction: {from}"));
    }
    if let Some(known) = &claim.claim.exploratory {
        parts.push(format!("exploratory: {known}"));
    }
    parts
}

/// What was found: a ratio or a value with its interval, or what is against nothing.
pub(super) fn found(Judgement { claim, outcome, .. }: &Judgement) -> Option<String> {
    Some(match &outcome.estimate()?.found {
        EstimatedValue::AgainstNothing(found) => number::against_nothing(claim.metric, found),
        EstimatedValue::Ratio { ratio, interval } if claim.is_absolute() => {
            number::measured(claim.metric, *ratio, *interval)
        }
        EstimatedValue::Ratio { ratio, interval } => number::effect(*ratio, *interval),
    })
}

/// Why there is no verdict.
pub(super) fn why_open(claim: &Judgement) -> Option<String> {
    Some(match claim.outcome.why()? {
        OpenReason::Untested(why) => format!("not testable here: {why}"),
        OpenReason::Runs(Some(runs)) => format!("about {}", counted(*runs as usize, "more run")),
        OpenReason::Runs(None) => "no number of runs would tell".to_owned(),
        why @ (OpenReason::Identical | OpenReason::Reason(..)) => why.reason()?.to_owned(),
    })
}

/// The verdict so far, which way the number leans if there is none, and the number.
pub(super) fn so_far(claim: &Judgement) -> String {
    let verdict = claim.outcome.verdict();
    let Some((ClaimEstimate { found, n, .. }, amount)) =
        claim.outcome.estimate().zip(amount(claim))
    else {
        return verdict.to_string();
    };
    let leans = match (verdict, claim.bounds().allow(found.ratio())) {
        (Verdict::Undecided, true) => ", leans to holds",
        (Verdict::Undecided, false) => ", leans to refuted",
        _ => "",
    };
    if matches!(found, EstimatedValue::AgainstNothing(_)) {
        return format!("{verdict}{leans}: {amount}");
    }
    let n = claim
        .plausible
        .as_ref()
        .map_or_else(|| format!("n = {n}"), |over| counted(over.of, "plausible drive"));
    format!("{verdict}{leans}: {amount}, {n}")
}

/// The number that was found, with its range, and what was claimed of it.
pub(super) fn amount(claim: &Judgement) -> Option<String> {
    let found = found(claim)?;
    let amount = match (&claim.plausible, claim.outcome.ratio()) {
        (Some(over), Some(ratio)) => {
            let times = if claim.claim.is_absolute() { "" } else { "x" };
            let own = number::claimed(&claim.claim, ratio);
            format!("{times}{own} ({})", plausible::range(claim, &over.spread))
        }
        _ => found,
    };
    Some(format!("{amount}, claimed: {}", bounds(claim, number::claimed)))
}

/// The levels in which a treatment differs from another, those of the other, and those that both
/// share but not all treatments have.
pub(super) fn sides(schedule: &Schedule, levels: &Levels, baseline: &Levels) -> [String; 3] {
    let differs = |factor: &Factor| levels.0.get(factor) != baseline.0.get(factor);
    let shared = schedule.distinct(levels).only(|factor| !differs(factor));
    [levels.only(differs), baseline.only(differs), shared].map(|part| part.to_string())
}

/// What a claim demands, given how its numbers are written.
pub(super) fn bounds(claim: &Judgement, shown: impl Fn(&Claim, f64) -> String) -> String {
    let shown = |bound: f64| shown(&claim.claim, bound);
    match claim.bounds() {
        Bounds::Between(low, high) => format!("{} to {}", shown(low), shown(high)),
        Bounds::AtLeast(low) => format!("at least {}", shown(low)),
        Bounds::AtMost(high) => format!("at most {}", shown(high)),
    }
}

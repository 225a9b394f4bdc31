//! Sentences for plans that have none of their own: one for each claim that decides, the largest
//! effect, or what was measured of a single treatment.

use std::collections::BTreeSet;

use ssdlab_advice::{
    Analysis, Effect, FEWEST_RUNS, Judgement, MetricSummary, NoRatio, OpenReason, PhaseSummary,
    Verdict, ZeroComparison,
};
use ssdlab_plan::{ClaimFact, Factor, Levels, Schedule};
use ssdlab_quantity::listed;

use super::facts::ClaimFacts;
use super::ranking::is_negligible;
use crate::claims::varied;
use crate::evidence::{sides, why_open};
use crate::nouns::{capitalised, listed_levels, noun, over, phases};
use crate::number;
use crate::words::counted;

/// The claims that decide, a sentence each.
pub(super) fn claims(
    schedule: &Schedule,
    analysis: &Analysis,
    deciding: &[Vec<&Judgement>],
) -> String {
    let mut says: Vec<String> = Vec::new();
    for cases in deciding {
        let own = untested(cases).unwrap_or_else(|| claim(schedule, analysis, cases));
        if !says.contains(&own) {
            says.push(own);
        }
    }
    says.join(" ")
}

/// Why a claim could not be tested in any case, if it could not: its number would say nothing.
fn untested(cases: &[&Judgement]) -> Option<String> {
    let why = cases.first()?.outcome.why()?;
    let is_untested = |case: &&Judgement| case.outcome.verdict() == Verdict::Untested;
    let reason = why.reason().filter(|_| cases.iter().all(is_untested))?;
    Some(format!("{}.", capitalised(reason)))
}

fn claim(schedule: &Schedule, analysis: &Analysis, cases: &[&Judgement]) -> String {
    let is_known = |case: &&&Judgement| case.outcome.estimate().is_some();
    let (known, unknown): (Vec<&Judgement>, Vec<&Judgement>) = cases.iter().partition(is_known);
    let says = known_cases(schedule, analysis, if known.is_empty() { cases } else { &known });
    let Some(first) = unknown.first().filter(|_| !known.is_empty()) else { return says };
    let varied = varied(cases);
    let name = |case: &&Judgement| {
        let levels = case.levels.clone().unwrap_or_default();
        listed_levels(&levels.only(|factor| varied.contains(factor)))
    };
    let names: Vec<String> = unknown.iter().map(name).collect();
    let why = why_open(first).unwrap_or_else(|| "it was not measured".to_owned());
    format!("{says} Not known for {}: {why}.", listed(&names))
}

/// The maximum number of cases that are named where their verdicts differ.
const MOST_CASES: usize = 4;

fn known_cases(schedule: &Schedule, analysis: &Analysis, cases: &[&Judgement]) -> String {
    let Some(first) = cases.first() else { return String::new() };
    let varied = varied(cases);
    let verdict = |case: &Judgement| case.outcome.verdict();
    let differ = cases.iter().any(|case| verdict(case) != verdict(first));
    let are_named = differ && !varied.is_empty() && cases.len() <= MOST_CASES;
    let facts = ClaimFacts { schedule, analysis, cases };
    let find = |what: ClaimFact| {
        if are_named { facts.each(what) } else { facts.find(what) }
    };
    let claim = &first.claim;
    let (own, other) = named(schedule, first);
    let with = |levels: &Levels| {
        if levels.0.is_empty() { String::new() } else { format!(" with {}", listed_levels(levels)) }
    };
    let in_cases = match cases.len() {
        several if several > 1 && !are_named => format!(" in {several} cases"),
        _ => String::new(),
    };
    let is_duration = claim.metric.source.is_duration();
    let (own_with, over_own) = (with(&own), over(&claim.phases));
    let against = match &claim.against_phase {
        Some(phase) => format!(" that in {}{}", phases(std::slice::from_ref(phase)), with(&other)),
        None if other.0.is_empty() => String::new(),
        None => format!(" that{}", with(&other)),
    };
    let noun = noun(claim.metric);
    let found = match (find(ClaimFact::Times), find(ClaimFact::Value)) {
        (Some(times), _) if is_duration => {
            let take = if claim.phases.len() == 1 { "takes" } else { "take" };
            let than = claim.against_phase.as_ref();
            let than = than.map_or(String::new(), |than| format!(" {}", than.replace('_', " ")));
            let than = format!("{than}{}", with(&other));
            let than = if than.is_empty() { than } else { format!(" as{than}") };
            let phases = phases(&claim.phases);
            format!("{phases}{own_with} {take} {times} as long{than}{in_cases}")
        }
        (Some(times), _) => format!("{noun} {over_own}{own_with} is {times}{against}{in_cases}"),
        (None, Some(value)) => {
            let against = find(ClaimFact::Against);
            let against = against.map_or(String::new(), |other| format!(", against {other}"));
            format!("{noun} {over_own}{own_with} is {value}{against}{in_cases}")
        }
        (None, None) => {
            let why = why_open(first).unwrap_or_else(|| "it was not measured".to_owned());
            let what = capitalised(&noun);
            return format!("{what} {over_own}{own_with} is not known. {}.", capitalised(&why));
        }
    };
    let open = match (first.outcome.verdict(), first.outcome.why()) {
        (Verdict::Undecided, Some(OpenReason::Runs(Some(runs)))) => {
            format!(" About {} may decide.", counted(*runs as usize, "more run"))
        }
        _ => String::new(),
    };
    format!("{}.{open}", capitalised(&found))
}

/// The levels of both sides by which they differ.
fn named(schedule: &Schedule, case: &Judgement) -> (Levels, Levels) {
    let (Some(levels), baseline) = (&case.levels, &case.baseline) else {
        return (case.claim.compare.clone(), case.claim.against.clone());
    };
    let differs = |factor: &Factor| match baseline {
        Some(baseline) => levels.0.get(factor) != baseline.0.get(factor),
        None => case.claim.compare.0.contains_key(factor),
    };
    let own = schedule.distinct(levels).only(differs);
    // What is as in the baseline needs no name, unless nothing else has one.
    let is_special = |factor: &Factor| schedule.baseline.0.get(factor) != levels.0.get(factor);
    let special = own.only(is_special);
    let is_alone = special.0.is_empty() && own.0.len() == 1;
    let own = if baseline.is_some() || is_alone { own } else { special };
    (own, baseline.as_ref().map(|other| other.only(differs)).unwrap_or_default())
}

/// What was measured of the only treatment; `None` if there are others.
pub(super) fn alone(analysis: &Analysis) -> Option<String> {
    let [only] = &analysis.treatments[..] else { return None };
    let metric = analysis.metric;
    let of = |phase: &PhaseSummary| Some((phase.name.clone(), *phase.metrics.get(&metric)?));
    let measured: Vec<(String, MetricSummary)> = only.summary.iter().filter_map(of).collect();
    let n = measured.first()?.1.n;
    let says = |(phase, found): &(String, MetricSummary)| {
        format!("{} in {}", number::value(metric, found.mean), phase.replace('_', " "))
    };
    let says: Vec<String> = measured.iter().map(says).collect();
    let runs = counted(n, "run");
    Some(format!("{} is {} ({runs}).", capitalised(&noun(metric)), listed(&says)))
}

/// A ratio of something to next to nothing, such as the time until an idle drive is quiet.
const OF_NOTHING: f64 = 1e6;

/// The largest of the effects on the plan's metric that are shown; a ratio to next to nothing only
/// if there is no other.
pub(super) fn largest(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    if let Some(found) = against_nothing(schedule, analysis) {
        return Some(found);
    }
    let waits = waits(schedule);
    let is_of_metric = |effect: &&Effect| {
        let is_of_a_wait = || effect.phases.iter().any(|phase| waits.contains(phase));
        let is_duration = effect.metric.source.is_duration();
        effect.metric == analysis.metric && !(is_duration && is_of_a_wait())
    };
    let metric = noun(analysis.metric);
    let effects: Vec<&Effect> = analysis.effects.iter().filter(is_of_metric).collect();
    if effects.is_empty() {
        return None;
    }
    let size = |effect: &Effect| effect.ratio.ln().abs();
    let rank = |effect: &Effect| (size(effect) < OF_NOTHING.ln(), size(effect));
    let shown = effects.into_iter().filter(|effect| effect.is_shown());
    let Some(effect) = shown.max_by(|one, other| {
        let ((is_one, one), (is_other, other)) = (rank(one), rank(other));
        is_one.cmp(&is_other).then(one.total_cmp(&other))
    }) else {
        let most = analysis.treatments.iter().map(|own| own.trials.len()).max().unwrap_or(0);
        return Some(if most >= FEWEST_RUNS || analysis.plausible_drives > 0 {
            format!("No effect on {metric} is shown.")
        } else {
            let runs = counted(most, "run");
            format!("{runs} of each cannot show an effect on {metric}: that takes {FEWEST_RUNS}.")
        });
    };
    let times = number::spoken_ratio(effect.ratio);
    if is_negligible(effect.ratio) {
        return Some(format!(
            "No difference in {metric} matters: the largest is {times} times the baseline's."
        ));
    }
    let [changed, from, context] = sides(schedule, &effect.levels, &effect.baseline);
    let context = if context.is_empty() { context } else { format!(" ({context})") };
    Some(format!(
        "The largest difference: with {changed} {metric} {} is {times} times that with \
         {from}{context}.",
        over(&effect.phases),
    ))
}

/// The largest of the differences of the plan's metric of which one side has nothing in every run,
/// if there are runs enough; `None` if there is none.
fn against_nothing(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let is_shown = |own: &&NoRatio| {
        let ZeroComparison { in_runs, of, .. } = own.found;
        in_runs == of && (of >= FEWEST_RUNS || analysis.plausible_drives > 0)
    };
    let amount = |own: &NoRatio| own.found.own.max(own.found.other.unwrap_or(0.0));
    let shown = analysis.without_ratio.iter().filter(is_shown);
    let largest = shown.max_by(|one, other| amount(one).total_cmp(&amount(other)))?;
    let [changed, from, context] = sides(schedule, &largest.levels, &largest.baseline);
    let context = if context.is_empty() { context } else { format!(" ({context})") };
    Some(format!(
        "{} in {} with {changed} against {from}{context} is {}.",
        capitalised(&noun(analysis.metric)),
        largest.phase.replace('_', " "),
        number::against_nothing(analysis.metric, &largest.found)
    ))
}

/// The phases that wait: the plan decides how long.
fn waits(schedule: &Schedule) -> BTreeSet<String> {
    let phases = (0..schedule.treatments.len()).flat_map(|index| schedule.phases(index));
    phases.filter(|phase| phase.idle().is_some()).map(|phase| phase.name).collect()
}

//! The answer of a run: its first sentence in every report, and what else was found.
//!
//! The sentence combines the claims that the plan names for it, or the ranking, each with its
//! number, its range and its main cause.

use std::collections::BTreeSet;

use ssdlab_advice::{
    Analysis, Completeness, Effect, FEWEST_RUNS, MetricSummary, NoRatio, PhaseSummary,
    RankedTreatment, StepRanking, TreatmentResult, TreatmentStatus, Verdict, ZeroComparison,
    are_by_construction,
};
use ssdlab_plan::{Factor, Levels, Schedule};
use ssdlab_quantity::listed;

use super::answering::{claims, listed_levels, noun, over};
use super::cuts;
use super::evidence::sides;
use super::levels::label;
use super::number;
use super::plausible;
use super::reason::{ReasonSide, main_reason};
use super::words::counted;

/// The answer of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The answer to the question, in one sentence.
    pub sentence: String,
    /// Other results, in sentences of their own.
    pub more: Option<String>,
}

/// The answer; what limits it comes first.
#[must_use]
pub fn answer(schedule: &Schedule, analysis: &Analysis) -> Answer {
    let measured = analysis.treatments.iter().filter(|own| own.status == TreatmentStatus::Ok);
    let measured = measured.count();
    if measured == 0 {
        return Answer { sentence: sentence(schedule, analysis, &nothing(analysis)), more: None };
    }
    // Whoever cuts the power asks what is lost.
    let losses = analysis.claims.is_empty().then(|| cuts::losses(schedule, analysis)).flatten();
    let has_losses = losses.is_some();
    let found = [
        best(schedule, analysis),
        claims(schedule, analysis),
        verdicts(analysis),
        losses,
        largest(schedule, analysis),
    ];
    let mut found: Vec<String> = found.into_iter().flatten().collect();
    // If nothing answers the question by itself, all findings together have to.
    let is_answered = !analysis.rankings.is_empty() || !schedule.answer.is_empty() || has_losses;
    let more = found.split_off(if is_answered { 1.min(found.len()) } else { found.len() });
    let more = more.iter().map(|more| format!("{}.", capitalised(more))).collect::<Vec<_>>();
    let more = (!more.is_empty()).then(|| more.join(" "));
    let first = if found.is_empty() {
        alone(analysis).unwrap_or_else(|| {
            format!("{} measured, and nothing to compare", counted(measured, "treatment"))
        })
    } else {
        found.join("; ")
    };
    Answer { sentence: sentence(schedule, analysis, &first), more }
}

fn sentence(schedule: &Schedule, analysis: &Analysis, answer: &str) -> String {
    match analysis.status {
        Completeness::Complete => format!("{}.", capitalised(answer)),
        Completeness::Partial => {
            let ran: usize = analysis.treatments.iter().map(|own| own.trials.len()).sum();
            let all = schedule.expected_trials().max(ran);
            format!("Partial, {ran} of at least {all} trials have run: {answer}.")
        }
    }
}

fn nothing(analysis: &Analysis) -> String {
    let reason = analysis.treatments.iter().find_map(|treatment| treatment.reason.as_deref());
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    format!("nothing could be measured{reason}")
}

/// What was measured of the only treatment; `None` if there are others.
fn alone(analysis: &Analysis) -> Option<String> {
    let [only] = &analysis.treatments[..] else { return None };
    let metric = analysis.metric;
    let of = |phase: &PhaseSummary| Some((phase.name.clone(), *phase.metrics.get(&metric)?));
    let measured: Vec<(String, MetricSummary)> = only.summary.iter().filter_map(of).collect();
    let n = measured.first()?.1.n;
    let says = |(phase, found): &(String, MetricSummary)| {
        format!("{} in {phase}", number::value(metric, found.mean))
    };
    let says: Vec<String> = measured.iter().map(says).collect();
    Some(format!("{} is {} (n = {n})", noun(metric), listed(&says)))
}

/// How many claims came out how, as a clause; `None` if there are none.
pub(super) fn verdicts(analysis: &Analysis) -> Option<String> {
    let count = |verdict: Verdict| {
        analysis.claims.iter().filter(|c| c.outcome.verdict() == verdict).count()
    };
    let all = analysis.claims.len();
    let [holds, refuted, depends, undecided, identical, untested] = Verdict::ALL.map(count);
    let is = |count: usize| if count == 1 { "is" } else { "are" };
    let mut parts = vec![match (all, holds) {
        (0, _) => return None,
        (1, 1) => "the claim holds".to_owned(),
        (1, _) if depends == 1 => return Some("the claim depends on the drive".to_owned()),
        (1, _) => return Some(format!("the claim is {}", analysis.claims[0].outcome.verdict())),
        _ if holds == all => format!("all {all} claims hold"),
        _ => format!("{holds} of {all} claims {}", if holds == 1 { "holds" } else { "hold" }),
    }];
    if depends > 0 {
        let depend = if depends == 1 { "depends" } else { "depend" };
        parts.push(format!("{depends} {depend} on the drive"));
    }
    let others = [
        (refuted, Verdict::Refuted),
        (undecided, Verdict::Undecided),
        (identical, Verdict::Identical),
        (untested, Verdict::Untested),
    ];
    for (count, word) in others {
        if count > 0 {
            parts.push(format!("{count} {} {word}", is(count)));
        }
    }
    let word = if are_by_construction(&analysis.claims) && all > 1 {
        " (all by construction)"
    } else {
        ""
    };
    Some(format!("{}{word}", parts.join(", ")))
}

/// The leader of the last ranking, for each combination of the factors that the question is not
/// about, which are those that the baseline does not name.
fn best(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let ranking = analysis.rankings.last()?;
    let mut groups: Vec<(Levels, Vec<&RankedTreatment>)> = Vec::new();
    for place in &ranking.places {
        let is_context = |factor: &Factor| !schedule.baseline.0.contains_key(factor);
        let context = schedule.distinct(&place.levels).only(is_context);
        match groups.iter_mut().find(|(known, _)| *known == context) {
            Some((_, places)) => places.push(place),
            None => groups.push((context, vec![place])),
        }
    }
    let measure =
        format!("{} over {}", noun(ranking.metric), counted(ranking.phases.len(), "phase"));
    let by = format!("the best by {measure}");
    let unranked = unranked(schedule, analysis);
    match &groups[..] {
        [] => None,
        [(_, places)] if places.len() > 1 && are_alike(places) => Some(format!(
            "no difference that matters: by {measure}, {} are within 2 % of one another{unranked}",
            listed(&named(schedule, places))
        )),
        [(_, places)] => {
            let leader = leader(schedule, analysis, ranking, places)?;
            Some(format!("{by} is {leader}{unranked}"))
        }
        _ => {
            let of = |(context, places): &(Levels, Vec<&RankedTreatment>)| {
                let leader = leader_of_group(schedule, analysis, ranking, places)?;
                Some(format!("for {} {leader}", listed_levels(context)))
            };
            let leaders: Vec<String> = groups.iter().filter_map(of).collect();
            Some(format!("{by} is {}{unranked}", leaders.join("; ")))
        }
    }
}

/// The treatments of which nothing was measured, by the reason: a ranking of the others does not
/// answer for them.
fn unranked(schedule: &Schedule, analysis: &Analysis) -> String {
    let is_lost = |own: &&TreatmentResult| {
        matches!(own.status, TreatmentStatus::Failed | TreatmentStatus::Unavailable)
    };
    let mut lost: Vec<(&str, Vec<String>)> = Vec::new();
    for own in analysis.treatments.iter().filter(is_lost) {
        let why = own.reason.as_deref().and_then(|why| why.lines().next());
        let (why, label) = (why.unwrap_or("it failed"), label(schedule, &own.levels));
        match lost.iter_mut().find(|(known, _)| *known == why) {
            Some((_, labels)) => labels.push(label),
            None => lost.push((why, vec![label])),
        }
    }
    let of_reason = |(why, labels): (&str, Vec<String>)| match &labels[..] {
        [first, _, _, _, ..] => format!("{first} and {} others ({why})", labels.len() - 1),
        few => format!("{} ({why})", listed(few)),
    };
    let lost: Vec<String> = lost.into_iter().map(of_reason).collect();
    if lost.is_empty() { String::new() } else { format!("; not answered: {}", lost.join("; ")) }
}

/// Whether none of these places differs from the first by what matters.
fn are_alike(places: &[&RankedTreatment]) -> bool {
    places.iter().all(|place| is_negligible(place.ratio / places[0].ratio))
}

fn named(schedule: &Schedule, places: &[&RankedTreatment]) -> Vec<String> {
    places.iter().map(|place| label(schedule, &place.levels)).collect()
}

fn are_told_apart(one: &RankedTreatment, other: &RankedTreatment) -> bool {
    !one.sets.iter().any(|set| other.sets.contains(set))
}

/// The best of all, what cannot be distinguished from it, and how far behind the next is.
fn leader(
    schedule: &Schedule,
    analysis: &Analysis,
    ranking: &StepRanking,
    places: &[&RankedTreatment],
) -> Option<String> {
    let (first, others) = places.split_first()?;
    let alike = others.iter().take_while(|place| is_negligible(place.ratio)).count();
    if let (1.., Some(next)) = (alike, others.get(alike)) {
        let behind = number::times(next.ratio, next.interval);
        return Some(format!(
            "{}, which do not differ by what matters, 2 % ({} comes to {behind} that of the first)",
            listed(&named(schedule, &places[..=alike])),
            label(schedule, &next.levels)
        ));
    }
    let rivals = others.iter().filter(|place| !are_told_apart(first, place));
    let rivals: Vec<String> = rivals.map(|place| label(schedule, &place.levels)).collect();
    let told_apart = match rivals.len() {
        _ if others.is_empty() => String::new(),
        0 => ", and can be told apart from all others".to_owned(),
        _ => format!(", but cannot be told apart from {}", listed(&rivals)),
    };
    let next = others.first().map_or(String::new(), |next| {
        let behind = number::times(next.ratio, next.interval);
        let sides = [&first.levels, &next.levels];
        let why = main_reason(analysis, both(sides, &ranking.phases), ranking.metric.name);
        let why = why.filter(|_| rivals.is_empty());
        let why = why.map_or(String::new(), |why| format!(", because {why}"));
        format!(" ({} comes to {behind} that{why})", label(schedule, &next.levels))
    });
    Some(format!("{}{next}{told_apart}", label(schedule, &first.levels)))
}

/// The best of a group, compared with the baseline or, if it is the baseline, with the next.
fn leader_of_group(
    schedule: &Schedule,
    analysis: &Analysis,
    ranking: &StepRanking,
    places: &[&RankedTreatment],
) -> Option<String> {
    let (first, others) = places.split_first()?;
    let own = |levels: &Levels| {
        listed_levels(&levels.only(|factor| schedule.baseline.0.contains_key(factor)))
    };
    if !others.is_empty() && are_alike(places) {
        let all: Vec<String> = places.iter().map(|place| own(&place.levels)).collect();
        return Some(format!(
            "none by what matters ({} are within 2 % of one another)",
            listed(&all)
        ));
    }
    let phases: BTreeSet<&String> = ranking.phases.iter().collect();
    let effect = |levels: &Levels| {
        analysis.effects.iter().find(|effect| {
            effect.metric == ranking.metric
                && effect.levels == *levels
                && effect.phases.iter().collect::<BTreeSet<_>>() == phases
        })
    };
    let beside = match (effect(&first.levels), others.first()) {
        (Some(found), _) => {
            let times = number::times(found.ratio, found.interval);
            let sides = [&found.levels, &found.baseline];
            let why = main_reason(analysis, both(sides, &found.phases), found.metric.name);
            let why = why.map_or(String::new(), |why| format!(", because {why}"));
            format!(" ({times} {}{why})", own(&found.baseline))
        }
        (None, Some(next)) => effect(&next.levels).map_or(String::new(), |found| {
            let times = number::times(found.ratio, found.interval);
            format!(" ({} comes to {times} that)", own(&next.levels))
        }),
        (None, None) => String::new(),
    };
    let rivals = others.iter().filter(|place| !are_told_apart(first, place));
    let rivals: Vec<String> = rivals.map(|place| own(&place.levels)).collect();
    let told_apart = match rivals.len() {
        0 => String::new(),
        _ => format!(", not told apart from {}", listed(&rivals)),
    };
    Some(format!("{}{beside}{told_apart}", own(&first.levels)))
}

/// Two treatments in the same phases.
fn both<'a>(treatments: [&'a Levels; 2], phases: &'a [String]) -> [ReasonSide<'a>; 2] {
    treatments.map(|levels| ReasonSide { levels, phases })
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
        "{} in {} with {changed} against {from}{context} is {}",
        noun(analysis.metric),
        largest.phase,
        number::against_nothing(analysis.metric, &largest.found)
    ))
}

/// A ratio of something to next to nothing, such as the time until an idle drive is quiet.
const OF_NOTHING: f64 = 1e6;

/// The phases that wait: the plan decides how long.
fn waits(schedule: &Schedule) -> BTreeSet<String> {
    let phases = (0..schedule.treatments.len()).flat_map(|index| schedule.phases(index));
    phases.filter(|phase| phase.idle().is_some()).map(|phase| phase.name).collect()
}

/// What changes by less than this share is no difference that matters to anyone, however surely it
/// is one.
const NEGLIGIBLE: f64 = 0.02;

fn is_negligible(ratio: f64) -> bool {
    (1.0 - NEGLIGIBLE..=1.0 + NEGLIGIBLE).contains(&ratio)
}

/// The largest of the effects on the plan's metric that are shown; a ratio to next to nothing only
/// if there is no other.
fn largest(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    if let Some(found) = against_nothing(schedule, analysis) {
        return Some(found);
    }
    let waits: BTreeSet<String> = waits(schedule);
    let is_of_metric = |effect: &&Effect| {
        let is_of_a_wait = || effect.phases.iter().any(|phase| waits.contains(phase));
        let is_duration = effect.metric.source.is_duration();
        effect.metric == analysis.metric && !(is_duration && is_of_a_wait())
    };
    let shown = |effect: &&Effect| is_of_metric(effect) && effect.is_shown();
    if !analysis.effects.iter().any(|effect| is_of_metric(&effect)) {
        return None;
    }
    let size = |effect: &Effect| effect.ratio.ln().abs();
    let rank = |effect: &Effect| (size(effect) < OF_NOTHING.ln(), size(effect));
    let compared = |one: &&Effect, other: &&Effect| {
        let ((is_one, one), (is_other, other)) = (rank(one), rank(other));
        is_one.cmp(&is_other).then(one.total_cmp(&other))
    };
    let Some(effect) = analysis.effects.iter().filter(shown).max_by(compared) else {
        // One trial cannot show an effect; do not say so if claims say more.
        let most = analysis.treatments.iter().map(|own| own.trials.len()).max().unwrap_or(0);
        return match most {
            0..=1 if !analysis.claims.is_empty() => None,
            _ if most >= FEWEST_RUNS || analysis.plausible_drives > 0 => {
                Some(format!("no effect on {} is shown", noun(analysis.metric)))
            }
            few => Some(format!(
                "undecided: {} a treatment, and an effect on {} takes {FEWEST_RUNS} to be shown",
                counted(few, "run"),
                noun(analysis.metric)
            )),
        };
    };
    if is_negligible(effect.ratio) {
        let noun = noun(analysis.metric);
        let most = number::times(effect.ratio, effect.interval);
        return Some(format!("no difference in {noun} that matters: the largest is {most}"));
    }
    let [changed, from, context] = sides(schedule, &effect.levels, &effect.baseline);
    let context = if context.is_empty() { context } else { format!(" ({context})") };
    let sides = [&effect.levels, &effect.baseline];
    let why = main_reason(analysis, both(sides, &effect.phases), effect.metric.name);
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    Some(format!(
        "the largest effect on {}: {changed} multiplies it {} by {}, against {from}{context}{why}",
        noun(effect.metric),
        over(&effect.phases),
        plausible::effect(effect).trim_start_matches('x')
    ))
}

/// A sentence with its first letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

//! The answer of a run in one sentence: verdicts, who is best, the largest effect.

use ssdlab_advice::{Analysis, Completeness, Effect, TreatmentStatus, Verdict};
use ssdlab_plan::Schedule;

use super::evidence::sides;
use super::number;
use super::reason::reason;
use super::table::label;
use super::text::counted;

/// The answer; what makes it less than one is said first.
pub(super) fn answer(schedule: &Schedule, analysis: &Analysis) -> String {
    let is_measured = |status: TreatmentStatus| status == TreatmentStatus::Ok;
    let measured = analysis.treatments.iter().filter(|treatment| is_measured(treatment.status));
    let answer = match measured.count() {
        0 => nothing(analysis),
        count => {
            let parts = [verdicts(analysis), best(schedule, analysis), largest(schedule, analysis)];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if parts.is_empty() {
                format!("{} measured, and nothing to compare", counted(count, "treatment"))
            } else {
                parts.join("; ")
            }
        }
    };
    match analysis.status {
        Completeness::Complete => format!("{}.", capitalised(&answer)),
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

fn verdicts(analysis: &Analysis) -> Option<String> {
    let count = |verdict: Verdict| analysis.claims.iter().filter(|c| c.verdict == verdict).count();
    let all = analysis.claims.len();
    let [holds, refuted, undecided] =
        [Verdict::Holds, Verdict::Refuted, Verdict::Undecided].map(count);
    let is = |count: usize| if count == 1 { "is" } else { "are" };
    let mut parts = vec![match (all, holds) {
        (0, _) => return None,
        (1, 1) => "the claim holds".to_owned(),
        (1, _) => return Some(format!("the claim is {}", one_of(refuted))),
        _ if holds == all => format!("all {all} claims hold"),
        _ => format!("{holds} of {all} claims {}", if holds == 1 { "holds" } else { "hold" }),
    }];
    for (count, word) in [(refuted, "refuted"), (undecided, "undecided")] {
        if count > 0 {
            parts.push(format!("{count} {} {word}", is(count)));
        }
    }
    Some(parts.join(", "))
}

fn one_of(refuted: usize) -> &'static str {
    if refuted == 1 { "refuted" } else { "undecided" }
}

/// Who leads the last ranking, and who cannot be told apart from the first.
fn best(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let ranking = analysis.rankings.last()?;
    let (first, others) = ranking.places.split_first()?;
    let by = spoken(&ranking.metric);
    let phases = counted(ranking.phases.len(), "phase");
    let first_label = label(schedule, &first.levels);
    let rivals =
        others.iter().filter(|place| place.sets.iter().any(|set| first.sets.contains(set)));
    let rivals: Vec<String> = rivals.map(|place| label(schedule, &place.levels)).collect();
    let told_apart = match rivals.len() {
        _ if others.is_empty() => String::new(),
        0 => ", apart from all others".to_owned(),
        _ => format!(", but cannot be told apart from {}", rivals.join(" and ")),
    };
    Some(format!("the best by {by} over {phases} is {first_label}{told_apart}"))
}

/// The effect on the plan's metric that is farthest from none, of those shown to be any.
fn largest(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let shown = |effect: &&Effect| effect.metric == analysis.metric && effect.is_shown();
    if !analysis.effects.iter().any(|effect| effect.metric == analysis.metric) {
        return None;
    }
    let size = |effect: &Effect| effect.ratio.ln().abs();
    let effects = analysis.effects.iter().filter(shown);
    let Some(effect) = effects.max_by(|one, other| size(one).total_cmp(&size(other))) else {
        return Some(format!("no effect on {} is shown", spoken(&analysis.metric)));
    };
    let [changed, from, context] = sides(schedule, &effect.levels, &effect.baseline);
    let context = if context.is_empty() { context } else { format!(" ({context})") };
    let why = reason(analysis, [&effect.levels, &effect.baseline], &effect.phases);
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    Some(format!(
        "the largest effect: {changed} multiplies {} in {} by {}, against {from}{context}{why}",
        spoken(&effect.metric),
        effect.phases.join(" + "),
        number::effect(effect.ratio, effect.interval).trim_start_matches('x')
    ))
}

/// A metric as a word: its unit is said with its values.
pub(super) fn spoken(metric: &str) -> String {
    metric.trim_end_matches("_ns").replace(['_', '.'], " ")
}

/// A sentence's first letter as a capital.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

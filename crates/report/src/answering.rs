//! What the claims say that answer a question: yes or no, where it asks for that, and of each claim
//! what was found, with its range and the reason.

use ssdlab_advice::{Analysis, Judgement, Verdict};
use ssdlab_plan::metric::{self, AfterCuts, PHORONIX_HIGHER, PHORONIX_LOWER, Source};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::number;
use super::plausible;
use super::reason::{listed, main_reason};
use super::table::level_name;

/// What a question begins with that asks for yes or no.
const VERBS: [&str; 17] = [
    "do", "does", "did", "is", "are", "was", "were", "can", "could", "has", "have", "will",
    "would", "should", "must", "may", "might",
];

/// The most phases that are named.
const MOST_PHASES: usize = 4;

/// What the claims that the plan names say; none where it names none. Beside a ranking, only of
/// those with a number.
pub(super) fn claims(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let is_ranked = !analysis.rankings.is_empty();
    let of = |id: &String| -> Vec<&Judgement> {
        analysis.claims.iter().filter(|claim| claim.claim == *id).collect()
    };
    let mut named: Vec<Vec<&Judgement>> = schedule.answer.iter().map(of).collect();
    named.retain(|claims| {
        !claims.is_empty() && (!is_ranked || claims.iter().any(|c| c.ratio.is_some()))
    });
    let verdicts: Vec<Verdict> = named.iter().flatten().map(|claim| claim.verdict).collect();
    if verdicts.is_empty() {
        return None;
    }
    let mut told = verdicts.into_iter().filter(|verdict| tells(*verdict));
    let first = told.next();
    let is_unanimous = told.all(|verdict| Some(verdict) == first);
    let word = match first {
        _ if !asks_for_yes_or_no(&analysis.question) => None,
        _ if !is_unanimous => Some("in part"),
        Some(Verdict::Holds) => Some("yes"),
        Some(Verdict::Refuted) => Some("no"),
        Some(Verdict::Depends) => Some("it depends on the drive"),
        _ => Some("undecided"),
    };
    let says_all = word.is_some() && is_unanimous;
    let clause = |claims: &Vec<&Judgement>| {
        let is_said = says_all && claims.iter().all(|claim| tells(claim.verdict));
        let verdict = (!is_said).then(|| format!("the claim {}", came_out(claims)));
        let (found, context) = found(schedule, analysis, claims);
        let notes: Vec<String> = context.into_iter().chain(verdict).collect();
        if notes.is_empty() { found } else { format!("{found} ({})", notes.join("; ")) }
    };
    let clauses: Vec<String> = named.iter().map(clause).collect();
    let clauses = clauses.join("; ");
    Some(word.map_or_else(|| clauses.clone(), |word| format!("{word}: {clauses}")))
}

/// Whether a verdict says something about the claim; others are about what could not be compared.
const fn tells(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Identical | Verdict::Untested)
}

/// Whether yes or no can answer a question: it begins with a verb and offers no choice.
fn asks_for_yes_or_no(question: &str) -> bool {
    let question = question.to_lowercase();
    let first = question.split_whitespace().next();
    first.is_some_and(|first| VERBS.contains(&first)) && !question.contains(" or ")
}

/// What became of a claim, which may be about several treatments.
fn came_out(claims: &[&Judgement]) -> String {
    let says = |verdict: Verdict| match verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Depends => "depends on the drive".to_owned(),
        Verdict::Identical => "compares a computation with itself".to_owned(),
        Verdict::Untested => "is not testable here".to_owned(),
        other => format!("is {other}"),
    };
    let count = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let parts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| count(*verdict) > 0)
        .map(|verdict| match claims.len() {
            all if count(verdict) == all => says(verdict),
            all => format!("{} in {} of {all} cases", says(verdict), count(verdict)),
        })
        .collect();
    listed(&parts)
}

/// What was found of a claim, and of which treatments it is true beside those that are compared. Of
/// several, the least and the greatest ratio.
fn found(
    schedule: &Schedule,
    analysis: &Analysis,
    claims: &[&Judgement],
) -> (String, Option<String>) {
    let mut measured: Vec<(&Judgement, f64)> =
        claims.iter().filter_map(|claim| Some((*claim, claim.ratio?))).collect();
    measured.sort_by(|one, other| one.1.total_cmp(&other.1));
    match measured[..] {
        [] => (unknown(claims), None),
        [(only, ratio)] if claims.len() == 1 => of_one(schedule, analysis, only, ratio),
        [(only, ratio), ..] => {
            let (_, greatest) = measured[measured.len() - 1];
            let [least, greatest] = [ratio, greatest].map(|value| number::claimed(only, value));
            let times = if only.is_absolute { "" } else { " times" };
            let amount = if least == greatest {
                format!("{least}{times}")
            } else {
                format!("{least} to {greatest}{times}")
            };
            let treatments = measured.len();
            let (own, other) = (&only.compare, &only.against);
            let drives = measured.iter().filter_map(|(claim, _)| claim.plausible.as_ref());
            let drives = match drives.map(|over| (over.holds, over.of)).min() {
                Some((holds, of)) => format!(", each on at least {holds} of {of} plausible drives"),
                None => String::new(),
            };
            let several = format!("over {treatments} pairs of treatments{drives}");
            (said(only, own, other, &amount), Some(several))
        }
    }
}

/// What is not known, and why.
fn unknown(claims: &[&Judgement]) -> String {
    let Some(claim) = claims.first() else { return String::new() };
    let against = if claim.against.0.is_empty() {
        String::new()
    } else {
        format!(" against {}", listed_levels(&claim.against))
    };
    let why = claim.reason.as_deref().unwrap_or("it was not measured");
    let (own, phases) = (listed_levels(&claim.compare), over(&claim.phases));
    format!("{} {phases} of {own}{against} is not known: {why}", noun(&claim.metric))
}

fn of_one(
    schedule: &Schedule,
    analysis: &Analysis,
    claim: &Judgement,
    ratio: f64,
) -> (String, Option<String>) {
    let range = if claim.is_absolute {
        number::measured(&claim.metric, ratio, claim.interval)
    } else {
        number::times(ratio, claim.interval)
    };
    let (levels, baseline) = (claim.levels.clone().unwrap_or_default(), claim.baseline.as_ref());
    let part = |of: &Levels, keeps: &dyn Fn(&Factor) -> bool| {
        let kept = of.0.iter().filter(|(factor, _)| keeps(factor));
        Levels(kept.map(|(factor, level)| (*factor, level.clone())).collect())
    };
    let is_compared = |factor: &Factor| match baseline {
        Some(baseline) => levels.0.get(factor) != baseline.0.get(factor),
        None => claim.compare.0.contains_key(factor),
    };
    let own = part(&levels, &is_compared);
    let other = baseline.map(|other| part(other, &is_compared)).unwrap_or_default();
    let context = part(&schedule.distinct(&levels), &|factor| !is_compared(factor));
    let context = (!context.0.is_empty()).then(|| context.to_string());
    let over = claim.plausible.as_ref();
    let around = over.map(|over| [over.spread.least, over.spread.most]).or(claim.interval);
    let is_shown = around.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let why = baseline.filter(|_| is_shown && claim.excess_over.is_none());
    let why =
        why.and_then(|other| main_reason(analysis, [&levels, other], &claim.phases, &claim.metric));
    let why = why.map_or(String::new(), |why| format!(", because {why}"));
    let over = over.map_or(String::new(), |over| format!(", {}", plausible::clause(claim, over)));
    (format!("{}{why}{over}", said(claim, &own, &other, &range)), context)
}

/// A finding as a clause: `amount` is a number of times, or what was measured.
fn said(claim: &Judgement, own: &Levels, other: &Levels, amount: &str) -> String {
    let source = metric::of(&claim.metric).source;
    let take = if claim.phases.len() == 1 { "takes" } else { "take" };
    let until = if source == Source::Settled { "until the drive is quiet, " } else { "" };
    let (own, other) = (listed_levels(own), listed_levels(other));
    let (phases, over) = (named(&claim.phases), over(&claim.phases));
    let is_of_time = matches!(source, Source::Time | Source::Settled);
    let noun = match &claim.excess_over {
        None => noun(&claim.metric),
        Some(less) => {
            format!("what {} exceeds that with {} by", noun(&claim.metric), listed_levels(less))
        }
    };
    match (is_of_time && claim.excess_over.is_none(), claim.is_absolute) {
        (true, true) => format!("{until}{phases} {take} {amount} with {own}"),
        (true, false) => {
            format!("{until}{phases} {take} {amount} as long with {own} as with {other}")
        }
        (false, true) => format!("with {own}, {noun} {over} is {amount}"),
        (false, false) => {
            format!("with {own}, {noun} {over} is {amount} that with {other}")
        }
    }
}

/// A metric as a word: its unit is said with its values.
pub(super) fn spoken(metric: &str) -> String {
    metric.trim_end_matches("_ns").replace(['_', '.'], " ")
}

/// A metric as the subject of a clause.
pub(super) fn noun(metric: &str) -> String {
    let noun = match metric::of(metric).source {
        Source::Time => "the time",
        Source::Settled => "the time until the drive is quiet",
        Source::Cpu => "the processor time",
        Source::WrittenBytes => "the number of bytes written",
        Source::ReadBytes => "the number of bytes read",
        Source::DiscardedBytes => "the number of bytes discarded",
        Source::FlashWrittenBytes => "the number of bytes programmed into flash",
        Source::Erases => "the number of erased blocks",
        Source::HottestErases => "the number of erases of the most erased block",
        Source::YearsUntilWorn => "the number of years until a block is worn out",
        Source::OpsRate => "the rate of operations",
        Source::ByteRate => "the throughput",
        Source::LatencyMean => "the mean latency",
        Source::LatencyP50 => "the median latency",
        Source::LatencyP90 => "the 90th percentile of latencies",
        Source::LatencyP99 => "the 99th percentile of latencies",
        Source::LatencyP999 => "the 99.9th percentile of latencies",
        Source::LatencyMax => "the longest latency",
        Source::Cuts(AfterCuts::BrokenPromises) => "the share of power cuts that break a promise",
        Source::Cuts(AfterCuts::Damaged) => "the share of power cuts that damage a file",
        Source::Cuts(AfterCuts::Unmountable) => "the share of power cuts that leave it unmountable",
        Source::Cuts(AfterCuts::Amiss) => "the share of power cuts after which its check fails",
        Source::Cuts(AfterCuts::LostTime) => "the median time lost to a power cut",
        Source::Cuts(AfterCuts::LostTimeP99) => {
            "the 99th percentile of the time lost to a power cut"
        }
        Source::Cuts(AfterCuts::LostBytes) => "the median number of bytes lost to a power cut",
        Source::Cuts(AfterCuts::Recovery) => "the median time to mount after a power cut",
        _ if [PHORONIX_HIGHER, PHORONIX_LOWER].contains(&metric) => "the test's result",
        _ => return format!("the {}", spoken(metric)),
    };
    noun.to_owned()
}

/// Phases as the subject of a clause.
fn named(phases: &[String]) -> String {
    if phases.len() > MOST_PHASES { format!("{} phases", phases.len()) } else { listed(phases) }
}

/// Where a metric was measured.
pub(super) fn over(phases: &[String]) -> String {
    if phases.len() > MOST_PHASES {
        format!("over {} phases", phases.len())
    } else {
        format!("in {}", listed(phases))
    }
}

/// Levels as parts of a sentence: names speak for themselves, amounts and switches do not.
pub(super) fn listed_levels(levels: &Levels) -> String {
    let names: Vec<String> =
        levels.0.iter().map(|(factor, level)| level_name(*factor, level)).collect();
    listed(&names)
}

#[cfg(test)]
mod tests;

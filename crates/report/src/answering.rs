//! What the claims that answer a question say: yes or no if it asks for that, and the result of
//! each claim, with its range and the reason.

use ssdlab_advice::{Analysis, EstimatedValue, Judgement, Verdict, Why, are_by_construction};
use ssdlab_plan::metric::{AfterCuts, FIO_PREFIX, Metric, PHORONIX_HIGHER, PHORONIX_LOWER, Source};
use ssdlab_plan::schedule::Claim;
use ssdlab_plan::{Factor, Levels, Schedule};
use ssdlab_quantity::listed;

use super::claims::varied;
use super::levels::level_names;
use super::number;
use super::plausible;
use super::reason::{ReasonSide, main_reason};
use super::words::counted;

/// The first words of yes-or-no questions.
const VERBS: [&str; 17] = [
    "do", "does", "did", "is", "are", "was", "were", "can", "could", "has", "have", "will",
    "would", "should", "must", "may", "might",
];

/// The maximum number of phases that are named.
const MOST_PHASES: usize = 4;

/// The maximum number of a claim's cases with one verdict that are named.
const MOST_CASES: usize = 6;

/// What the claims that the plan names say; `None` if it names none. Next to a ranking, only
/// claims with a number.
pub(super) fn claims(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let is_ranked = !analysis.rankings.is_empty();
    let of = |id: &String| -> Vec<&Judgement> {
        analysis.claims.iter().filter(|claim| claim.claim.id == *id).collect()
    };
    let mut named: Vec<Vec<&Judgement>> = schedule.answer.iter().map(of).collect();
    named.retain(|claims| {
        !claims.is_empty() && (!is_ranked || claims.iter().any(|c| c.outcome.estimate().is_some()))
    });
    let verdicts: Vec<Verdict> =
        named.iter().flatten().map(|claim| claim.outcome.verdict()).collect();
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
        let is_said = says_all && claims.iter().all(|claim| tells(claim.outcome.verdict()));
        let (found, notes) = found(schedule, analysis, claims, is_said);
        if notes.is_empty() { found } else { format!("{found} ({})", notes.join("; ")) }
    };
    let clauses: Vec<String> = named.iter().map(clause).collect();
    let clauses = clauses.join("; ");
    Some(word.map_or_else(|| clauses.clone(), |word| format!("{word}: {clauses}")))
}

/// Whether a verdict says something about the claim; the others say that nothing was compared.
const fn tells(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Identical | Verdict::Untested)
}

/// Whether yes or no can answer a question: it begins with a verb and offers no choice.
fn asks_for_yes_or_no(question: &str) -> bool {
    let question = question.to_lowercase();
    let first = question.split_whitespace().next();
    first.is_some_and(|first| VERBS.contains(&first)) && !question.contains(" or ")
}

/// The verdict as a clause.
fn came_out(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds => "the claim holds".to_owned(),
        Verdict::Depends => "the claim depends on the drive".to_owned(),
        Verdict::Identical => "the claim compares a computation with itself".to_owned(),
        Verdict::Untested => "the claim is not testable here".to_owned(),
        other => format!("the claim is {other}"),
    }
}

/// The result of a claim and its context: the treatments for which it is true besides those
/// compared, and the verdict unless that `is_said`.
fn found(
    schedule: &Schedule,
    analysis: &Analysis,
    claims: &[&Judgement],
    is_said: bool,
) -> (String, Vec<String>) {
    let (known, unknown): (Vec<&Judgement>, Vec<&Judgement>) =
        claims.iter().partition(|claim| claim.outcome.ratio().is_some());
    let verdict = || (!is_said).then(|| came_out(claims[0].outcome.verdict()));
    if let [only] = claims
        && let Some(ratio) = only.outcome.ratio()
    {
        let (found, context) = of_one(schedule, analysis, only, ratio);
        return (
            found,
            context.into_iter().chain(verdict()).chain(by_construction(claims)).collect(),
        );
    }
    let (of_nothing, unknown): (Vec<&Judgement>, Vec<&Judgement>) =
        unknown.into_iter().partition(|claim| claim.outcome.estimate().is_some());
    let clauses = of_nothing.iter().filter_map(|claim| against_nothing(schedule, claim, is_said));
    let against = clauses.collect::<Vec<_>>().join("; ");
    if known.is_empty() && unknown.is_empty() {
        return (against, by_construction(claims).into_iter().collect());
    }
    let beside = if against.is_empty() { against } else { format!("; {against}") };
    if known.is_empty() {
        let is_one = claims.iter().all(|c| c.outcome.verdict() == claims[0].outcome.verdict());
        let found = format!("{}{beside}", not_known(&unknown, ""));
        return (found, verdict().filter(|_| is_one).into_iter().collect());
    }
    let varied = varied(claims);
    let verdicts = Verdict::ALL.into_iter().map(|verdict| {
        let cases = known.iter().filter(|claim| claim.outcome.verdict() == verdict);
        cases.copied().collect::<Vec<&Judgement>>()
    });
    let by_verdict = verdicts.filter(|cases| !cases.is_empty());
    let parts = by_verdict.enumerate().map(|(index, cases)| {
        let (first, amount) = (cases[0], amount(&cases));
        let amount = match index {
            0 => said(&first.claim, &first.claim.compare, &first.claim.against, &amount),
            _ => amount,
        };
        format!("{amount}{}", which(&cases, &varied, is_said))
    });
    let found = format!("{}{beside}", listed(&parts.collect::<Vec<_>>()));
    if unknown.is_empty() {
        return (found, Vec::new());
    }
    let not_known = not_known(&unknown, &of_which(&unknown, &varied));
    (format!("{found}; {not_known}"), Vec::new())
}

/// A case of which one side has nothing, as a clause with its verdict, unless that `is_said`.
fn against_nothing(schedule: &Schedule, claim: &Judgement, is_said: bool) -> Option<String> {
    let EstimatedValue::AgainstNothing(found) = &claim.outcome.estimate()?.found else {
        return None;
    };
    let levels = |levels: &Option<Levels>| {
        levels.as_ref().map_or(String::new(), |own| listed_levels(&schedule.distinct(own)))
    };
    let (own, other) = (levels(&claim.levels), levels(&claim.baseline));
    let sides = match (own.is_empty(), other.is_empty()) {
        (true, _) => String::new(),
        (_, true) => format!(" with {own}"),
        _ => format!(" with {own} against {other}"),
    };
    let verdict =
        if is_said { String::new() } else { format!(" ({})", came_out(claim.outcome.verdict())) };
    let amount = number::against_nothing(claim.claim.metric, found);
    let (noun, over) = (noun(claim.claim.metric), over(&claim.claim.phases));
    Some(format!("{noun} {over}{sides} is {amount}{verdict}"))
}

/// The range of the results of several cases.
pub(super) fn amount(cases: &[&Judgement]) -> String {
    let mut found: Vec<f64> = cases.iter().filter_map(|claim| claim.outcome.ratio()).collect();
    found.sort_by(f64::total_cmp);
    let [least, most] = [found[0], found[found.len() - 1]];
    let [least, most] = [least, most].map(|value| number::claimed(&cases[0].claim, value));
    let times = if cases[0].claim.is_absolute() { "" } else { " times" };
    if least == most { format!("{least}{times}") } else { format!("{least} to {most}{times}") }
}

/// Which cases of a claim are meant.
pub(super) fn of_which(cases: &[&Judgement], varied: &[Factor]) -> String {
    let own = |claim: &&Judgement| {
        let levels = claim.levels.as_ref().map(|of| of.only(|factor| varied.contains(factor)));
        level_names(&levels.unwrap_or_default()).join(" ")
    };
    if varied.is_empty() || cases.len() > MOST_CASES {
        format!(" in {}", counted(cases.len(), "case"))
    } else {
        format!(" for {}", listed(&cases.iter().map(own).collect::<Vec<_>>()))
    }
}

/// The same, and in brackets their verdict, unless that `is_said`, and how many drives agree.
fn which(cases: &[&Judgement], varied: &[Factor], is_said: bool) -> String {
    let of = of_which(cases, varied);
    let verdict = (!is_said).then(|| came_out(cases[0].outcome.verdict()));
    let over = cases.iter().filter_map(|claim| claim.plausible.as_ref());
    let mut over: Vec<(usize, usize)> = over.map(|over| (over.holds, over.of)).collect();
    over.sort_unstable();
    over.dedup();
    let drives = over.first().map(|(holds, of)| {
        let least = if over.len() > 1 { "at least " } else { "" };
        format!("true on {least}{holds} of {of} plausible drives")
    });
    let notes = verdict.into_iter().chain(drives).chain(by_construction(cases));
    let notes: Vec<String> = notes.collect();
    if notes.is_empty() { of } else { format!("{of} ({})", notes.join("; ")) }
}

/// A caution if the models make the claim true by construction.
fn by_construction(claims: &[&Judgement]) -> Option<String> {
    are_by_construction(claims.iter().copied()).then(|| "by construction".to_owned())
}

/// What is unknown, of which cases, and why.
fn not_known(claims: &[&Judgement], of_which: &str) -> String {
    let Some(Judgement { claim, outcome, .. }) = claims.first() else { return String::new() };
    let against = match &claim.against_phase {
        Some(phase) => format!(" against that in {phase}{}", after("of", &claim.against)),
        None => after("against", &claim.against),
    };
    let why = outcome.why().and_then(Why::reason).unwrap_or("it was not measured");
    let own = format!("{}{}", over(&claim.phases), after("of", &claim.compare));
    format!("{} {own}{against} is not known{of_which}: {why}", noun(claim.metric))
}

fn of_one(
    schedule: &Schedule,
    analysis: &Analysis,
    judgement: &Judgement,
    ratio: f64,
) -> (String, Option<String>) {
    let (Judgement { claim, levels, baseline, .. }, interval) =
        (judgement, judgement.outcome.interval());
    let range = if claim.is_absolute() {
        number::measured(claim.metric, ratio, interval)
    } else {
        number::times(ratio, interval)
    };
    let (levels, baseline) = (levels.clone().unwrap_or_default(), baseline.as_ref());
    let is_compared = |factor: &Factor| match baseline {
        Some(baseline) => levels.0.get(factor) != baseline.0.get(factor),
        None => claim.compare.0.contains_key(factor),
    };
    let own = levels.only(is_compared);
    let other = baseline.map(|other| other.only(is_compared)).unwrap_or_default();
    let context = schedule.distinct(&levels).only(|factor| !is_compared(factor));
    let context = (!context.0.is_empty()).then(|| context.to_string());
    let over = judgement.plausible.as_ref();
    let around = over.map(|over| [over.spread.least, over.spread.most]).or(interval);
    let is_shown = around.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let why = baseline.filter(|_| is_shown && claim.excess_over().is_none());
    let why = why.and_then(|baseline| {
        let own = ReasonSide { levels: &levels, phases: &claim.phases };
        let other = ReasonSide { levels: baseline, phases: claim.other_phases() };
        main_reason(analysis, [own, other], claim.metric.name)
    });
    let why = why.map_or(String::new(), |why| format!(", because {why}"));
    let over =
        over.map_or(String::new(), |over| format!(", {}", plausible::clause(judgement, over)));
    (format!("{}{why}{over}", said(claim, &own, &other, &range)), context)
}

/// A result as a clause: `amount` is a factor, or the measured value.
fn said(claim: &Claim, own: &Levels, other: &Levels, amount: &str) -> String {
    let source = claim.metric.source;
    let take = if claim.phases.len() == 1 { "takes" } else { "take" };
    let until = if source == Source::Settled { "until the drive is quiet, " } else { "" };
    let (phases, over) = (named(&claim.phases), over(&claim.phases));
    let is_of_time = matches!(source, Source::Time | Source::Settled);
    let noun = match claim.excess_over() {
        None => noun(claim.metric),
        Some(less) => {
            format!("what {} exceeds that with {} by", noun(claim.metric), listed_levels(less))
        }
    };
    let is_of_time = is_of_time && claim.excess_over().is_none();
    if let Some(other_phase) = &claim.against_phase {
        let (own, other) = (after("with", own), after("with", other));
        return if is_of_time {
            format!("{until}{phases}{own} {take} {amount} as long as {other_phase}{other}")
        } else {
            format!("{noun} {over}{own} is {amount} that in {other_phase}{other}")
        };
    }
    let with = after("with", own);
    let (own, other) = (listed_levels(own), listed_levels(other));
    match (is_of_time, claim.is_absolute()) {
        (true, true) => format!("{until}{phases} {take} {amount}{with}"),
        (true, false) => {
            format!("{until}{phases} {take} {amount} as long with {own} as with {other}")
        }
        (false, true) if own.is_empty() => format!("{noun} {over} is {amount}"),
        (false, true) => format!("with {own}, {noun} {over} is {amount}"),
        (false, false) => {
            format!("with {own}, {noun} {over} is {amount} that with {other}")
        }
    }
}

/// A metric's name without its unit, which its values have.
pub(super) fn spoken(metric: &str) -> String {
    metric.trim_end_matches("_ns").replace(['_', '.'], " ")
}

/// A metric as the subject of a clause.
pub(super) fn noun(metric: Metric) -> String {
    let noun = match metric.source {
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
        Source::YearsByBytes => "the number of years until the flash is worn out",
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
        Source::Cuts(AfterCuts::Rejected) => {
            "the share of power cuts after which the data is rejected"
        }
        Source::Cuts(AfterCuts::LostTime) => "the median time lost to a power cut",
        Source::Cuts(AfterCuts::LostTimeP99) => {
            "the 99th percentile of the time lost to a power cut"
        }
        Source::Cuts(AfterCuts::LostBytes) => "the median number of bytes lost to a power cut",
        Source::Cuts(AfterCuts::Recovery) => "the median time to mount after a power cut",
        _ if [PHORONIX_HIGHER, PHORONIX_LOWER].contains(&metric) => "the test's result",
        _ => return of_fio(metric.name).unwrap_or_else(|| format!("the {}", spoken(metric.name))),
    };
    noun.to_owned()
}

/// What fio measured, with the job if the metric names it; `None` if another program did.
fn of_fio(metric: &str) -> Option<String> {
    let own = metric.strip_prefix(FIO_PREFIX)?;
    let (job, own) = own.rsplit_once('.').map_or((None, own), |(job, own)| (Some(job), own));
    let (direction, statistic) = own.split_once('_')?;
    let operations = match direction {
        "read" => "reads",
        "write" => "writes",
        "trim" => "trims",
        "mixed" => "operations",
        "sync" => "syncs",
        _ => return None,
    };
    let noun = match statistic.trim_start_matches("clat_") {
        "iops" => "rate",
        "bytes_per_s" => "throughput",
        "mean_ns" => "mean latency",
        "p50_ns" => "median latency",
        "p99_ns" => "99th percentile of the latency",
        "p999_ns" => "99.9th percentile of the latency",
        _ => return None,
    };
    let job = job.map_or(String::new(), |job| format!(" of the job {job}"));
    Some(format!("the {noun} of {operations}{job}"))
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

/// Levels as part of a sentence: names are clear by themselves, amounts and switches are not.
pub(super) fn listed_levels(levels: &Levels) -> String {
    listed(&level_names(levels))
}

/// Levels after a preposition; nothing if there are none.
fn after(word: &str, levels: &Levels) -> String {
    if levels.0.is_empty() {
        return String::new();
    }
    format!(" {word} {}", listed_levels(levels))
}

#[cfg(test)]
mod tests;

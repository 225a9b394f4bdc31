//! Judges claims: holds, refuted, or undecided and how many more runs it would take.
//!
//! A claim bounds a ratio. It holds when the ratio is shown to lie within the bounds and is
//! refuted when it is shown to lie outside, each by one-sided t tests; "not significant" is never
//! taken for "the same". Where a plan makes several claims, the p-values are adjusted by Holm's
//! method, and each run that leaves a claim open spends a share of the error, so that the chance of
//! even one wrong verdict stays below 5 %, however often the plan is run until all are decided.
//!
//! On one host the sample size is the number of blocks. From two hosts on it is the number of
//! hosts, whatever the claim compares, as a claim about SSDs does not become true because one of
//! them has many blocks. Blocks do not count even if hosts were not shown to differ: with few hosts
//! that test has little power.
//!
//! Fewer than six runs decide nothing, whatever their values: what one run in ten does differently
//! is in none of three runs in 73 % of cases. What is rarer than the number of runs tells, a
//! verdict is not about (docs/method.md).
//!
//! Claims about what power cuts leave are judged by cuts (`after_cuts.rs`).
//!
//! Claims that were made or changed after results were known are corrected as a separate family.

use ssdlab_plan::{LabKind, Schedule};
use ssdlab_stats::{FEWEST_RUNS, LogRatio, holm, p_of_signs, runs_to_separate};

use super::case::{Evidence, Judgement, RestsOn, Sample, Verdict, blank, cases, weigh};
use super::pairs::Blocks;
use super::plausible::PlausibleDrives;
use super::{CONFIDENCE, after_cuts, best};

/// Judges every claim of the schedule; `drives` are the trials on plausible drives, if there were
/// any.
pub(super) fn judge_all(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    drives: Option<&PlausibleDrives<'_>>,
) -> Vec<Judgement> {
    let mut judged: Vec<(Judgement, Option<Evidence>)> = Vec::new();
    for claim in &schedule.claims {
        let cases = cases(schedule, claim);
        if cases.is_empty() || (claim.is_best() && schedule.not_testable(claim).is_some()) {
            let judgement = blank(claim, claim.id.clone());
            let missing = || Some("this run has no such pair of treatments".to_owned());
            let judgement = match schedule.not_testable(claim) {
                Some(why) => judgement.untested(why),
                None => Judgement { reason: missing(), ..judgement },
            };
            judged.push((judgement, None));
            continue;
        }
        for case in &cases {
            let is_one_of_several = cases.len() > 1;
            judged.push(if claim.is_best() {
                best::weigh(schedule, blocks, case, is_one_of_several)
            } else if let Some(what) = after_cuts::is_about(claim) {
                after_cuts::weigh(schedule, blocks, case, what, is_one_of_several)
            } else {
                weigh(schedule, blocks, case, is_one_of_several)
            });
        }
    }
    // A claim made after results were seen is one of many that could have been made.
    let (mut exploratory, mut confirmatory): (Vec<_>, Vec<_>) =
        judged.iter_mut().partition(|(judgement, _)| judgement.exploratory.is_some());
    // In virtual time a longer run begins with the same trials; elsewhere all are new.
    let pools = schedule.is_in(LabKind::Virtual);
    settle(&mut confirmatory, pools);
    settle(&mut exploratory, pools);
    let mut judged: Vec<Judgement> = judged.into_iter().map(|(judgement, _)| judgement).collect();
    if let Some(drives) = drives {
        drives.judge(&mut judged);
    }
    judged
}

/// Turns evidence into verdicts, corrected for the number of claims and of looks at them. `pools`
/// is whether another run adds to these blocks.
fn settle(judged: &mut [&mut (Judgement, Option<Evidence>)], pools: bool) {
    let p = |judgement: &Judgement, evidence: &Evidence| {
        let two_sided = 2.0 * evidence.p_holds.min(evidence.p_refuted);
        (two_sided / share_of_error(judgement.left_open)).min(1.0)
    };
    let raw: Vec<f64> = judged
        .iter()
        .filter_map(|(judgement, evidence)| Some(p(judgement, evidence.as_ref()?)))
        .collect();
    let error = 1.0 - CONFIDENCE;
    let mut adjusted = holm(&raw).into_iter();
    for (judgement, evidence) in judged {
        let Some(evidence) = evidence else { continue };
        let p = adjusted.next().expect("one p-value per evidence");
        judgement.p = Some(p);
        judgement.verdict = match p < error {
            true if evidence.p_holds < evidence.p_refuted => Verdict::Holds,
            true => Verdict::Refuted,
            false => Verdict::Undecided,
        };
        if judgement.verdict != Verdict::Undecided {
            judgement.reason = None;
            continue;
        }
        match &evidence.rests_on {
            RestsOn::Sample(Sample::Blocks(ratio)) => {
                let share = share_of_error(judgement.left_open.saturating_add(1));
                let next = error * share / raw.len() as f64;
                let done = if pools { ratio.n() } else { 0 };
                judgement.more_runs = more_runs(judgement, ratio, done, next);
            }
            RestsOn::Sample(Sample::Signs(signs)) => {
                let share = share_of_error(judgement.left_open.saturating_add(1));
                let done = if pools { signs.n() } else { 0 };
                let more = equal_runs(error * share / raw.len() as f64).saturating_sub(done);
                let bounds = [judgement.at_least, judgement.at_most];
                let is_open = bounds.into_iter().flatten().all(|bound| signs.agree(bound));
                judgement.more_runs = u32::try_from(more.max(1)).ok().filter(|_| is_open);
            }
            RestsOn::Sample(Sample::Hosts { .. }) => {
                judgement.reason = Some("only more hosts may tell".to_owned());
            }
            RestsOn::Cuts => judgement.reason = Some(after_cuts::open(judgement).to_owned()),
        }
    }
}

/// The share of the error that a run may spend on a claim which so many runs before it left open.
/// The first spends nine tenths, each later one half of what is left, so that all together never
/// spend more than there is (Lan and `DeMets` 1983, "Discrete sequential boundaries for clinical
/// trials", Biometrika 70; added up by Bonferroni's inequality, as runs may share trials or not).
fn share_of_error(left_open: u32) -> f64 {
    // Beyond 50 runs the share stays above 0, which tests need.
    let later = i32::try_from(left_open.min(50)).expect("50 fits");
    if later == 0 { 0.9 } else { 0.1 * 0.5_f64.powi(later) }
}

/// Runs beyond those done until the interval is expected to clear the nearest bound.
fn more_runs(judgement: &Judgement, ratio: &LogRatio, done: usize, error: f64) -> Option<u32> {
    let distance = |bound: &f64| (ratio.mean_log() - bound.ln()).abs();
    let bounds = [judgement.at_least, judgement.at_most];
    let nearest =
        bounds.into_iter().flatten().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let total = runs_to_separate(ratio.mean_log(), ratio.sd_log()?, nearest, error)?;
    let fewest = if ratio.sd_log()? == 0.0 { equal_runs(error) } else { FEWEST_RUNS };
    let (done, fewest) = (u32::try_from(done).ok()?, u32::try_from(fewest).ok()?);
    Some(total.max(fewest).saturating_sub(done).max(1))
}

/// The number of equal runs that have a two-sided p-value below `error`.
fn equal_runs(error: f64) -> usize {
    (FEWEST_RUNS..64).find(|n| 2.0 * p_of_signs(*n, *n) < error).unwrap_or(FEWEST_RUNS)
}

#[cfg(test)]
mod tests;

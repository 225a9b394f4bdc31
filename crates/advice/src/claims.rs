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

use std::borrow::Cow;

use ssdlab_plan::live::LOOKS;
use ssdlab_plan::schedule::{Bounds, Claim};
use ssdlab_plan::{LabKind, Schedule};
use ssdlab_stats::{FEWEST_RUNS, LogRatio, holm, p_of_signs, runs_to_separate};

use super::case::{CaseBasis, CaseSample, CaseTestResult, CaseTests, ComparedCase, cases, weigh};
use super::judgement::{ClaimEstimate, Conclusion, Judgement, OpenReason, Outcome, scope};
use super::late::LateWork;
use super::pairs::{Blocks, ComparedSide};
use super::plausible::PlausibleDrives;
use super::{CONFIDENCE, after_cuts, best};

/// A case of a claim, before the correction for several claims.
struct Tested<'a> {
    id: String,
    claim: &'a Claim,
    /// `None` if the claim as a whole cannot be judged.
    case: Option<ComparedCase<'a>>,
    not_measured: Vec<String>,
    weighed: CaseTestResult,
}

/// Judges every claim of the schedule; `drives` are the trials on plausible drives, if there were
/// any, and `late` is the work that was left to unmounting, if any was.
pub(super) fn judge_all(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    drives: Option<&PlausibleDrives<'_>>,
    late: Option<&LateWork<'_>>,
) -> Vec<Judgement> {
    let tested: Vec<Tested<'_>> =
        schedule.claims.iter().flat_map(|claim| test(schedule, blocks, claim)).collect();
    // A claim made after results were seen is one of many that could have been made.
    let raw = [false, true].map(|is_exploratory| -> Vec<f64> {
        let family = tested.iter().filter(|own| own.claim.exploratory.is_some() == is_exploratory);
        family.filter_map(|own| Some(p(own.claim, own.weighed.as_ref().ok()?))).collect()
    });
    let mut adjusted = raw.each_ref().map(|raw| holm(raw).into_iter());
    // In virtual time a longer run begins with the same trials; elsewhere all are new.
    let pools = schedule.is_in(LabKind::Virtual);
    let levels = |side: ComparedSide<'_>| schedule.treatments[side.treatment].levels.clone();
    let judgement = |Tested { id, claim, case, not_measured, weighed }| {
        let family = usize::from(claim.exploratory.is_some());
        let settle = |evidence| {
            let p = adjusted[family].next().expect("one p-value per evidence");
            settled(claim, evidence, p, raw[family].len(), pools)
        };
        let mut outcome = weighed.map_or_else(|outcome| outcome, settle);
        let mut plausible = None;
        if let Some((drives, case)) = drives.zip(case) {
            (outcome, plausible) = drives.judge(&case, outcome);
        }
        if let Some((late, case)) = late.zip(case) {
            outcome = late.judge(&case, outcome);
        }
        let is_like = schedule.unlike(claim.metric).is_none();
        Judgement {
            id,
            claim: Claim { published: claim.published.filter(|_| is_like), ..claim.clone() },
            levels: case.map(|case| levels(case.side)),
            baseline: case.and_then(|case| case.baseline).map(levels),
            outcome,
            plausible,
            flips: Vec::new(),
            not_measured,
            by_construction: schedule.by_construction(claim).map(Cow::into_owned),
            scope: scope(schedule.origin(), claim.metric),
        }
    };
    tested.into_iter().map(judgement).collect()
}

/// Tests each case of a claim.
fn test<'a>(schedule: &Schedule, blocks: &Blocks<'_>, claim: &'a Claim) -> Vec<Tested<'a>> {
    let cases = cases(schedule, claim);
    let untested = schedule.not_testable(claim).map(OpenReason::Untested);
    if cases.is_empty() || (claim.is_best() && untested.is_some()) {
        let missing = || "this run has no such pair of treatments".to_owned().into();
        let weighed = Err(Outcome::NotCompared(untested.unwrap_or_else(missing)));
        let (id, not_measured) = (claim.id.clone(), Vec::new());
        return vec![Tested { id, claim, case: None, not_measured, weighed }];
    }
    let is_one_of_several = cases.len() > 1;
    let tested = |case: ComparedCase<'a>| {
        let id = case.id(schedule, is_one_of_several);
        let (case, not_measured, weighed) = if claim.is_best() {
            best::weigh(schedule, blocks, case)
        } else if let Some(what) = after_cuts::harm_of(claim) {
            (case, Vec::new(), after_cuts::weigh(schedule, blocks, &case, what))
        } else {
            (case, Vec::new(), weigh(schedule, blocks, &case))
        };
        Tested { id, claim, case: Some(case), not_measured, weighed }
    };
    cases.into_iter().map(tested).collect()
}

/// The two-sided p-value of a claim, corrected for the number of looks at it.
fn p(claim: &Claim, evidence: &CaseTests) -> f64 {
    let two_sided = 2.0 * evidence.p_holds.min(evidence.p_refuted);
    (two_sided / share_of_error(claim.left_open)).min(1.0)
}

/// What evidence proves with this p-value, which is corrected for the number of claims. `pools` is
/// whether another run adds to these blocks.
fn settled(claim: &Claim, evidence: CaseTests, p: f64, claims: usize, pools: bool) -> Outcome {
    let error = 1.0 - CONFIDENCE;
    let estimate = ClaimEstimate { p: Some(p), ..evidence.estimate };
    let conclusion = if p >= error {
        let share = share_of_error(claim.left_open.saturating_add(1));
        Conclusion::Open(why_open(claim, evidence, error * share / claims as f64, pools))
    } else if evidence.p_holds < evidence.p_refuted {
        Conclusion::Holds
    } else {
        Conclusion::Refuted
    };
    Outcome::Measured { estimate, conclusion }
}

/// What may decide a claim that tests left open; `error` is what the next run may spend.
fn why_open(claim: &Claim, evidence: CaseTests, error: f64, pools: bool) -> OpenReason {
    let done = |n: usize| if pools { n } else { 0 };
    let more = match &evidence.rests_on {
        CaseBasis::Sample(CaseSample::Blocks(ratio)) => {
            more_runs(claim.bounds(), ratio, done(ratio.n()), error)
        }
        CaseBasis::Sample(CaseSample::Signs(signs)) => {
            let more = equal_runs(error).saturating_sub(done(signs.n()));
            let is_open = claim.bounds().values().all(|bound| signs.agree(bound));
            u32::try_from(more.max(1)).ok().filter(|_| is_open)
        }
        // After the last look no more blocks help.
        CaseBasis::Sample(CaseSample::Live(live)) => {
            let next = LOOKS.into_iter().find(|look| *look as usize > live.blocks);
            next.map(|next| next.saturating_sub(u32::try_from(live.blocks).unwrap_or(next)))
        }
        CaseBasis::Sample(CaseSample::Hosts { .. }) => {
            return "only more hosts may tell".to_owned().into();
        }
        CaseBasis::Cuts => return after_cuts::open(claim).to_owned().into(),
    };
    match evidence.reason {
        Some(reason) => OpenReason::Reason(reason, more),
        None => OpenReason::Runs(more),
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
fn more_runs(bounds: Bounds, ratio: &LogRatio, done: usize, error: f64) -> Option<u32> {
    let distance = |bound: &f64| (ratio.mean_log() - bound.ln()).abs();
    let nearest = bounds.values().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
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

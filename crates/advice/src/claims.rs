//! Judges claims: holds, refuted, or undecided and how many more runs it would take.
//!
//! A claim bounds a ratio. It holds when the ratio is shown to lie within the bounds and is
//! refuted when it is shown to lie outside, each by one-sided t tests at half the error a
//! two-sided 95 % interval has; "not significant" is never taken for "the same". Where a plan
//! makes several claims, the p-values are adjusted by Holm's method, so that the chance of even
//! one wrong verdict stays below 5 %.
//!
//! On one host the sample size is the number of blocks. From two hosts on it is the number of
//! hosts, as a claim about SSDs does not become true because one of them has many blocks. Blocks do
//! not count even if hosts were not shown to differ: with few hosts that test has little power.
//!
//! Claims about what power cuts leave are judged by cuts (`after_cuts.rs`).
//!
//! Claims that were made or changed after results were known are corrected as a separate family.

use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::Claim;
use ssdlab_stats::{Heterogeneity, LogRatio, holm, runs_to_separate};

use super::case::{Evidence, Judgement, RestsOn, Verdict, blank, cases, tests, weigh};
use super::effects::ends;
use super::hosts::Found;
use super::pairs::Blocks;
use super::plausible::PlausibleDrives;
use super::{CONFIDENCE, after_cuts, best};

/// Judges every claim of the schedule; `by_host` are their ratios on each host, `drives` the trials
/// on plausible drives, if there were any.
pub(super) fn judge_all(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    by_host: &[Found],
    drives: Option<&PlausibleDrives<'_>>,
) -> Vec<Judgement> {
    let mut judged: Vec<(Judgement, Option<Evidence>)> = Vec::new();
    for claim in &schedule.claims {
        let cases = cases(schedule, claim);
        if cases.is_empty() || (claim.is_best && schedule.not_testable(claim).is_some()) {
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
            if claim.is_best {
                judged.push(best::weigh(schedule, blocks, case, cases.len() > 1));
                continue;
            }
            if let Some(what) = after_cuts::is_about(claim) {
                judged.push(after_cuts::weigh(schedule, blocks, case, what, cases.len() > 1));
                continue;
            }
            let (mut judgement, over_blocks) = weigh(schedule, blocks, case, cases.len() > 1);
            let own = |(one, _): &&Found| one.claim.as_deref() == Some(&*judgement.id);
            let across = by_host.iter().find(own).and_then(|(_, groups)| groups.as_ref());
            let is_open = judgement.verdict == Verdict::Undecided;
            let evidence = match across.filter(|_| is_open) {
                Some(groups) => across_hosts(&mut judgement, claim, groups),
                None => over_blocks,
            };
            judged.push((judgement, evidence));
        }
    }
    // A claim made after results were seen is one of many that could have been made.
    let (mut exploratory, mut confirmatory): (Vec<_>, Vec<_>) =
        judged.iter_mut().partition(|(judgement, _)| judgement.exploratory.is_some());
    settle(&mut confirmatory);
    settle(&mut exploratory);
    let mut judged: Vec<Judgement> = judged.into_iter().map(|(judgement, _)| judgement).collect();
    if let Some(drives) = drives {
        drives.judge(&mut judged);
    }
    judged
}

/// Tests a case by what its hosts have in common, instead of by its blocks.
fn across_hosts(
    judgement: &mut Judgement,
    claim: &Claim,
    groups: &Heterogeneity,
) -> Option<Evidence> {
    judgement.ratio = Some(groups.ratio());
    judgement.interval = Some(ends(groups.interval(CONFIDENCE)));
    judgement.across_hosts = Some(groups.k);
    let above = |bound: f64| Some(groups.p_above(bound));
    let (p_holds, p_refuted) = tests(claim, above, |bound| Some(groups.p_below(bound)))?;
    Some(Evidence { rests_on: RestsOn::Hosts, p_holds, p_refuted })
}

/// Turns evidence into verdicts, corrected for the number of claims.
fn settle(judged: &mut [&mut (Judgement, Option<Evidence>)]) {
    let raw: Vec<f64> = judged
        .iter()
        .filter_map(|(_, evidence)| evidence.as_ref())
        .map(|evidence| (2.0 * evidence.p_holds.min(evidence.p_refuted)).min(1.0))
        .collect();
    let error = 1.0 - CONFIDENCE;
    let each = error / raw.len().max(1) as f64;
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
            continue;
        }
        match &evidence.rests_on {
            RestsOn::Blocks(ratio) => judgement.more_runs = more_runs(judgement, ratio, each),
            RestsOn::Hosts => judgement.reason = Some("only more hosts may tell".to_owned()),
            RestsOn::Cuts => judgement.reason = Some(after_cuts::open(judgement).to_owned()),
        }
    }
}

/// Runs beyond those done until the interval is expected to clear the nearest bound.
fn more_runs(judgement: &Judgement, ratio: &LogRatio, error: f64) -> Option<u32> {
    let distance = |bound: &f64| (ratio.mean_log() - bound.ln()).abs();
    let bounds = [judgement.at_least, judgement.at_most];
    let nearest =
        bounds.into_iter().flatten().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let total = runs_to_separate(ratio.mean_log(), ratio.sd_log()?, nearest, error)?;
    let done = u32::try_from(ratio.n()).ok()?;
    Some(total.saturating_sub(done).max(1))
}

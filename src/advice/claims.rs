//! Judges claims: holds, refuted, or undecided and how many more runs it would take.
//!
//! A claim bounds a ratio. It holds when the ratio is shown to lie within the bounds and is
//! refuted when it is shown to lie outside, each by one-sided t tests at half the error a
//! two-sided 95 % interval has; "not significant" is never taken for "the same". Where a plan
//! makes several claims, the p-values are adjusted by Holm's method, so that the chance of even
//! one wrong verdict stays below 5 %.
//!
//! Blocks are what is counted, unless it is shown that the ratio is not the same on all hosts: then
//! it is hosts, as a claim about SSDs is not true because one of them has many blocks.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::{Heterogeneity, LogRatio, holm, runs_to_separate};

use super::effects::ends;
use super::hosts::Found;
use super::pairs::{Blocks, Quantity, Side, Which};
use super::{CONFIDENCE, best};
use crate::plan::schedule::Claim;
use crate::plan::{Levels, Schedule};

/// A claim and what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Judgement {
    /// The claim's name; with the treatment in brackets where it applies to several.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why there is no verdict, where the reason is not the number of runs.
    pub reason: Option<String>,
    /// The metric.
    pub metric: String,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The treatment; absent where it is not in this run.
    pub levels: Option<Levels>,
    /// The treatment it is compared with.
    pub baseline: Option<Levels>,
    /// Whether ratio, interval and bounds are of the metric itself, in its unit; nothing is
    /// compared then.
    pub is_absolute: bool,
    /// It holds if the ratio is at least this.
    pub at_least: Option<f64>,
    /// It holds if the ratio is at most this.
    pub at_most: Option<f64>,
    /// The ratio that was found: over blocks, or across hosts (`across_hosts`).
    pub ratio: Option<f64>,
    /// Its 95 % interval, not adjusted for the number of claims.
    pub interval: Option<[f64; 2]>,
    /// Blocks it rests on.
    pub n: usize,
    /// How many hosts it was judged across, where these are shown to differ: ratio, interval and
    /// p-value then count hosts and not blocks (random effects, one degree of freedom less than
    /// hosts). Absent where it was judged over blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across_hosts: Option<usize>,
    /// The two-sided p-value of the verdict, adjusted for the number of claims.
    pub p: Option<f64>,
    /// About how many more runs a verdict takes; absent where it is not the number that lacks.
    pub more_runs: Option<u32>,
    /// The treatments that it should have been compared with, and that were not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// What the verdict is limited to: what the lab cannot show, it does not claim.
    pub scope: Option<String>,
    /// The setting that follows if it holds.
    #[serde(skip)]
    pub if_holds: Option<String>,
    /// The setting that follows if it is refuted.
    #[serde(skip)]
    pub if_refuted: Option<String>,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was shown to be true here.
    Holds,
    /// It was shown to be false here.
    Refuted,
    /// Neither was shown.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        })
    }
}

/// A claim about one pair of treatments, or about one and all its rivals.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub claim: &'a Claim,
    pub side: Side,
    /// None where the claim is about the metric itself.
    pub baseline: Option<Side>,
}

impl Case<'_> {
    /// What was measured of it, or why nothing was.
    pub fn measured(&self, blocks: &Blocks<'_>) -> Result<LogRatio, String> {
        let quantity = Quantity { metric: &self.claim.metric, phases: &self.claim.phases };
        match self.baseline {
            Some(baseline) => blocks.compare(quantity, self.side, baseline, Which::FirstStep),
            None => blocks.values(quantity, self.side, Which::FirstStep),
        }
    }
}

/// Every pair of treatments in the schedule that a claim is about.
pub(super) fn cases<'a>(schedule: &Schedule, claim: &'a Claim) -> Vec<Case<'a>> {
    let side = |levels: &Levels| {
        let treatment = schedule.find(levels)?;
        let excess_over = match &claim.excess_over {
            Some(part) => Some(schedule.find(&levels.with(part))?),
            None => None,
        };
        Some(Side { treatment, excess_over })
    };
    schedule
        .treatments
        .iter()
        .filter(|t| t.levels.matches(&claim.only) && t.levels.matches(&claim.compare))
        .filter_map(|t| {
            let is_compared = !claim.is_absolute && !claim.is_best;
            let against = is_compared.then(|| t.levels.with(&claim.against));
            let baseline = match against {
                Some(levels) => Some(side(&levels)?),
                None => None,
            };
            Some(Case { claim, side: side(&t.levels)?, baseline })
        })
        .collect()
}

/// Judges every claim of the schedule; `by_host` are their ratios on each host.
pub(super) fn judge_all(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    by_host: &[Found],
) -> Vec<Judgement> {
    let mut judged: Vec<(Judgement, Option<Evidence>)> = Vec::new();
    for claim in &schedule.claims {
        let cases = cases(schedule, claim);
        if cases.is_empty() {
            let mut judgement = blank(claim, claim.id.clone());
            judgement.reason = Some("this run has no such pair of treatments".to_owned());
            judged.push((judgement, None));
        }
        for case in &cases {
            if claim.is_best {
                judged.push(best::weigh(schedule, blocks, case, cases.len() > 1));
                continue;
            }
            let (mut judgement, over_blocks) = weigh(schedule, blocks, case, cases.len() > 1);
            let own = |(one, _): &&Found| one.claim.as_deref() == Some(&*judgement.id);
            let differing = by_host.iter().find(own).filter(|(one, _)| one.hosts_differ());
            let across = differing.and_then(|(_, groups)| groups.as_ref());
            let evidence = match across {
                Some(groups) => across_hosts(&mut judgement, claim, groups),
                None => over_blocks,
            };
            judged.push((judgement, evidence));
        }
    }
    settle(&mut judged);
    judged.into_iter().map(|(judgement, _)| judgement).collect()
}

/// The tests of one case, before the correction for several claims.
pub(super) struct Evidence {
    /// The ratio over blocks, of which more may tell; none across hosts, where they do not.
    pub ratio: Option<LogRatio>,
    pub p_holds: f64,
    pub p_refuted: f64,
}

fn blank(claim: &Claim, id: String) -> Judgement {
    Judgement {
        id,
        says: claim.says.clone(),
        verdict: Verdict::Undecided,
        reason: None,
        metric: claim.metric.clone(),
        phases: claim.phases.clone(),
        levels: None,
        baseline: None,
        is_absolute: claim.is_absolute,
        at_least: claim.at_least,
        at_most: claim.at_most,
        ratio: None,
        interval: None,
        n: 0,
        across_hosts: None,
        p: None,
        more_runs: None,
        not_measured: Vec::new(),
        scope: None,
        if_holds: claim.if_holds.clone(),
        if_refuted: claim.if_refuted.clone(),
    }
}

/// A judgement of a case, before anything is judged.
pub(super) fn named(schedule: &Schedule, case: &Case<'_>, is_one_of_several: bool) -> Judgement {
    let claim = case.claim;
    let levels = &schedule.treatments[case.side.treatment].levels;
    let distinct = schedule.distinct(levels);
    let id = if is_one_of_several { format!("{}[{distinct}]", claim.id) } else { claim.id.clone() };
    Judgement { levels: Some(levels.clone()), ..blank(claim, id) }
}

pub(super) fn weigh(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &Case<'_>,
    is_one_of_several: bool,
) -> (Judgement, Option<Evidence>) {
    let claim = case.claim;
    let mut judgement = named(schedule, case, is_one_of_several);
    judgement.baseline =
        case.baseline.map(|side| schedule.treatments[side.treatment].levels.clone());
    let ratio = match case.measured(blocks) {
        Ok(ratio) => ratio,
        Err(reason) => {
            judgement.reason = Some(reason);
            return (judgement, None);
        }
    };
    judgement.ratio = Some(ratio.ratio());
    judgement.interval = ratio.interval(CONFIDENCE).map(ends);
    judgement.n = ratio.n();
    if ratio.n() < 2 {
        judgement.reason = Some("one run has no interval".to_owned());
        judgement.more_runs = Some(1);
        return (judgement, None);
    }
    let tests = tests(claim, |bound| ratio.p_above(bound), |bound| ratio.p_below(bound));
    let evidence = |(p_holds, p_refuted)| Evidence { ratio: Some(ratio), p_holds, p_refuted };
    (judgement, tests.map(evidence))
}

/// Weighs a case by what its hosts have in common, instead of by its blocks.
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
    Some(Evidence { ratio: None, p_holds, p_refuted })
}

/// The p-values of "it holds" and "it is refuted", by those of lying above and below a bound.
fn tests(
    claim: &Claim,
    above: impl Fn(f64) -> Option<f64>,
    below: impl Fn(f64) -> Option<f64>,
) -> Option<(f64, f64)> {
    Some(match (claim.at_least, claim.at_most) {
        (Some(low), Some(high)) => (above(low)?.max(below(high)?), below(low)?.min(above(high)?)),
        (Some(low), None) => (above(low)?, below(low)?),
        (None, Some(high)) => (below(high)?, above(high)?),
        (None, None) => return None,
    })
}

/// Turns evidence into verdicts, corrected for the number of claims.
fn settle(judged: &mut [(Judgement, Option<Evidence>)]) {
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
        if let Some(ratio) = &evidence.ratio {
            judgement.more_runs = more_runs(judgement, ratio, each);
        } else {
            judgement.reason = Some("only more hosts may tell".to_owned());
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

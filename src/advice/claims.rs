//! Judges claims: holds, refuted, or undecided and how many more runs it would take.
//!
//! A claim bounds a ratio. It holds when the ratio is shown to lie within the bounds and is
//! refuted when it is shown to lie outside, each by one-sided t tests at half the error a
//! two-sided 95 % interval has; "not significant" is never taken for "the same". Where a plan
//! makes several claims, the p-values are adjusted by Holm's method, so that the chance of even
//! one wrong verdict stays below 5 %.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::{LogRatio, holm, runs_to_separate};

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
    /// The ratio that was found.
    pub ratio: Option<f64>,
    /// Its 95 % interval, not adjusted for the number of claims.
    pub interval: Option<[f64; 2]>,
    /// Blocks it rests on.
    pub n: usize,
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

/// Judges every claim of the schedule.
pub(super) fn judge_all(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<Judgement> {
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
            judged.push(weigh(schedule, blocks, case, cases.len() > 1));
        }
    }
    settle(&mut judged);
    judged.into_iter().map(|(judgement, _)| judgement).collect()
}

/// The tests of one case, before the correction for several claims.
pub(super) struct Evidence {
    pub ratio: LogRatio,
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
    judgement.interval = ratio.interval(CONFIDENCE).map(|interval| [interval.lo, interval.hi]);
    judgement.n = ratio.n();
    if ratio.n() < 2 {
        judgement.reason = Some("one run has no interval".to_owned());
        judgement.more_runs = Some(1);
        return (judgement, None);
    }
    let evidence = evidence(claim, ratio);
    (judgement, evidence)
}

fn evidence(claim: &Claim, ratio: LogRatio) -> Option<Evidence> {
    let above = |bound: f64| ratio.p_above(bound);
    let below = |bound: f64| ratio.p_below(bound);
    let (p_holds, p_refuted) = match (claim.at_least, claim.at_most) {
        (Some(low), Some(high)) => (above(low)?.max(below(high)?), below(low)?.min(above(high)?)),
        (Some(low), None) => (above(low)?, below(low)?),
        (None, Some(high)) => (below(high)?, above(high)?),
        (None, None) => return None,
    };
    Some(Evidence { ratio, p_holds, p_refuted })
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
        if judgement.verdict == Verdict::Undecided {
            judgement.more_runs = more_runs(judgement, &evidence.ratio, each);
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

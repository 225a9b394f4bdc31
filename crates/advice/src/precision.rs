//! Whether a run has measured precisely enough to stop.
//!
//! Runs stop on the width of intervals, not on a verdict: a run that continues until a test gives
//! the desired result would nearly always reach it (A. Wald, Sequential Analysis, 1947, ch. 1).
//! Only those of the live lab may, after three planned numbers of blocks, each judged at a third of
//! the error.
//!
//! Stopping on width is not free either: an interval that has just become narrow is one whose
//! blocks happen to agree (Y. S. Chow and H. Robbins, "On the asymptotic theory of fixed-width
//! sequential confidence intervals for the mean", Annals of Mathematical Statistics 36, 1965), and
//! misses the truth in up to 9 % of runs that look from the third block on. So a run looks from the
//! sixth on, and goes on for four blocks after the interval was narrow: they had no say in it
//! (N. Starr, "The performance of a sequential procedure for the fixed-width interval estimation of
//! the mean", Annals of Mathematical Statistics 37, 1966). See docs/method.md.

use ssdlab_plan::live::LOOKS;
use ssdlab_plan::{LabKind, Schedule};
use ssdlab_results::Record;
use ssdlab_stats::FEWEST_RUNS;

use super::CONFIDENCE;
use super::best::rivals;
use super::case::cases;
use super::claims::judge_all;
use super::effects::shared_phases;
use super::judgement::{Judgement, Verdict};
use super::pairs::{Blocks, ComparedSide, Quantity, StepChoice};

/// The blocks that follow those whose intervals were narrow.
const SETTLING: u32 = 4;

/// How precise a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// The widest interval among the effects that matter: half its width relative to the
    /// effect. `None` while there is an effect without an interval.
    pub widest: Option<f64>,
    /// Whether that is as narrow as the plan asks for.
    pub is_reached: bool,
}

/// The precision of the effects that the plan is about: those of its claims or, without claims,
/// that of its metric over all phases. Effects that cannot have a ratio (a count of 0) and excesses
/// (a small difference of large numbers) are left out: no number of runs would narrow them.
pub fn precision(schedule: &Schedule, records: &[Record]) -> Precision {
    of_blocks(schedule, &Blocks::of(schedule, records))
}

fn of_blocks(schedule: &Schedule, blocks: &Blocks<'_>) -> Precision {
    let widths = widths(schedule, blocks);
    let widest = widths
        .iter()
        .try_fold(0.0_f64, |widest, width| width.map(|w| widest.max(w)))
        .filter(|_| !widths.is_empty());
    let is_reached = widest.is_some_and(|widest| widest <= schedule.repetitions.precision);
    Precision { widest, is_reached }
}

/// Whether a run may stop because it is precise: it was four blocks ago, after six or more. In the
/// live lab, because a look has decided every claim.
pub fn may_stop(schedule: &Schedule, records: &[Record]) -> bool {
    let ran = records.iter().map(|record| record.trial.block + 1).max().unwrap_or(0);
    if schedule.is_in(LabKind::Live) {
        return LOOKS.contains(&ran) && are_all_decided(schedule, records);
    }
    let looked_at = ran.saturating_sub(SETTLING);
    let early = Blocks::of(schedule, records).before(looked_at);
    looked_at as usize >= FEWEST_RUNS && of_blocks(schedule, &early).is_reached
}

/// Whether every claim has its verdict, at a look of the live lab: its error is that of three.
fn are_all_decided(schedule: &Schedule, records: &[Record]) -> bool {
    let claims = judge_all(schedule, &Blocks::of(schedule, records), None, None);
    let is_open = |claim: &Judgement| claim.outcome.verdict() == Verdict::Undecided;
    !claims.is_empty() && !claims.iter().any(is_open)
}

fn widths(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<Option<f64>> {
    let width = |side: ComparedSide<'_>, baseline: ComparedSide<'_>| {
        let ratio = blocks.compare(side, Some(baseline), StepChoice::LastStep).ok()?;
        Some(ratio.relative_half_width(CONFIDENCE))
    };
    if schedule.claims.is_empty() {
        return (0..schedule.treatments.len())
            .filter_map(|index| {
                let baseline = schedule.treatments[index].baseline?;
                let phases = shared_phases(schedule, index, baseline);
                let quantity = Quantity { metric: schedule.metric, phases: &phases };
                width(quantity.of(index), quantity.of(baseline))
            })
            .collect();
    }
    schedule
        .claims
        .iter()
        .filter(|claim| claim.excess_over().is_none())
        .flat_map(|claim| cases(schedule, claim))
        .flat_map(|case| {
            if !case.claim.is_best() {
                return vec![case.measured(blocks)];
            }
            let rivals = rivals(schedule, &case).into_iter();
            rivals.map(|rival| case.against(rival).measured(blocks)).collect()
        })
        .filter_map(|measured| Some(measured.ok()?.relative_half_width(CONFIDENCE)))
        .collect()
}

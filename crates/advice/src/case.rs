//! One case of a claim: the treatments it compares, and what was measured.

use ssdlab_plan::schedule::{Bounds, Claim};
use ssdlab_plan::{LabKind, Schedule};
use ssdlab_stats::{FEWEST_RUNS, Heterogeneity, LogRatio, p_of_signs};

use super::CONFIDENCE;
use super::judgement::{ClaimEstimate, Conclusion, EstimatedValue, OpenReason, Outcome};
use super::nothing::Signs;
use super::over_drives::guarantee;
use super::pairs::{Blocks, ComparedSide, Quantity, StepChoice};
use super::switchback::LiveRatio;

/// A claim about one pair of treatments, or about one treatment and all its rivals.
#[derive(Clone, Copy)]
pub(super) struct ComparedCase<'a> {
    pub claim: &'a Claim,
    pub side: ComparedSide<'a>,
    /// `None` if the claim is about the metric itself.
    pub baseline: Option<ComparedSide<'a>>,
}

impl ComparedCase<'_> {
    /// Its name: the claim's, with the treatment in brackets if it is one of several cases.
    pub fn id(&self, schedule: &Schedule, is_one_of_several: bool) -> String {
        let id = &self.claim.id;
        let distinct = || schedule.distinct(&schedule.treatments[self.side.treatment].levels);
        if is_one_of_several { format!("{id}[{}]", distinct()) } else { id.clone() }
    }

    /// The same side against another treatment.
    pub fn against(self, treatment: usize) -> Self {
        Self { baseline: Some(self.side.quantity.of(treatment)), ..self }
    }

    /// Whether both sides are the same computation, so that nothing was compared.
    pub fn is_one_computation(&self, blocks: &Blocks<'_>) -> bool {
        self.baseline.is_some_and(|other| blocks.are_identical(self.side, other))
    }

    /// The measured log-ratio over blocks, or why there is none.
    pub fn measured(&self, blocks: &Blocks<'_>) -> Result<LogRatio, String> {
        blocks.compare(self.side, self.baseline, StepChoice::FirstStep)
    }

    /// What the case is tested on, and the number of blocks that it rests on, or why there is
    /// nothing.
    pub fn sample(&self, blocks: &Blocks<'_>) -> Result<(CaseSample, usize), String> {
        if let Some(baseline) = self.baseline.filter(|_| blocks.are_live()) {
            let live = blocks.compare_totals(self.side, baseline)?;
            let n = live.blocks;
            return Ok((CaseSample::Live(live), n));
        }
        let over_blocks = match self.measured(blocks) {
            Ok(over_blocks) => over_blocks,
            Err(why) => {
                let signs = blocks.against_nothing(self.side, self.baseline, StepChoice::FirstStep);
                let signs = signs.ok_or(why)?;
                let n = signs.n();
                return Ok((CaseSample::Signs(signs), n));
            }
        };
        let n = over_blocks.n();
        let by_host = blocks.compare_by_host(self.side, self.baseline, StepChoice::FirstStep);
        let hosts: Vec<LogRatio> = by_host.into_values().collect();
        let are_equal = hosts.iter().all(|host| {
            host.mean_log().total_cmp(&hosts[0].mean_log()).is_eq()
                && host.sd_log().is_none_or(|sd| sd == 0.0)
        });
        let sample = match Heterogeneity::among(&hosts) {
            Some(across) => CaseSample::Hosts { across, are_equal },
            None => CaseSample::Blocks(over_blocks),
        };
        Ok((sample, n))
    }
}

/// What a case is tested on: blocks or, where two or more hosts have measured it, hosts.
#[derive(Clone)]
pub(super) enum CaseSample {
    Blocks(LogRatio),
    Hosts {
        across: Heterogeneity,
        are_equal: bool,
    },
    /// Pairs without a ratio, as one side has nothing.
    Signs(Signs),
    /// Stretches of a running machine's time.
    Live(LiveRatio),
}

impl CaseSample {
    /// Whether all of its values are equal.
    fn are_equal(&self) -> bool {
        match self {
            Self::Blocks(ratio) => ratio.sd_log() == Some(0.0),
            Self::Hosts { are_equal, .. } => *are_equal,
            Self::Signs(_) | Self::Live(_) => false,
        }
    }

    /// Why it is of too few runs or hosts for a verdict, if it is.
    fn why_too_small(&self, runs: usize) -> Option<OpenReason> {
        if let Self::Live(live) = self {
            return live.why_open();
        }
        let (of, what, missing) = match self {
            Self::Hosts { across, are_equal: true } if runs >= FEWEST_RUNS => {
                (across.k, "hosts", None)
            }
            _ => (runs, "runs", u32::try_from(FEWEST_RUNS.saturating_sub(runs)).ok()),
        };
        let is_open = of < FEWEST_RUNS;
        let why = if self.are_equal() {
            let others = 100.0 * (1.0 - guarantee(of));
            format!(
                "equal in {of} of {of} {what}: up to {others:.0} % of others may differ; a verdict \
                 takes {FEWEST_RUNS}"
            )
        } else if of == 1 {
            "one run has no interval".to_owned()
        } else {
            format!("{of} {what}, and a verdict takes {FEWEST_RUNS}")
        };
        is_open.then_some(OpenReason::Reason(why, missing))
    }

    /// What it shows, which rests on so many blocks.
    fn estimate(&self, n: usize) -> ClaimEstimate {
        let (found, across_hosts) = match self {
            Self::Blocks(of) => {
                let interval = of.interval(CONFIDENCE).map(Into::into);
                (EstimatedValue::Ratio { ratio: of.ratio(), interval }, None)
            }
            Self::Hosts { across, .. } => {
                let interval = Some(across.interval(CONFIDENCE).into());
                (EstimatedValue::Ratio { ratio: across.ratio(), interval }, Some(across.k))
            }
            Self::Signs(signs) => (EstimatedValue::AgainstNothing(signs.found()), None),
            Self::Live(live) => return live.estimate(),
        };
        ClaimEstimate { found, n, across_hosts, p: None }
    }

    /// The p-values of lying within bounds, and outside.
    pub fn tests(&self, bounds: Bounds) -> (f64, f64) {
        let at_most = |bound| {
            let (above, below) = self.p_above_and_below(bound);
            (below, above)
        };
        tests(bounds, |bound| self.p_above_and_below(bound), at_most)
    }

    /// The p-values of lying above and below a bound.
    fn p_above_and_below(&self, bound: f64) -> (f64, f64) {
        match self {
            Self::Blocks(ratio) => ratio.p_above(bound).zip(ratio.p_below(bound)).expect(TESTED),
            Self::Signs(signs) => signs.p_above_and_below(bound),
            Self::Live(live) => live.p_above_and_below(bound),
            Self::Hosts { across, are_equal } => {
                // If all are equal, the sign test, as of blocks.
                let least = if *are_equal { p_of_signs(across.k, across.k) } else { 0.0 };
                let p = |p: f64| p.clamp(least, 1.0 - least);
                (p(across.p_above(bound)), p(across.p_below(bound)))
            }
        }
    }
}

/// What [`measure`] promises of its samples.
const TESTED: &str = "a sample that is tested has an interval";

/// Every pair of treatments in the schedule that a claim is about.
pub(super) fn cases<'a>(schedule: &Schedule, claim: &'a Claim) -> Vec<ComparedCase<'a>> {
    let side = |treatment: usize, phases: &'a [String]| {
        let excess_over = claim.less(schedule, treatment);
        let is_there = excess_over.is_some() || claim.excess_over().is_none();
        let quantity = Quantity { metric: claim.metric, phases };
        is_there.then_some(ComparedSide { excess_over, ..quantity.of(treatment) })
    };
    let case = |(own, other): (usize, Option<usize>)| {
        let baseline = match other {
            Some(other) => Some(side(other, claim.other_phases())?),
            None => None,
        };
        Some(ComparedCase { claim, side: side(own, &claim.phases)?, baseline })
    };
    claim.pairs(schedule).into_iter().filter_map(case).collect()
}

/// A case that was measured and can be tested.
pub(super) struct CaseTests {
    pub estimate: ClaimEstimate,
    pub rests_on: CaseBasis,
    pub p_holds: f64,
    pub p_refuted: f64,
    /// Why it is open unless tests decide it.
    pub reason: Option<String>,
}

/// What a case is judged by, and needs more of while it is open.
pub(super) enum CaseBasis {
    Sample(CaseSample),
    Cuts,
}

/// The tests of a case, before the correction for several claims; or what became of it without.
pub(super) type CaseTestResult = Result<CaseTests, Outcome>;

/// Tests a case by its hosts, if it has several, or by its blocks.
pub(super) fn weigh(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &ComparedCase<'_>,
) -> CaseTestResult {
    let (estimate, sample) = measure(schedule, blocks, case).map_err(Outcome::NotCompared)?;
    let open = |why| Outcome::Measured { estimate, conclusion: Conclusion::Open(why) };
    let sample = sample.map_err(open)?;
    let (p_holds, p_refuted) = sample.tests(case.claim.bounds());
    Ok(CaseTests {
        estimate,
        rests_on: CaseBasis::Sample(sample),
        p_holds,
        p_refuted,
        reason: None,
    })
}

/// What was found for a case, with what it can be tested on, or why it cannot be; or why nothing
/// was found.
pub(super) fn measure(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &ComparedCase<'_>,
) -> Result<(ClaimEstimate, Result<CaseSample, OpenReason>), OpenReason> {
    let untested = schedule.not_testable(case.claim).map(OpenReason::Untested);
    let (sample, n) = match case.sample(blocks) {
        Ok(found) => found,
        Err(reason) => return Err(untested.unwrap_or_else(|| reason.into())),
    };
    let same = || case.is_one_computation(blocks).then_some(OpenReason::Identical);
    let unlike = || unlike(schedule, case.claim).map(OpenReason::from);
    let why = untested.or_else(same).or_else(unlike).or_else(|| sample.why_too_small(n));
    Ok((sample.estimate(n), why.map_or(Ok(sample), Err)))
}

/// Why a claim about an amount cannot be judged by what this run measured.
pub(super) fn unlike(schedule: &Schedule, claim: &Claim) -> Option<String> {
    let is_live = schedule.is_in(LabKind::Live);
    let why =
        || "how much it is depends on what the machine does; the live lab compares".to_owned();
    let live = (is_live && claim.is_absolute()).then(why);
    live.or_else(|| schedule.unlike(claim.metric).filter(|_| claim.is_absolute()))
}

/// The p-values of "it holds" and "it is refuted", from those of each bound: it holds if it is
/// within both, and is refuted if it is not within one.
pub(super) fn tests(
    bounds: Bounds,
    at_least: impl FnOnce(f64) -> (f64, f64),
    at_most: impl FnOnce(f64) -> (f64, f64),
) -> (f64, f64) {
    match bounds {
        Bounds::AtLeast(low) => at_least(low),
        Bounds::AtMost(high) => at_most(high),
        Bounds::Between(low, high) => {
            let (one, other) = (at_least(low), at_most(high));
            (one.0.max(other.0), one.1.min(other.1))
        }
    }
}

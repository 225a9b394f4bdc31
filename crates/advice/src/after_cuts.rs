//! Judges claims about power cuts: not by blocks, but by the cuts of all trials of a treatment.
//!
//! A frequency gets the exact interval of a proportion (Clopper and Pearson), a median or another
//! quantile the exact interval of its rank; neither assumes a distribution. Two treatments are
//! compared by one bound of each, at half the error, so that both hold at the full error (C. E.
//! Bonferroni, "Teoria statistica delle classi e calcolo delle probabilità", 1936), however the two
//! depend on each other. This needs more cuts than a paired method might, but no other assumption.

use ssdlab_operations::cuts::{self, Finding};
use ssdlab_plan::Schedule;
use ssdlab_plan::metric::{AfterCuts, Source, Unit};
use ssdlab_plan::schedule::Claim;
use ssdlab_stats::{clopper_pearson, quantile_interval};

use super::CONFIDENCE;
use super::case::{CaseBasis, CaseTestResult, CaseTests, ComparedCase, tests, unlike};
use super::cuts::{by_cut, count, lost, quantile, recovery};
use super::judgement::{self, ClaimEstimate, Conclusion, OpenReason, Outcome};
use super::pairs::{Blocks, ComparedSide};

/// The range of errors that is searched for the smallest at which a claim is shown, and how often
/// the range of their logarithms is halved.
const LEAST_ERROR: f64 = 1e-12;
const MOST_ERROR: f64 = 0.499;
const STEPS: u32 = 40;

/// The outcome of a treatment's cuts.
enum CutSummary {
    /// The number of cuts with an outcome, of all cuts.
    Share { count: u64, number: u64 },
    /// The value of each cut, in ascending order, and the quantile of interest.
    Quantile { sorted: Vec<f64>, percent: usize },
}

impl CutSummary {
    /// Of each cut the worst that it may have left counts: its survivors are not independent.
    fn of(what: AfterCuts, cuts: &[&[cuts::CutOutcome]]) -> Self {
        let lost = |of, percent| Self::quantile(lost(cuts.iter().copied(), of), percent);
        match what {
            AfterCuts::BrokenPromises => Self::share(cuts, Finding::BrokenPromise),
            AfterCuts::Damaged => Self::share(cuts, Finding::Damaged),
            AfterCuts::Unmountable => Self::share(cuts, Finding::Unmountable),
            AfterCuts::Amiss => Self::share(cuts, Finding::Amiss),
            AfterCuts::Rejected => Self::share(cuts, Finding::Rejected),
            AfterCuts::LostTime => lost(|verdict| verdict.lost_ns, 50),
            AfterCuts::LostTimeP99 => lost(|verdict| verdict.lost_ns, 99),
            AfterCuts::LostBytes => lost(|verdict| verdict.lost_bytes, 50),
            AfterCuts::Recovery => Self::quantile(recovery(cuts.iter().copied()), 50),
        }
    }

    /// How many of those cuts that could tell had a finding.
    fn share(cuts: &[&[cuts::CutOutcome]], finding: Finding) -> Self {
        let [count, number] = count(cuts.iter().copied(), |outcome| outcome.has(finding));
        Self::Share { count, number }
    }

    fn quantile(values: impl Iterator<Item = u64>, percent: usize) -> Self {
        let mut sorted: Vec<f64> = values.map(|value| value as f64).collect();
        sorted.sort_by(f64::total_cmp);
        Self::Quantile { sorted, percent }
    }

    fn number(&self) -> usize {
        match self {
            Self::Share { number, .. } => usize::try_from(*number).unwrap_or(usize::MAX),
            Self::Quantile { sorted, .. } => sorted.len(),
        }
    }

    /// The share in per cent, or the quantile; 0 where there is none.
    fn value(&self) -> f64 {
        match self {
            Self::Share { count, number } => 100.0 * *count as f64 / (*number).max(1) as f64,
            Self::Quantile { sorted, percent } => {
                quantile(sorted, *percent).map_or(0.0, |[low, high]| f64::midpoint(low, high))
            }
        }
    }

    /// What replaces 0 in ratios: half a cut, a nanosecond or a byte.
    fn least(&self) -> f64 {
        match self {
            Self::Share { number, .. } => 50.0 / (*number).max(1) as f64,
            Self::Quantile { .. } => 1.0,
        }
    }

    /// The lower and the upper bound, each wrong with probability `error`, which is below a half.
    fn bounds(&self, error: f64) -> [f64; 2] {
        let confidence = 1.0 - 2.0 * error;
        match self {
            Self::Share { count, number } => {
                let interval = clopper_pearson(*count, *number, confidence);
                interval.map_or([0.0, 100.0], |found| [100.0 * found.lo, 100.0 * found.hi])
            }
            Self::Quantile { sorted, percent } => {
                let found = quantile_interval(sorted, *percent as f64 / 100.0, confidence);
                [found.lo.max(0.0), found.hi]
            }
        }
    }

    /// The bounds of one side of a ratio: what was measured as 0 counts as the least that can be
    /// measured, while a bound of a share may be 0 without having been measured.
    fn bounds_in_ratio(&self, error: f64) -> [f64; 2] {
        let floor = match self {
            Self::Share { .. } => 0.0,
            Self::Quantile { .. } => self.least(),
        };
        self.bounds(error / 2.0).map(|end| end.max(floor))
    }
}

/// The outcome of one side, or of two that are compared.
struct Sides {
    own: CutSummary,
    other: Option<CutSummary>,
}

impl Sides {
    /// The value of one side, or the ratio of two.
    fn value(&self) -> f64 {
        let least = |of: &CutSummary| of.value().max(of.least());
        self.other
            .as_ref()
            .map_or_else(|| self.own.value(), |other| least(&self.own) / least(other))
    }

    /// Its interval; `None` if an end is infinite.
    fn interval(&self) -> Option<[f64; 2]> {
        let error = (1.0 - CONFIDENCE) / 2.0;
        let ends = match &self.other {
            None => self.own.bounds(error),
            Some(other) => {
                let ([low, high], [other_low, other_high]) =
                    (self.own.bounds_in_ratio(error), other.bounds_in_ratio(error));
                [low / other_high, high / other_low]
            }
        };
        ends.iter().all(|end| end.is_finite()).then_some(ends)
    }

    /// The p-values of "the value is at least this" and of its contrary.
    fn at_least(&self, bound: f64) -> (f64, f64) {
        (
            self.p(bound, |own, bound| own[0] >= bound[1]),
            self.p(bound, |own, bound| own[1] < bound[0]),
        )
    }

    /// The p-values of "the value is at most this" and of its contrary.
    fn at_most(&self, bound: f64) -> (f64, f64) {
        (
            self.p(bound, |own, bound| own[1] <= bound[0]),
            self.p(bound, |own, bound| own[0] > bound[1]),
        )
    }

    /// The p-value of what is shown by the lower and the upper bound of the own value and of
    /// `bound`, which is a multiple of the other's value if two are compared.
    fn p(&self, bound: f64, is_shown: impl Fn([f64; 2], [f64; 2]) -> bool) -> f64 {
        smallest_error(|error| match &self.other {
            None => is_shown(self.own.bounds(error), [bound; 2]),
            Some(other) => {
                let others = other.bounds_in_ratio(error).map(|end| bound * end);
                is_shown(self.own.bounds_in_ratio(error), others)
            }
        })
    }
}

/// The smallest error at which something is shown; 1 if it takes more than a half.
fn smallest_error(is_shown: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (LEAST_ERROR.ln(), MOST_ERROR.ln());
    if !is_shown(MOST_ERROR) {
        return 1.0;
    }
    if is_shown(LEAST_ERROR) {
        return LEAST_ERROR;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if is_shown(middle.exp()) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high.exp()
}

/// What a claim says about power cuts; `None` if it is about something else.
pub(super) fn harm_of(claim: &Claim) -> Option<AfterCuts> {
    match claim.metric.source {
        Source::Cuts(what) => Some(what),
        _ => None,
    }
}

/// Tests a case by its cuts.
pub(super) fn weigh(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &ComparedCase<'_>,
    what: AfterCuts,
) -> CaseTestResult {
    let claim = case.claim;
    if let Some(why) = schedule.not_testable(claim) {
        return Err(Outcome::NotCompared(OpenReason::Untested(why)));
    }
    let of = |side: ComparedSide<'_>| {
        let cuts = blocks.trials(side.treatment).into_iter().flat_map(by_cut);
        let own: Vec<&[cuts::CutOutcome]> =
            cuts.filter(|cut| claim.phases.contains(&cut[0].phase)).collect();
        CutSummary::of(what, &own)
    };
    let sides = Sides { own: of(case.side), other: case.baseline.map(of) };
    let number = sides.other.iter().map(CutSummary::number).fold(sides.own.number(), usize::min);
    if number == 0 {
        let why = "no power cut that tells it was made in these phases".to_owned();
        return Err(Outcome::NotCompared(why.into()));
    }
    let found =
        judgement::EstimatedValue::Ratio { ratio: sides.value(), interval: sides.interval() };
    let estimate = ClaimEstimate { found, n: sides.own.number(), across_hosts: None, p: None };
    if let Some(unlike) = unlike(schedule, claim) {
        let conclusion = Conclusion::Open(unlike.into());
        return Err(Outcome::Measured { estimate, conclusion });
    }
    let (p_holds, p_refuted) =
        tests(claim.bounds(), |bound| sides.at_least(bound), |bound| sides.at_most(bound));
    Ok(CaseTests { estimate, rests_on: CaseBasis::Cuts, p_holds, p_refuted, reason: None })
}

/// What may decide a claim that these cuts leave open.
pub(super) fn open(claim: &Claim) -> &'static str {
    let is_share = claim.metric.unit == Unit::Percent;
    let [at_least, at_most] = claim.bounds().ends();
    if claim.is_absolute() && at_most == Some(0.0) {
        "no number of cuts shows that there is none: claim a share, at_most = \"1 %\""
    } else if claim.is_absolute() && is_share && at_least == Some(100.0) {
        "no number of cuts shows that it is always so: claim a share, at_least = \"99 %\""
    } else {
        "more cuts may tell: a larger `number` in [cuts]"
    }
}

#[cfg(test)]
mod tests;

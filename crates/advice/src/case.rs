//! One case of a claim: the treatments it compares, what was measured, and what that proves.

use std::{fmt, slice};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric;
use ssdlab_plan::schedule::{Bounds, Claim};
use ssdlab_plan::{Basis, Levels, Schedule};
use ssdlab_stats::{FEWEST_RUNS, Heterogeneity, LogRatio, p_of_signs};

use super::CONFIDENCE;
use super::flip::Flip;
use super::nothing::{AgainstNothing, Signs};
use super::over_drives::{OverDrives, guarantee};
use super::pairs::{Blocks, Quantity, Side, Which};

/// A claim and its verdict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Judgement {
    /// The claim's name; with the treatment in brackets where it applies to several.
    pub id: String,
    /// The claim's name in the plan.
    pub claim: String,
    /// The claim in words.
    pub says: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why there is no verdict, unless the reason is too few runs.
    pub reason: Option<String>,
    /// The metric.
    pub metric: String,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The phase that it is compared with, where two phases of each trial are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_phase: Option<String>,
    /// The treatment; absent where it is not in this run.
    pub levels: Option<Levels>,
    /// The treatment it is compared with.
    pub baseline: Option<Levels>,
    /// The compared levels, as in the plan; `levels` and `baseline` are the complete levels of the
    /// treatments.
    pub compare: Levels,
    /// The levels they are compared with; empty if nothing is compared, or if they are compared
    /// with all others.
    pub against: Levels,
    /// The levels of the treatments over which both sides' excess is taken, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_over: Option<Levels>,
    /// Whether ratio, interval and bounds are values of the metric itself, in its unit, so that
    /// nothing is compared.
    pub is_absolute: bool,
    /// It holds if the ratio is at least this.
    pub at_least: Option<f64>,
    /// It holds if the ratio is at most this.
    pub at_most: Option<f64>,
    /// The ratio that was found: over blocks, or across hosts (`across_hosts`).
    pub ratio: Option<f64>,
    /// What was found instead where one side has nothing, so that there is no ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against_nothing: Option<AgainstNothing>,
    /// Its 95 % interval, not adjusted for the number of claims; absent where an end is infinite.
    pub interval: Option<[f64; 2]>,
    /// The number of blocks it rests on; for metrics of power cuts, the number of cuts.
    pub n: usize,
    /// The results on plausible drives, in a run that draws them: the verdict is based on these,
    /// whereas `ratio` is for the published drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausible: Option<OverDrives>,
    /// How single parameters of the drive affect the verdict, if `ssdlab flip` has tested them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<Flip>,
    /// How many hosts it was judged across, where two or more have measured: ratio, interval and
    /// p-value then count hosts and not blocks (random effects, one degree of freedom less than
    /// hosts). Absent where it was judged over blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across_hosts: Option<usize>,
    /// The two-sided p-value of the verdict, adjusted for the number of claims and for the earlier
    /// runs that left it open.
    pub p: Option<f64>,
    /// How many consecutive earlier runs made the same measurements and left the claim undecided:
    /// each has spent part of the permitted error probability.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_open: u32,
    /// The approximate number of additional runs needed for a verdict; absent unless too few runs
    /// are the reason that there is none.
    pub more_runs: Option<u32>,
    /// The treatments that it should have been compared with, and that were not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// The value that the source states, in the unit of the bounds; absent if this run is not
    /// comparable with the source's measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// What agreement with that number says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The part of the virtual lab's models from which the claim follows, if it does: its verdict
    /// is then not independent evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_construction: Option<String>,
    /// What was already known about the results when the claim was made or changed, if anything.
    /// Such claims are corrected for their own number, apart from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploratory: Option<String>,
    /// The scope of the verdict, which is limited to what the lab can show.
    pub scope: Option<String>,
    /// The setting that follows if it holds.
    #[serde(skip)]
    pub if_holds: Option<String>,
    /// The setting that follows if it is refuted.
    #[serde(skip)]
    pub if_refuted: Option<String>,
}

// Serde passes references.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether the models were made so that all of these are true.
pub fn are_by_construction<'a>(claims: impl IntoIterator<Item = &'a Judgement>) -> bool {
    claims.into_iter().all(|claim| claim.by_construction.is_some())
}

impl Judgement {
    /// The phases of the side that it is compared with.
    #[must_use]
    pub fn other_phases(&self) -> &[String] {
        self.against_phase.as_ref().map_or(&self.phases, slice::from_ref)
    }

    /// The ratio, also where one side has nothing: 0, or infinite. `None` if nothing was compared.
    #[must_use]
    pub fn found(&self) -> Option<f64> {
        self.ratio.or_else(|| self.against_nothing.map(|found| found.ratio()))
    }

    /// Whether a value is within the claim's bounds.
    #[must_use]
    pub fn allows(&self, value: f64) -> bool {
        Bounds::new(self.at_least, self.at_most).is_none_or(|bounds| bounds.allow(value))
    }

    /// This judgement as that of a claim that the lab cannot test.
    pub(super) fn untested(self, why: String) -> Self {
        Self { verdict: Verdict::Untested, reason: Some(why), ..self }
    }

    /// The largest share of runs that may differ from those done, although all of these were equal,
    /// with 95 % confidence: 1 - 0.05^(1/n). `None` if they were not equal, or decided nothing.
    #[must_use]
    pub fn may_differ(&self) -> Option<f64> {
        let is_point = |[low, high]: [f64; 2]| low >= high;
        let is_decided = matches!(self.verdict, Verdict::Holds | Verdict::Refuted);
        let is_of_cuts = metric::of(&self.metric).is_of_cuts();
        let is_of_blocks = is_decided && self.across_hosts.is_none() && !is_of_cuts;
        let are_equal = is_of_blocks && self.n > 1 && self.interval.is_some_and(is_point);
        are_equal.then(|| 1.0 - guarantee(self.n))
    }
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was shown to be true here.
    Holds,
    /// It was shown to be false here.
    Refuted,
    /// It is true of some plausible drives and false of others.
    Depends,
    /// Neither was shown.
    Undecided,
    /// Both sides did the same, request by request, so that nothing was compared.
    Identical,
    /// This lab cannot tell.
    Untested,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Self; 6] = [
        Self::Holds,
        Self::Refuted,
        Self::Depends,
        Self::Undecided,
        Self::Identical,
        Self::Untested,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Refuted => "refuted",
            Self::Depends => "depends",
            Self::Undecided => "undecided",
            Self::Identical => "identical",
            Self::Untested => "untested",
        })
    }
}

/// A claim about one pair of treatments, or about one treatment and all its rivals.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub claim: &'a Claim,
    pub side: Side<'a>,
    /// `None` if the claim is about the metric itself.
    pub baseline: Option<Side<'a>>,
}

impl Case<'_> {
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
        blocks.compare(self.side, self.baseline, Which::FirstStep)
    }

    /// What the case is tested on, and the number of blocks that it rests on, or why there is
    /// nothing.
    pub fn sample(&self, blocks: &Blocks<'_>) -> Result<(Sample, usize), String> {
        let over_blocks = match self.measured(blocks) {
            Ok(over_blocks) => over_blocks,
            Err(why) => {
                let signs = blocks.against_nothing(self.side, self.baseline, Which::FirstStep);
                let signs = signs.ok_or(why)?;
                let n = signs.n();
                return Ok((Sample::Signs(signs), n));
            }
        };
        let n = over_blocks.n();
        let by_host = blocks.compare_by_host(self.side, self.baseline, Which::FirstStep);
        let hosts: Vec<LogRatio> = by_host.into_values().collect();
        let are_equal = hosts.iter().all(|host| {
            host.mean_log().total_cmp(&hosts[0].mean_log()).is_eq()
                && host.sd_log().is_none_or(|sd| sd == 0.0)
        });
        let sample = match Heterogeneity::among(&hosts) {
            Some(across) => Sample::Hosts { across, are_equal },
            None => Sample::Blocks(over_blocks),
        };
        Ok((sample, n))
    }
}

/// What a case is tested on: blocks or, where two or more hosts have measured it, hosts.
#[derive(Clone)]
pub(super) enum Sample {
    Blocks(LogRatio),
    Hosts {
        across: Heterogeneity,
        are_equal: bool,
    },
    /// Pairs without a ratio, as one side has nothing.
    Signs(Signs),
}

impl Sample {
    /// Whether all of its values are equal.
    fn are_equal(&self) -> bool {
        match self {
            Self::Blocks(ratio) => ratio.sd_log() == Some(0.0),
            Self::Hosts { are_equal, .. } => *are_equal,
            Self::Signs(_) => false,
        }
    }

    /// Why it is of too few runs or hosts for a verdict, with the number of runs that are missing.
    fn is_too_small(&self, runs: usize) -> Option<(String, Option<u32>)> {
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
        is_open.then_some((why, missing))
    }

    fn ratio(&self) -> Option<f64> {
        match self {
            Self::Blocks(ratio) => Some(ratio.ratio()),
            Self::Hosts { across, .. } => Some(across.ratio()),
            Self::Signs(_) => None,
        }
    }

    fn interval(&self) -> Option<[f64; 2]> {
        match self {
            Self::Blocks(ratio) => ratio.interval(CONFIDENCE).map(Into::into),
            Self::Hosts { across, .. } => Some(across.interval(CONFIDENCE).into()),
            Self::Signs(_) => None,
        }
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
pub(super) fn cases<'a>(schedule: &Schedule, claim: &'a Claim) -> Vec<Case<'a>> {
    let side = |treatment: usize, phases: &'a [String]| {
        let excess_over = claim.less(schedule, treatment);
        let is_there = excess_over.is_some() || claim.excess_over().is_none();
        let quantity = Quantity { metric: &claim.metric, phases };
        is_there.then_some(Side { excess_over, ..quantity.of(treatment) })
    };
    let case = |(own, other): (usize, Option<usize>)| {
        let baseline = match other {
            Some(other) => Some(side(other, claim.other_phases())?),
            None => None,
        };
        Some(Case { claim, side: side(own, &claim.phases)?, baseline })
    };
    claim.pairs(schedule).into_iter().filter_map(case).collect()
}

/// The tests of one case, before the correction for several claims.
pub(super) struct Evidence {
    pub rests_on: RestsOn,
    pub p_holds: f64,
    pub p_refuted: f64,
}

/// What a case is judged by, and needs more of while it is open.
pub(super) enum RestsOn {
    Sample(Sample),
    Cuts,
}

/// A claim's judgement before it is judged; `id` is the judgement's name.
pub(super) fn blank(claim: &Claim, id: String) -> Judgement {
    Judgement {
        id,
        claim: claim.id.clone(),
        says: claim.says.clone(),
        verdict: Verdict::Undecided,
        reason: None,
        metric: claim.metric.clone(),
        phases: claim.phases.clone(),
        against_phase: claim.against_phase.clone(),
        levels: None,
        baseline: None,
        compare: claim.compare.clone(),
        against: claim.against.clone(),
        excess_over: claim.excess_over().cloned(),
        is_absolute: claim.is_absolute(),
        at_least: claim.statement.bounds().ends()[0],
        at_most: claim.statement.bounds().ends()[1],
        ratio: None,
        against_nothing: None,
        interval: None,
        n: 0,
        plausible: None,
        flips: Vec::new(),
        across_hosts: None,
        p: None,
        more_runs: None,
        not_measured: Vec::new(),
        published: None,
        basis: None,
        by_construction: None,
        exploratory: claim.exploratory.clone(),
        left_open: claim.left_open,
        scope: None,
        if_holds: claim.if_holds.clone(),
        if_refuted: claim.if_refuted.clone(),
    }
}

/// A case's judgement before it is judged.
pub(super) fn named(schedule: &Schedule, case: &Case<'_>, is_one_of_several: bool) -> Judgement {
    let claim = case.claim;
    let levels = &schedule.treatments[case.side.treatment].levels;
    let distinct = schedule.distinct(levels);
    let id = if is_one_of_several { format!("{}[{distinct}]", claim.id) } else { claim.id.clone() };
    let baseline = case.baseline.map(|side| schedule.treatments[side.treatment].levels.clone());
    Judgement { levels: Some(levels.clone()), baseline, ..blank(claim, id) }
}

/// Tests a case by its hosts, if it has several, or by its blocks.
pub(super) fn weigh(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &Case<'_>,
    is_one_of_several: bool,
) -> (Judgement, Option<Evidence>) {
    let (judgement, sample) = measure(schedule, blocks, case, is_one_of_several);
    let evidence = sample.map(|sample| {
        let (p_holds, p_refuted) = sample.tests(case.claim.statement.bounds());
        Evidence { rests_on: RestsOn::Sample(sample), p_holds, p_refuted }
    });
    (judgement, evidence)
}

/// What was found for a case, and what it can be tested on, unless the judgement says why it cannot
/// be.
pub(super) fn measure(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &Case<'_>,
    is_one_of_several: bool,
) -> (Judgement, Option<Sample>) {
    let claim = case.claim;
    let mut judgement = named(schedule, case, is_one_of_several);
    let found = case.sample(blocks);
    if let Ok((sample, n)) = &found {
        judgement.ratio = sample.ratio();
        judgement.interval = sample.interval();
        judgement.n = *n;
        match sample {
            Sample::Hosts { across, .. } => judgement.across_hosts = Some(across.k),
            Sample::Signs(signs) => judgement.against_nothing = Some(signs.found()),
            Sample::Blocks(_) => {}
        }
    }
    if let Some(why) = schedule.not_testable(claim) {
        return (judgement.untested(why), None);
    }
    let sample = match found {
        Ok((sample, _)) => sample,
        Err(reason) => {
            judgement.reason = Some(reason);
            return (judgement, None);
        }
    };
    if case.is_one_computation(blocks) {
        judgement.verdict = Verdict::Identical;
        judgement.reason = Some(
            "the same computation: the sides do not differ before the end of the phase, and make \
             the same requests in it"
                .to_owned(),
        );
        return (judgement, None);
    }
    judgement.reason = if let Some(unlike) = unlike(schedule, claim) {
        Some(unlike)
    } else if let Some((why, missing)) = sample.is_too_small(judgement.n) {
        judgement.more_runs = missing;
        Some(why)
    } else {
        return (judgement, Some(sample));
    };
    (judgement, None)
}

/// Why a claim about an amount cannot be judged by what this run measured.
pub(super) fn unlike(schedule: &Schedule, claim: &Claim) -> Option<String> {
    schedule.unlike(metric::of(&claim.metric)).filter(|_| claim.is_absolute())
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

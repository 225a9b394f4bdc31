//! Judgements as `--json` prints them.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Levels, PublishedBasis};

use super::flip::Flip;
use super::judgement::{EstimatedValue, Judgement, OpenReason, Verdict};
use super::nothing::ZeroComparison;
use super::over_drives::OverDrives;

/// A claim and its verdict.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Judgement")]
pub(super) struct Flat {
    /// The claim's name; with the treatment in brackets where it applies to several.
    id: String,
    /// The claim's name in the plan.
    claim: String,
    /// The claim in words.
    says: String,
    /// The verdict.
    verdict: Verdict,
    /// Why there is no verdict, unless the reason is too few runs.
    reason: Option<String>,
    /// The metric.
    metric: Metric,
    /// The phases whose sum is compared.
    phases: Vec<String>,
    /// The phase that it is compared with, where two phases of each trial are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    against_phase: Option<String>,
    /// The treatment; absent where it is not in this run.
    levels: Option<Levels>,
    /// The treatment it is compared with.
    baseline: Option<Levels>,
    /// The compared levels, as in the plan; `levels` and `baseline` are the complete levels of the
    /// treatments.
    compare: Levels,
    /// The levels they are compared with; empty if nothing is compared, or if they are compared
    /// with all others.
    against: Levels,
    /// The levels of the treatments over which both sides' excess is taken, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    excess_over: Option<Levels>,
    /// Whether ratio, interval and bounds are values of the metric itself, in its unit, so that
    /// nothing is compared.
    is_absolute: bool,
    /// It holds if the ratio is at least this.
    at_least: Option<f64>,
    /// It holds if the ratio is at most this.
    at_most: Option<f64>,
    /// The ratio that was found: over blocks, or across hosts (`across_hosts`).
    ratio: Option<f64>,
    /// What was found instead where one side has nothing, so that there is no ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    against_nothing: Option<ZeroComparison>,
    /// Its 95 % interval, not adjusted for the number of claims; absent where an end is infinite.
    interval: Option<[f64; 2]>,
    /// The number of blocks it rests on; for metrics of power cuts, the number of cuts.
    n: usize,
    /// The results on plausible drives, in a run that draws them: the verdict is based on these,
    /// whereas `ratio` is for the published drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    plausible: Option<OverDrives>,
    /// How single parameters of the drive affect the verdict, if `ssdlab flip` has tested them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flips: Vec<Flip>,
    /// How many hosts it was judged across, where two or more have measured: ratio, interval and
    /// p-value then count hosts and not blocks (random effects, one degree of freedom less than
    /// hosts). Absent where it was judged over blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    across_hosts: Option<usize>,
    /// The two-sided p-value of the verdict, adjusted for the number of claims and for the earlier
    /// runs that left it open.
    p: Option<f64>,
    /// How many consecutive earlier runs made the same measurements and left the claim undecided:
    /// each has spent part of the permitted error probability.
    #[serde(skip_serializing_if = "is_zero")]
    left_open: u32,
    /// The approximate number of additional runs needed for a verdict; absent unless too few runs
    /// are the reason that there is none.
    more_runs: Option<u32>,
    /// The treatments that it should have been compared with, and that were not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_measured: Vec<String>,
    /// The value that the source states, in the unit of the bounds; absent if this run is not
    /// comparable with the source's measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<f64>,
    /// What agreement with that number says.
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<PublishedBasis>,
    /// The part of the virtual lab's models from which the claim follows, if it does: its verdict
    /// is then not independent evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_construction: Option<String>,
    /// What was already known about the results when the claim was made or changed, if anything.
    /// Such claims are corrected for their own number, apart from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    exploratory: Option<String>,
    /// The scope of the verdict, which is limited to what the lab can show.
    scope: Option<&'static str>,
}

/// Serialises judgements in this form.
pub(super) fn serialize<S: Serializer>(
    judgements: &[Judgement],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(judgements.iter().cloned().map(Flat::from))
}

// Serde passes references.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl From<Judgement> for Flat {
    fn from(judgement: Judgement) -> Self {
        let [at_least, at_most] = judgement.bounds().ends();
        let outcome = &judgement.outcome;
        let estimate = outcome.estimate();
        let against_nothing = estimate.and_then(|estimate| match estimate.found {
            EstimatedValue::AgainstNothing(found) => Some(found),
            EstimatedValue::Ratio { .. } => None,
        });
        let why = outcome.why();
        let claim = &judgement.claim;
        Self {
            verdict: outcome.verdict(),
            reason: why.and_then(OpenReason::reason).map(str::to_owned),
            metric: claim.metric,
            excess_over: claim.excess_over().cloned(),
            is_absolute: claim.is_absolute(),
            at_least,
            at_most,
            ratio: outcome.ratio(),
            against_nothing,
            interval: outcome.interval(),
            n: estimate.map_or(0, |estimate| estimate.n),
            across_hosts: estimate.and_then(|estimate| estimate.across_hosts),
            p: outcome.p(),
            more_runs: why.and_then(OpenReason::more_runs),
            published: claim.published,
            basis: claim.published.map(|_| claim.basis()),
            id: judgement.id,
            levels: judgement.levels,
            baseline: judgement.baseline,
            plausible: judgement.plausible,
            flips: judgement.flips,
            not_measured: judgement.not_measured,
            by_construction: judgement.by_construction,
            scope: judgement.scope,
            left_open: claim.left_open,
            claim: judgement.claim.id,
            says: judgement.claim.says,
            phases: judgement.claim.phases,
            against_phase: judgement.claim.against_phase,
            compare: judgement.claim.compare,
            against: judgement.claim.against,
            exploratory: judgement.claim.exploratory,
        }
    }
}

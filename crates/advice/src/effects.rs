//! Effects: the ratio of a metric to the baseline treatment's, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::{Aggregation, Metric, Source};
use ssdlab_plan::{Levels, Origin, Schedule};
use ssdlab_stats::{FEWEST_RUNS, Resamples, holm};

use super::CONFIDENCE;
use super::nothing::ZeroComparison;
use super::over_drives::DriveSpread;
use super::pairs::{Blocks, Quantity, Ratio, StepChoice};

/// Resamples of the bootstrap interval, with a fixed seed, so that a report is reproducible.
const RESAMPLES: usize = 2_000;
const BOOTSTRAP_SEED: u64 = 0x5eed;

/// What a treatment does to a metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Effect {
    /// The metric.
    pub metric: Metric,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The treatment.
    pub levels: Levels,
    /// The treatment it is compared with.
    pub baseline: Levels,
    /// The geometric mean of the ratios within blocks or, of imported trials, which are in none,
    /// the ratio of the geometric means; of a running machine the ratio of the totals.
    pub ratio: f64,
    /// Student's t interval of it, 95 %, of imported trials Welch's; absent for one block, and for
    /// fewer than six equal ones. Of a running machine that of the randomisation test, 95 % over
    /// all looks; absent before the first, and where nothing can be said about the total.
    pub interval: Option<[f64; 2]>,
    /// The `BCa` bootstrap interval, 95 %, which assumes no distribution but is too narrow for
    /// few blocks; absent below three, for fewer than six equal ones, and for imported trials.
    pub bootstrap: Option<[f64; 2]>,
    /// The two-sided p-value of "the ratio is 1", adjusted for the number of effects on the
    /// metric (Holm); absent where the interval is.
    pub p: Option<f64>,
    /// Blocks it rests on or, of imported trials, those of the treatment that has fewer.
    pub n: usize,
    /// The effect on the published drive and on plausible ones, in a run that draws them; all other
    /// values are for the published drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausible: Option<DriveSpread>,
}

impl Effect {
    /// Whether the effect is shown: by six blocks or more, at 5 % error over all effects on its
    /// metric or, in a run that draws plausible drives, by the same direction on all of them.
    pub fn is_shown(&self) -> bool {
        match &self.plausible {
            Some(spread) => spread.least > 1.0 || spread.most < 1.0,
            None => self.n >= FEWEST_RUNS && self.p.is_some_and(|p| p < 1.0 - CONFIDENCE),
        }
    }
}

/// What a treatment has of the plan's metric in a phase and what its baseline has, where one of
/// them has nothing, so that there is no ratio.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NoRatio {
    /// The phase.
    pub phase: String,
    /// The treatment.
    pub levels: Levels,
    /// The treatment it is compared with.
    pub baseline: Levels,
    /// What both have.
    #[serde(flatten)]
    pub found: ZeroComparison,
}

/// Every difference of the plan's metric that has no ratio, as one side has nothing.
pub(super) fn without_ratio(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<NoRatio> {
    let mut found = Vec::new();
    // Imported trials are in no blocks, and totals of a running machine have ratios.
    let is_paired = schedule.origin() != Origin::Imported && !blocks.are_live();
    for (index, treatment) in schedule.treatments.iter().enumerate().filter(|_| is_paired) {
        let Some(baseline) = treatment.baseline else { continue };
        for phase in shared_phases(schedule, index, baseline) {
            let quantity =
                Quantity { metric: schedule.metric, phases: std::slice::from_ref(&phase) };
            let [own, other] = [index, baseline].map(|treatment| quantity.of(treatment));
            let Some(signs) = blocks.against_nothing(own, Some(other), StepChoice::LastStep) else {
                continue;
            };
            found.push(NoRatio {
                phase,
                levels: treatment.levels.clone(),
                baseline: schedule.treatments[baseline].levels.clone(),
                found: signs.found(),
            });
        }
    }
    found
}

/// The metrics whose effects are computed besides the plan's own.
const USUAL: [Source; 4] =
    [Source::Time, Source::Settled, Source::WrittenBytes, Source::WriteRequests];

/// Every effect: per treatment with a baseline, metric and phase, and over all phases that both
/// treatments have.
pub(super) fn all(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<Effect> {
    let mut metrics: Vec<Metric> = schedule.metrics().collect();
    let usual = USUAL.map(Metric::from).into_iter();
    metrics.extend(usual.filter(|usual| !schedule.metrics().any(|own| own == *usual)));
    let mut ratios = Vec::new();
    for (index, treatment) in schedule.treatments.iter().enumerate() {
        let Some(baseline) = treatment.baseline else {
            continue;
        };
        let shared = shared_phases(schedule, index, baseline);
        for metric in metrics.iter().copied() {
            let singles = shared.iter().map(|phase| vec![phase.clone()]);
            let is_total = shared.len() > 1 && metric.together != Aggregation::Never;
            let total = is_total.then(|| shared.clone());
            for phases in singles.chain(total) {
                let quantity = Quantity { metric, phases: &phases };
                let [own, other] = [index, baseline].map(|treatment| quantity.of(treatment));
                let ratio = if schedule.origin() == Origin::Imported {
                    blocks.compare_unpaired(quantity, [index, baseline])
                } else if blocks.are_live() {
                    blocks.compare_totals(own, other).ok().map(Ratio::Live)
                } else {
                    blocks.compare(own, Some(other), StepChoice::LastStep).ok().map(Ratio::Paired)
                };
                ratios.extend(ratio.map(|ratio| (metric, phases, (index, baseline), ratio)));
            }
        }
    }
    // The bootstrap dominates the time that a report of a long run takes.
    let paired = ratios.iter().filter_map(|(.., ratio)| match ratio {
        Ratio::Paired(ratio) => Some(ratio.n()),
        Ratio::Unpaired(..) | Ratio::Live(_) => None,
    });
    let numbers: BTreeSet<usize> = paired.collect();
    let draw = |n: usize| (n, Resamples::new(n, RESAMPLES, BOOTSTRAP_SEED));
    let resamples: BTreeMap<usize, Resamples> = numbers.into_iter().map(draw).collect();
    let mut effects: Vec<Effect> = ratios
        .into_par_iter()
        .map(|(metric, phases, (index, baseline), ratio)| {
            let (ratio, interval, bootstrap, p, n) = match ratio {
                Ratio::Paired(of) => {
                    let bootstrap = of.bca(&resamples[&of.n()], CONFIDENCE);
                    (of.ratio(), of.interval(CONFIDENCE), bootstrap, of.p_differs(), of.n())
                }
                Ratio::Live(of) => {
                    let p = of.p_differs();
                    (of.ratio(), of.interval().filter(|_| p.is_some()), None, p, of.blocks)
                }
                Ratio::Unpaired(of, n) => {
                    (of.ratio(), of.interval(CONFIDENCE), None, of.p_differs(), n)
                }
            };
            Effect {
                metric,
                phases,
                levels: schedule.treatments[index].levels.clone(),
                baseline: schedule.treatments[baseline].levels.clone(),
                ratio,
                interval: interval.map(Into::into),
                bootstrap: bootstrap.map(Into::into),
                p,
                n,
                plausible: None,
            }
        })
        .collect();
    for metric in metrics {
        let of_metric = || effects.iter().filter(|effect| effect.metric == metric);
        let raw: Vec<f64> = of_metric().filter_map(|effect| effect.p).collect();
        let mut adjusted = holm(&raw).into_iter();
        let tested = |effect: &&mut Effect| effect.metric == metric && effect.p.is_some();
        for effect in effects.iter_mut().filter(tested) {
            effect.p = adjusted.next();
        }
    }
    effects
}

/// The phases that both treatments have, in order.
pub(super) fn shared_phases(schedule: &Schedule, one: usize, other: usize) -> Vec<String> {
    let others: Vec<String> = schedule.phases(other).into_iter().map(|phase| phase.name).collect();
    let own = schedule.phases(one).into_iter().map(|phase| phase.name);
    own.filter(|name| others.contains(name)).collect()
}

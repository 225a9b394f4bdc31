//! Effects: the ratio of a metric to the baseline treatment's, paired by block.

use schemars::JsonSchema;
use serde::Serialize;

use super::CONFIDENCE;
use super::pairs::{Blocks, Quantity, Which};
use crate::plan::metric::{Together, together};
use crate::plan::{Levels, Schedule};

/// Resamples of the bootstrap interval; its seed is fixed, so that a report is reproducible.
const RESAMPLES: usize = 2_000;
const BOOTSTRAP_SEED: u64 = 0x5eed;

/// What a treatment does to a metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Effect {
    /// The metric.
    pub metric: String,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The treatment.
    pub levels: Levels,
    /// The treatment it is compared with.
    pub baseline: Levels,
    /// The geometric mean of the ratios within blocks.
    pub ratio: f64,
    /// Student's t interval of it, 95 %; absent for one block.
    pub interval: Option<[f64; 2]>,
    /// The `BCa` bootstrap interval, 95 %, which assumes no distribution but is too narrow for
    /// few blocks; absent below three.
    pub bootstrap: Option<[f64; 2]>,
    /// Blocks it rests on.
    pub n: usize,
}

/// The metrics effects are computed of, besides the plan's own.
const USUAL: [&str; 4] = ["time_ns", "settled_ns", "written_bytes", "write_requests"];

/// Every effect there is: per treatment with a baseline, metric and phase, and over all phases
/// that both have.
pub(super) fn all(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<Effect> {
    let mut metrics = vec![schedule.metric.as_str()];
    metrics.extend(USUAL.into_iter().filter(|usual| *usual != schedule.metric));
    let mut effects = Vec::new();
    for (index, treatment) in schedule.treatments.iter().enumerate() {
        let Some(baseline) = treatment.baseline else {
            continue;
        };
        let shared = shared_phases(schedule, index, baseline);
        for metric in &metrics {
            let singles = shared.iter().map(|phase| vec![phase.clone()]);
            let total =
                (shared.len() > 1 && together(metric) != Together::Never).then(|| shared.clone());
            for phases in singles.chain(total) {
                effects.extend(effect(schedule, blocks, metric, phases, index, baseline));
            }
        }
    }
    effects
}

/// The phases both treatments have, in order.
pub(super) fn shared_phases(schedule: &Schedule, one: usize, other: usize) -> Vec<String> {
    let others: Vec<String> = schedule.phases(other).into_iter().map(|phase| phase.name).collect();
    let own = schedule.phases(one).into_iter().map(|phase| phase.name);
    own.filter(|name| others.contains(name)).collect()
}

fn effect(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    metric: &str,
    phases: Vec<String>,
    treatment: usize,
    baseline: usize,
) -> Option<Effect> {
    let quantity = Quantity { metric, phases: &phases };
    let ratio =
        blocks.compare(quantity, treatment.into(), baseline.into(), Which::LastStep).ok()?;
    let ends = |interval: ssdlab_stats::Interval| [interval.lo, interval.hi];
    Some(Effect {
        metric: metric.to_owned(),
        levels: schedule.treatments[treatment].levels.clone(),
        baseline: schedule.treatments[baseline].levels.clone(),
        ratio: ratio.ratio(),
        interval: ratio.interval(CONFIDENCE).map(ends),
        bootstrap: ratio.bca(CONFIDENCE, RESAMPLES, BOOTSTRAP_SEED).map(ends),
        n: ratio.n(),
        phases,
    })
}

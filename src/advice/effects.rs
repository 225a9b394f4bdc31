//! Effects: the ratio of a metric to the baseline treatment's, paired by block.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::{Interval, Resamples};

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
    let mut ratios = Vec::new();
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
                let quantity = Quantity { metric, phases: &phases };
                let compared =
                    blocks.compare(quantity, index.into(), baseline.into(), Which::LastStep);
                if let Ok(ratio) = compared {
                    ratios.push((*metric, phases, (index, baseline), ratio));
                }
            }
        }
    }
    // Of long runs the bootstrap is most of the work of a report.
    let numbers: BTreeSet<usize> = ratios.iter().map(|(.., ratio)| ratio.n()).collect();
    let draw = |n: usize| (n, Resamples::new(n, RESAMPLES, BOOTSTRAP_SEED));
    let resamples: BTreeMap<usize, Resamples> = numbers.into_iter().map(draw).collect();
    ratios
        .into_par_iter()
        .map(|(metric, phases, (index, baseline), ratio)| Effect {
            metric: metric.to_owned(),
            phases,
            levels: schedule.treatments[index].levels.clone(),
            baseline: schedule.treatments[baseline].levels.clone(),
            ratio: ratio.ratio(),
            interval: ratio.interval(CONFIDENCE).map(ends),
            bootstrap: ratio.bca_from(&resamples[&ratio.n()], CONFIDENCE).map(ends),
            n: ratio.n(),
        })
        .collect()
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.lo, interval.hi]
}

/// The phases both treatments have, in order.
pub(super) fn shared_phases(schedule: &Schedule, one: usize, other: usize) -> Vec<String> {
    let others: Vec<String> = schedule.phases(other).into_iter().map(|phase| phase.name).collect();
    let own = schedule.phases(one).into_iter().map(|phase| phase.name);
    own.filter(|name| others.contains(name)).collect()
}

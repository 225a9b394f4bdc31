//! The ratio of a treatment's metric in two runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::{Interval, LogRatio, UnpairedRatio};

use crate::CONFIDENCE;

/// A ratio whose interval lies this close to 1 is reported as within 5 %.
pub const NEAR: f64 = 0.05;

/// A metric in one run, relative to the first run's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Between")]
pub struct RunRatio {
    /// How the two were compared.
    pub method: ComparisonMethod,
    /// Trials of the first run and of this one that it rests on; of pairs, both are their number.
    pub n: [usize; 2],
    /// The arithmetic means of the values that the ratio is of: this run's and the first's.
    pub means: [f64; 2],
    /// The ratio of the geometric means.
    pub ratio: f64,
    /// Its 95 % interval, not adjusted for the number of comparisons; absent where a run has one
    /// trial, or where both have equal ones only and fewer than six.
    pub interval: Option<[f64; 2]>,
    /// The two-sided p-value of "the ratio is 1", adjusted for the number of comparisons.
    pub p: Option<f64>,
    /// Whether it is shown to differ from 1, at 5 % error over all comparisons (Holm).
    pub is_different: bool,
    /// Whether the whole interval is within 5 % of 1.
    pub is_near: bool,
}

/// How two runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Method")]
pub enum ComparisonMethod {
    /// Trials with equal seeds are pairs: Student's t interval of log-ratios.
    PairedBySeed,
    /// Two independent samples: Welch's t interval of logarithms.
    Unpaired,
}

/// Compares values of two runs, each with the seed of its trial; `is_seeded` says whether the seed
/// determines all that a trial does. `p` is not adjusted yet. The error says why there is no ratio.
pub(super) fn between(
    own: &[(u64, f64)],
    baseline: &[(u64, f64)],
    is_seeded: bool,
) -> Result<RunRatio, String> {
    let no_ratio = |_| "it is not above 0 in every trial, so there is no ratio".to_owned();
    let values = |side: &[(u64, f64)]| side.iter().map(|(_, value)| *value).collect::<Vec<_>>();
    if let Some((one, other)) = pairs(own, baseline).filter(|_| is_seeded) {
        let ratio = LogRatio::paired(&one, &other).map_err(no_ratio)?;
        let n = [ratio.n(), ratio.n()];
        let interval = ratio.interval(CONFIDENCE);
        let means = [one, other].map(|of| mean(&of));
        let p = ratio.p_differs();
        return Ok(effect((ComparisonMethod::PairedBySeed, n), means, ratio.ratio(), interval, p));
    }
    let [one, other] = [own, baseline].map(values);
    let ratio = UnpairedRatio::of(&one, &other).map_err(no_ratio)?;
    let n = [baseline.len(), own.len()];
    let interval = ratio.interval(CONFIDENCE);
    let means = [one, other].map(|of| mean(&of));
    Ok(effect((ComparisonMethod::Unpaired, n), means, ratio.ratio(), interval, ratio.p_differs()))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn effect(
    (method, n): (ComparisonMethod, [usize; 2]),
    means: [f64; 2],
    ratio: f64,
    interval: Option<Interval>,
    p: Option<f64>,
) -> RunRatio {
    let is_near = |interval: Interval| interval.lo >= 1.0 - NEAR && interval.hi <= 1.0 + NEAR;
    RunRatio {
        method,
        n,
        means,
        ratio,
        interval: interval.map(Into::into),
        p,
        is_different: false,
        is_near: interval.is_some_and(is_near),
    }
}

/// The values of seeds that both sides have, if these are more than half of the smaller side's:
/// with fewer pairs, the discarded values cost more than pairing gains.
fn pairs(own: &[(u64, f64)], baseline: &[(u64, f64)]) -> Option<(Vec<f64>, Vec<f64>)> {
    let by_seed: BTreeMap<u64, f64> = baseline.iter().copied().collect();
    let pair = |(seed, value): &(u64, f64)| Some((*value, *by_seed.get(seed)?));
    let pairs: (Vec<f64>, Vec<f64>) = own.iter().filter_map(pair).unzip();
    (2 * pairs.0.len() > own.len().min(baseline.len())).then_some(pairs)
}

#[cfg(test)]
mod tests;

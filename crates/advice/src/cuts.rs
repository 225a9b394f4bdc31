//! What power cuts cost a treatment, summed up over its trials.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_cuts::{Moment, Outcome};
use ssdlab_results::Record;
use ssdlab_stats::clopper_pearson;

use super::CONFIDENCE;

/// What power cuts cost a treatment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CutsResult {
    /// How many there were, with each survivor.
    pub number: u64,
    /// After how many of them the filesystem could not be mounted.
    pub unmountable: Proportion,
    /// After how many of those that were checked its own check found something amiss, once it had
    /// been mounted, or could not be; absent if none was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<Proportion>,
    /// After how many a file was neither old nor new nor in a state between that is permitted.
    pub damaged: Proportion,
    /// After how many something was gone that had been promised.
    pub broken_promises: Proportion,
    /// How long before the cut the earliest operation was done that is lost, in ns: like the next,
    /// of cuts at random moments after which it could be mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ns: Option<Quantiles>,
    /// What the operations wrote that are lost, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_bytes: Option<Quantiles>,
    /// How long it took to mount, in ns, where that was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<Quantiles>,
    /// The first cut that broke a promise, or else did damage, or else left the filesystem
    /// unmountable, or else failing its check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// How often something was so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Proportion {
    /// How often.
    pub count: u64,
    /// Of how many cuts.
    pub of: u64,
    /// The exact interval of the proportion, 95 % (Clopper and Pearson).
    pub interval: [f64; 2],
}

/// How a quantity spreads over cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// What 1 % exceed.
    pub p99: u64,
    /// The greatest.
    pub max: u64,
}

/// One case of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Example {
    /// The trial's place in the run, from 0.
    pub trial: u32,
    /// The cut in the trial, from 0.
    pub cut: u32,
    /// What survived, from 0.
    pub survivor: u32,
}

/// Sums up the cuts of trials; `None` if there were none.
pub(super) fn summarise(records: &[&Record]) -> Option<CutsResult> {
    let all: Vec<(u32, &Outcome)> = records
        .iter()
        .flat_map(|record| record.cuts.iter().map(|cut| (record.trial.position, cut)))
        .collect();
    let number = all.len() as u64;
    let count = |is_so: &dyn Fn(&Outcome) -> bool| {
        all.iter().filter(|(_, outcome)| is_so(outcome)).count() as u64
    };
    let proportion = |is_so: &dyn Fn(&Outcome) -> bool, of: u64| {
        let count = count(is_so);
        let interval = clopper_pearson(count, of, CONFIDENCE)?;
        Some(Proportion { count, of, interval: [interval.lo, interval.hi] })
    };
    let verdicts =
        || all.iter().filter_map(|(_, outcome)| Some((outcome, outcome.verdict.as_ref()?)));
    let at_random = || verdicts().filter(|(outcome, _)| outcome.moment == Moment::Random);
    let of_verdict = |is_so: fn(&ssdlab_cuts::Verdict) -> bool| {
        move |outcome: &Outcome| outcome.verdict.as_ref().is_some_and(is_so)
    };
    let breaks = of_verdict(|verdict| verdict.broken_promises > 0);
    let damages = of_verdict(|verdict| !verdict.damaged.is_empty());
    let is_unmountable = |outcome: &Outcome| outcome.unmountable.is_some();
    let is_amiss = |outcome: &Outcome| outcome.amiss.is_some();
    let first = |is_so: &dyn Fn(&Outcome) -> bool| {
        all.iter().find(|(_, outcome)| is_so(outcome)).map(|(trial, outcome)| Example {
            trial: *trial,
            cut: outcome.cut,
            survivor: outcome.survivor,
        })
    };
    Some(CutsResult {
        number,
        unmountable: proportion(&is_unmountable, number)?,
        amiss: proportion(&is_amiss, count(&|outcome| !outcome.unchecked)),
        damaged: proportion(&damages, number)?,
        broken_promises: proportion(&breaks, number)?,
        lost_ns: quantiles(at_random().map(|(_, verdict)| verdict.lost_ns)),
        lost_bytes: quantiles(at_random().map(|(_, verdict)| verdict.lost_bytes)),
        recovery_ns: quantiles(all.iter().filter_map(|(_, outcome)| outcome.recovery_ns)),
        example: first(&breaks)
            .or_else(|| first(&damages))
            .or_else(|| first(&is_unmountable))
            .or_else(|| first(&is_amiss)),
    })
}

fn quantiles(values: impl Iterator<Item = u64>) -> Option<Quantiles> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let max = *values.last()?;
    Some(Quantiles { p50: quantile(&values, 50)?, p99: quantile(&values, 99)?, max })
}

/// A percentile of values in ascending order: the smallest value that at least `percent` per cent
/// of them do not exceed.
pub(super) fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    sorted.get((sorted.len() * percent).div_ceil(100).max(1) - 1).copied()
}

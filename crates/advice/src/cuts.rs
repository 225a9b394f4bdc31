//! What power cuts cost a treatment, summed up over its trials.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_operations::cuts::{CutMoment, CutOutcome, CutVerdict, Damage, Finding, FsckResult};
use ssdlab_results::Record;
use ssdlab_stats::clopper_pearson;

use super::CONFIDENCE;

/// What power cuts cost a treatment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CutsResult {
    /// The number of power cuts. Each counts with the worst outcome among its examined states.
    pub number: u64,
    /// How many different states of drives they left: those between which nothing changed leave
    /// the same. Absent if a record is of an earlier release, which did not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// After how many of them the filesystem could not be mounted.
    pub unmountable: Proportion,
    /// How many of the checked cuts left a filesystem whose own check (fsck) reported errors,
    /// whether or not it could be mounted before; absent if none was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<Proportion>,
    /// How many of the checked cuts left one of which it reported errors before it was mounted, so
    /// before the journal was replayed; absent if none was checked then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss_before: Option<Proportion>,
    /// How many cuts left data that the plan's own check rejects, out of those after which the
    /// filesystem could be mounted; absent if there is no such check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Proportion>,
    /// How many cuts left a file neither old nor new nor in a permitted intermediate state, out of
    /// those after which the filesystem could be mounted; absent if there are none, or if no file
    /// records its history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<Proportion>,
    /// How many cuts left a file with each fault, out of the same cuts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub damage: BTreeMap<Damage, u64>,
    /// How many cuts lost something that a sync had promised to be durable, out of the same cuts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken_promises: Option<Proportion>,
    /// The age of the oldest lost operation at the time of the cut, in ns; like the next, only for
    /// cuts at random moments after which the filesystem could be mounted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ns: Option<Quantiles>,
    /// The bytes that the lost operations had written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_bytes: Option<Quantiles>,
    /// How long it took to mount, in ns, where that was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<Quantiles>,
    /// The first cut that broke a promise; if none did, the first that left data that the plan's
    /// check rejects, damaged a file, left the filesystem unmountable or made its check fail, in
    /// this order.
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

/// The cuts of a trial, each with what its survivors led to.
pub(super) fn by_cut(record: &Record) -> impl Iterator<Item = &[CutOutcome]> {
    record.cuts.chunk_by(|one, next| one.cut == next.cut)
}

/// The worst that `of` tells of each cut's survivors, for those cuts of which it tells something:
/// survivors of one cut are not independent.
fn worst<'a, T: Ord>(
    cuts: impl Iterator<Item = &'a [CutOutcome]>,
    of: impl Fn(&CutOutcome) -> Option<T>,
) -> impl Iterator<Item = T> {
    cuts.filter_map(move |cut| cut.iter().filter_map(&of).max())
}

/// After how many of those cuts of which `is_so` tells something it was so for some survivor, and
/// the number of these cuts.
pub(super) fn count<'a>(
    cuts: impl Iterator<Item = &'a [CutOutcome]>,
    is_so: impl Fn(&CutOutcome) -> Option<bool>,
) -> [u64; 2] {
    worst(cuts, is_so).fold([0, 0], |[count, of], is_so| [count + u64::from(is_so), of + 1])
}

/// What was lost in each cut at a random moment after which the filesystem could be mounted.
pub(super) fn lost<'a>(
    cuts: impl Iterator<Item = &'a [CutOutcome]>,
    of: fn(&CutVerdict) -> u64,
) -> impl Iterator<Item = u64> {
    let at_random = cuts.filter(|cut| cut[0].moment == CutMoment::Random);
    worst(at_random, move |outcome| outcome.verdict.as_ref().map(of))
}

/// How long mounting took after each cut, in ns, where it was possible.
pub(super) fn recovery<'a>(
    cuts: impl Iterator<Item = &'a [CutOutcome]>,
) -> impl Iterator<Item = u64> {
    worst(cuts, |outcome| outcome.recovery_ns)
}

/// Sums up the cuts of trials; `None` if there were none.
pub(super) fn summarise(records: &[&Record]) -> Option<CutsResult> {
    let cuts = || records.iter().copied().flat_map(by_cut);
    let share = |finding| proportion(cuts(), |outcome| outcome.has(finding));
    let first = |finding| {
        let of = |record: &&Record| {
            let outcome = record.cuts.iter().find(|outcome| outcome.has(finding) == Some(true))?;
            let CutOutcome { cut, survivor, .. } = *outcome;
            Some(Example { trial: record.trial.position, cut, survivor })
        };
        records.iter().find_map(of)
    };
    Some(CutsResult {
        number: cuts().count() as u64,
        states: records.iter().map(|record| states(record)).sum(),
        unmountable: share(Finding::Unmountable)?,
        amiss: share(Finding::Amiss),
        amiss_before: proportion(cuts(), |outcome| {
            outcome.checked_before.as_ref().map(|before| *before != FsckResult::Sound)
        }),
        rejected: share(Finding::Rejected),
        damaged: share(Finding::Damaged),
        damage: damage(cuts()),
        broken_promises: share(Finding::BrokenPromise),
        lost_ns: quantiles(lost(cuts(), |verdict| verdict.lost_ns)),
        lost_bytes: quantiles(lost(cuts(), |verdict| verdict.lost_bytes)),
        recovery_ns: quantiles(recovery(cuts())),
        example: Finding::ALL.into_iter().find_map(first),
    })
}

/// After how many cuts of these trials anything at all was found; `None` if there were none.
pub fn crashes(records: &[&Record]) -> Option<Proportion> {
    let cuts = records.iter().copied().flat_map(by_cut);
    proportion(cuts, |outcome| Some(outcome.worst().is_some()))
}

/// How many cuts left a file with each fault.
fn damage<'a>(cuts: impl Iterator<Item = &'a [CutOutcome]>) -> BTreeMap<Damage, u64> {
    let mut damage = BTreeMap::new();
    for cut in cuts {
        let verdicts = cut.iter().filter_map(|outcome| outcome.verdict.as_ref());
        let faults: BTreeSet<Damage> =
            verdicts.flat_map(|verdict| verdict.damaged.keys().copied()).collect();
        for fault in faults {
            *damage.entry(fault).or_default() += 1;
        }
    }
    damage
}

/// How many different states the cuts of a trial left, if the record says it.
fn states(record: &Record) -> Option<u64> {
    let last = record.cuts.iter().map(|outcome| outcome.state).max()??;
    Some(u64::from(last) + 1)
}

/// The share of cuts after which something was so; `None` if no cut tells.
pub(super) fn proportion<'a>(
    cuts: impl Iterator<Item = &'a [CutOutcome]>,
    is_so: impl Fn(&CutOutcome) -> Option<bool>,
) -> Option<Proportion> {
    let [count, of] = count(cuts, is_so);
    let interval = clopper_pearson(count, of, CONFIDENCE)?;
    Some(Proportion { count, of, interval: interval.into() })
}

pub(super) fn quantiles(values: impl Iterator<Item = u64>) -> Option<Quantiles> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let max = *values.last()?;
    let quantile = |percent| quantile(&values, percent).map(|[low, high]| u64::midpoint(low, high));
    Some(Quantiles { p50: quantile(50)?, p99: quantile(99)?, max })
}

/// The two of some values in ascending order that have a percentile in their middle: of an even
/// number of values, the median is in the middle of two (definition 2 of Hyndman & Fan 1996,
/// "Sample quantiles in statistical packages", The American Statistician 50). `percent` is from 1
/// to 99.
pub(super) fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<[T; 2]> {
    let place = sorted.len() * percent;
    Some([*sorted.get(place.div_ceil(100).checked_sub(1)?)?, *sorted.get(place / 100)?])
}

/// What power cuts do to a logged device.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeviceCuts {
    /// The number of power cuts. Each counts with the worst outcome among its examined states.
    pub number: u64,
    /// After how many of them the filesystem could not be mounted.
    pub unmountable: Proportion,
    /// How many of the checked cuts left a filesystem whose own check (fsck) reported errors,
    /// whether or not it could be mounted before; absent if none was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<Proportion>,
    /// How long it took to mount, in ns, where that was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<Quantiles>,
    /// The first cut that left the filesystem unmountable; if none did, the first that made its
    /// check fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<DeviceExample>,
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceExample {
    /// The cut, from 0.
    pub cut: u32,
    /// What survived, from 0.
    pub survivor: u32,
}

/// Sums up the cuts of a device; `None` if there were none.
pub fn device_cuts(outcomes: &[CutOutcome]) -> Option<DeviceCuts> {
    let cuts = || outcomes.chunk_by(|one, next| one.cut == next.cut);
    let first = |finding| {
        let found = outcomes.iter().find(|outcome| outcome.has(finding) == Some(true))?;
        Some(DeviceExample { cut: found.cut, survivor: found.survivor })
    };
    Some(DeviceCuts {
        number: cuts().count() as u64,
        unmountable: proportion(cuts(), |outcome| outcome.has(Finding::Unmountable))?,
        amiss: proportion(cuts(), |outcome| outcome.has(Finding::Amiss)),
        recovery_ns: quantiles(recovery(cuts())),
        example: Finding::ALL.into_iter().find_map(first),
    })
}

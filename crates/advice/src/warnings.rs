//! What a reader must know before believing the numbers.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_filesystem::facts;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::Treatment;
use ssdlab_plan::{
    CAPACITY_BYTES, Factor, LabKind, Origin, SLC_CACHE_BYTES, Schedule, ShortPercentile,
    WHOLE_SLC_CACHE_BYTES,
};
use ssdlab_results::{Ledger, Record};

use super::counted::counted;
use super::method::Check;
use super::plausible;
use super::treatment::{TreatmentResult, TreatmentStatus};
use super::warning::{Warning, WarningMessage};

pub(super) fn all(
    schedule: &Schedule,
    records: &[Record],
    treatments: &[TreatmentResult],
    method: &[Check],
) -> Vec<WarningMessage> {
    let mut warnings = vec![match schedule.plausible {
        0 => Warning::Lab { lab: schedule.origin() },
        drives => Warning::PlausibleDrives { drives, redrawn: plausible::redrawn(records) },
    }];
    warnings.extend(schedule.notes.iter().map(|text| Warning::Note { text: text.clone() }));
    let selected = treatments.iter().filter(|t| t.status != TreatmentStatus::Unselected);
    warnings.extend(selected.filter_map(|treatment| {
        let reason = treatment.reason.clone()?;
        Some(Warning::Trials { levels: schedule.distinct(&treatment.levels), reason })
    }));
    warnings.extend(percentiles(schedule, records));
    warnings.extend(cut_caches(records));
    warnings.extend(daemons(schedule));
    warnings.extend(schedulers(schedule));
    warnings.extend(contents(schedule));
    let mut warnings: Vec<WarningMessage> =
        warnings.into_iter().map(WarningMessage::from).collect();
    warnings.extend(method.iter().flat_map(|check| check.warnings.clone()));
    warnings.extend(discards(schedule, records).into_iter().map(WarningMessage::from));
    warnings.extend(remarks(records).map(WarningMessage::from));
    warnings.extend(ledgers(records).map(WarningMessage::from));
    warnings.extend(programs(schedule, records).map(WarningMessage::from));
    warnings.extend(features(schedule, treatments).into_iter().map(WarningMessage::from));
    warnings.extend(no_atime(schedule, treatments).into_iter().map(WarningMessage::from));
    warnings
}

/// Percentiles that the plan is about and that are over few operations.
fn percentiles(schedule: &Schedule, records: &[Record]) -> Vec<Warning> {
    let fewest = |phase: &str, metric: Metric| {
        let own =
            counted(records).flat_map(|record| &record.phases).filter(|own| own.name == phase);
        own.filter_map(|own| own.operations_of(metric)).min()
    };
    let short = schedule.short_percentiles(fewest).into_iter();
    let warning = |short: ShortPercentile| {
        let ShortPercentile { metric, phase, operations, needed } = short;
        Warning::FewOperations { metric, phase, operations, needed }
    };
    short.map(warning).collect()
}

/// Drives whose trials filled a cut SLC cache.
fn cut_caches(records: &[Record]) -> Vec<Warning> {
    let mut found: BTreeMap<&str, (usize, [u64; 3])> = BTreeMap::new();
    for applied in records.iter().map(|record| &record.applied) {
        let bytes = |name: &str| applied.get(name)?.parse::<u64>().ok();
        let sizes = [SLC_CACHE_BYTES, WHOLE_SLC_CACHE_BYTES, CAPACITY_BYTES].map(bytes);
        let (Some(drive), [Some(cache), Some(whole), Some(capacity)]) =
            (applied.get("drive"), sizes)
        else {
            continue;
        };
        let (trials, sizes) = found.entry(drive).or_insert((0, [cache, whole, capacity]));
        *trials += 1;
        *sizes = (*sizes).min([cache, whole, capacity]);
    }
    let warning = |(drive, (trials, sizes)): (&str, (usize, [u64; 3]))| {
        let [cache_bytes, whole_bytes, capacity] = sizes;
        let enough = u128::from(capacity) * u128::from(whole_bytes) / u128::from(cache_bytes);
        Warning::CutCache {
            drive: drive.to_owned(),
            trials,
            cache_bytes,
            whole_bytes,
            enough_bytes: u64::try_from(enough).unwrap_or(u64::MAX),
        }
    };
    found.into_iter().map(warning).collect()
}

/// Filesystems that are user-space programs, in a lab where computing costs no time.
fn daemons(schedule: &Schedule) -> Option<Warning> {
    let mut filesystems = schedule.setups().filter_map(|setup| setup.filesystem);
    let served = filesystems.find(|filesystem| filesystem.pool.is_some())?;
    let is_virtual = schedule.is_in(LabKind::Virtual);
    is_virtual.then(|| Warning::Daemon { filesystem: served.name.to_owned() })
}

/// A comparison of schedulers in a lab that models only a part of them.
fn schedulers(schedule: &Schedule) -> Option<Warning> {
    let level = |of: &Treatment| of.levels.0.get(&Factor::Scheduler).cloned();
    let levels: BTreeSet<Option<String>> = schedule.treatments.iter().map(level).collect();
    (schedule.is_in(LabKind::Virtual) && levels.len() > 1).then_some(Warning::Schedulers)
}

/// The caveat of a comparison of compression on contents that are generated.
pub fn contents(schedule: &Schedule) -> Option<Warning> {
    let phases = schedule.compressed_contents();
    (!phases.is_empty()).then_some(Warning::Contents { phases })
}

/// Phases that discarded more than their device's capacity, once per treatment and phase.
fn discards(schedule: &Schedule, records: &[Record]) -> Vec<Warning> {
    let mut most: BTreeMap<(usize, &str), (u64, u64)> = BTreeMap::new();
    for record in counted(records) {
        let own = record.applied.get(CAPACITY_BYTES).and_then(|bytes| bytes.parse().ok());
        let Some(capacity) = own.or(schedule.capacity_bytes()) else { continue };
        for phase in &record.phases {
            let bytes = phase.device.map_or(0, |device| device.discarded_bytes);
            let known = most.entry((record.trial.treatment, &phase.name)).or_default();
            if bytes > capacity && bytes > known.0 {
                *known = (bytes, capacity);
            }
        }
    }
    let warning = |((treatment, phase), (bytes, capacity_bytes)): ((usize, &str), (u64, u64))| {
        let levels = schedule.distinct(&schedule.treatments[treatment].levels);
        Warning::Discards { levels, phase: phase.to_owned(), bytes, capacity_bytes }
    };
    most.into_iter().filter(|(_, (bytes, _))| *bytes > 0).map(warning).collect()
}

/// Trials whose writes could not be attributed, with the first reason.
fn ledgers(records: &[Record]) -> Option<Warning> {
    let (trials, reason) = lacking(records, |ledger| ledger.reason.clone())?;
    Some(Warning::NoLedger { trials, reason })
}

/// Stretches of the running machine's time in which it is not known who wrote.
fn programs(schedule: &Schedule, records: &[Record]) -> Option<Warning> {
    let is_live = schedule.origin() == Origin::Lab(LabKind::Live);
    let found = lacking(records, |ledger| ledger.cause_reason.clone());
    let (trials, reason) = found.filter(|_| is_live)?;
    Some(Warning::NoPrograms { trials, reason })
}

/// How many trials have a ledger that lacks something, and why the first does.
fn lacking(
    records: &[Record],
    reason: impl Fn(&Ledger) -> Option<String>,
) -> Option<(usize, String)> {
    let of_trial = |record: &Record| {
        let mut ledgers = record.phases.iter().filter_map(|phase| phase.ledger.as_ref());
        ledgers.find_map(&reason)
    };
    let reasons: Vec<String> = records.iter().filter_map(of_trial).collect();
    Some((reasons.len(), reasons.first()?.clone()))
}

/// The remarks of phases, each once.
fn remarks(records: &[Record]) -> impl Iterator<Item = Warning> {
    let mut remarks: Vec<&String> = Vec::new();
    let phases = counted(records).flat_map(|record| &record.phases);
    for remark in phases.filter_map(|phase| phase.remark.as_ref()) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks.into_iter().map(|text| Warning::Note { text: text.clone() })
}

/// Features of a filesystem that a check found to differ from what is stated.
fn features(schedule: &Schedule, treatments: &[TreatmentResult]) -> Vec<Warning> {
    let of_treatment = |(index, treatment): (usize, &TreatmentResult)| {
        let stated = schedule.treatments[index]
            .setup
            .as_ref()
            .ok()
            .and_then(|setup| Some(setup.filesystem?.stated()));
        let differs = stated.unwrap_or_default().into_iter().filter_map(|(feature, stated)| {
            let found = treatment.features.get(feature).filter(|found| **found != stated)?;
            Some(Warning::Feature {
                levels: schedule.distinct(&treatment.levels),
                feature: feature.to_owned(),
                stated,
                found: found.clone(),
            })
        });
        differs.collect::<Vec<_>>()
    };
    treatments.iter().enumerate().flat_map(of_treatment).collect()
}

/// What was found about the attribute A, once per filesystem.
fn no_atime(schedule: &Schedule, treatments: &[TreatmentResult]) -> Vec<Warning> {
    let mut found = Vec::new();
    for (index, treatment) in treatments.iter().enumerate() {
        let filesystem =
            schedule.treatments[index].setup.as_ref().ok().and_then(|setup| setup.filesystem);
        let Some((filesystem, by)) =
            filesystem.zip(treatment.features.get(facts::NO_ATIME_INHERITED))
        else {
            continue;
        };
        let filesystem = filesystem.name.to_owned();
        let warning = Warning::NoAtime { filesystem, inherited_by: by.clone() };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

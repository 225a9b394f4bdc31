//! What a reader must know before believing the numbers, each with its evidence.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::{Drift, Summary, Trial};

use super::analysis::{Treatment, TreatmentStatus};
use super::claims::{Judgement, Verdict};
use super::precision::precision;
use crate::plan::io::{Io, SyncPolicy};
use crate::plan::schedule::{Action, Phase};
use crate::plan::{Bytes, LabKind, Levels, Schedule};
use crate::results::{Record, Status};

/// Spread between runs that is worth a word: above what Cao et al. (FAST'17) found normal.
const MUCH_SPREAD: f64 = 0.10;
/// What unmounting writes is worth a word from this share of the phases' bytes on.
const LATE_SHARE: f64 = 0.02;
/// A drift is reported when it is unlikely to be chance and large enough to matter.
const DRIFT_P: f64 = 0.01;
const DRIFT_SIZE: f64 = 0.02;

/// A warning with its evidence and its wording.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Warned {
    /// The warning.
    #[serde(flatten)]
    pub warning: Warning,
    /// The same in words.
    pub says: String,
}

/// What can be questionable about a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// What the lab cannot show.
    Lab {
        /// The lab.
        lab: LabKind,
    },
    /// The intervals stayed wider than the plan asks for.
    Imprecise {
        /// The widest, half its width relative to the effect.
        widest: Option<f64>,
        /// What the plan asks for.
        asked: f64,
        /// Blocks that ran.
        blocks: u32,
    },
    /// A metric changed over the run.
    Drift {
        /// The phase.
        phase: String,
        /// The relative change from the first block to the last.
        change: f64,
        /// The p-value of its being chance.
        p: f64,
    },
    /// Trials of one treatment differ much.
    Spread {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The phase.
        phase: String,
        /// Standard deviation relative to the mean.
        cv: f64,
    },
    /// The device was still busy when the wait for quiet ended.
    NotQuiet {
        /// The phases.
        phases: Vec<String>,
    },
    /// Something wrote between the mount and the first phase.
    BackgroundWrites {
        /// Bytes, the most in any trial.
        bytes: u64,
    },
    /// Unmounting wrote a share of the trial's bytes that is in no phase.
    LateWrites {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// Bytes, on average.
        bytes: u64,
        /// Relative to what the phases wrote.
        share: f64,
    },
    /// A check found another feature than is stated about the filesystem.
    Feature {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The feature.
        feature: String,
        /// What is stated.
        stated: String,
        /// What was found.
        found: String,
    },
    /// Trials ran in different environments.
    MixedEnvironment {
        /// What differs.
        what: String,
    },
    /// The drive cannot discard, so trials did not start from the same state.
    NotEqualised,
    /// The image went through the page cache of the filesystem it is on.
    BufferedLoop,
    /// Data written last may still have been in memory when the clock stopped.
    Unsynced {
        /// The phase.
        phase: String,
    },
    /// The file of Bonnie's tests may have been read from memory.
    Cached {
        /// Its size in bytes.
        size_bytes: u64,
        /// The machine's memory in bytes.
        memory_bytes: u64,
    },
    /// A filesystem's daemon computes, which costs no virtual time.
    Daemon {
        /// The filesystem.
        filesystem: String,
    },
    /// A treatment did not run, or not always.
    Trials {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// What happened.
        reason: String,
    },
    /// Something was understood differently from how it was written.
    Note {
        /// What.
        text: String,
    },
}

pub(super) fn all(
    schedule: &Schedule,
    records: &[Record],
    treatments: &[Treatment],
    claims: &[Judgement],
) -> Vec<Warned> {
    let mut warnings = vec![Warning::Lab { lab: schedule.target.lab }];
    warnings.extend(schedule.notes.iter().map(|text| Warning::Note { text: text.clone() }));
    let selected = treatments.iter().filter(|t| t.status != TreatmentStatus::Unselected);
    warnings.extend(selected.filter_map(|treatment| {
        let reason = treatment.reason.clone()?;
        Some(Warning::Trials { levels: schedule.distinct(&treatment.levels), reason })
    }));
    warnings.extend(daemons(schedule));
    warnings.extend(unsynced(schedule));
    warnings.extend(imprecise(schedule, records, claims));
    // The blocks of different steps have different treatments.
    if schedule.target.lab != LabKind::Virtual && schedule.steps.is_empty() {
        warnings.extend(drifts(schedule, records));
    }
    warnings.extend(spreads(schedule, records));
    warnings.extend(of_records(records));
    warnings.extend(cached(schedule, records));
    warnings.extend(late_writes(schedule, records));
    warnings.extend(features(schedule, treatments));
    warnings.into_iter().map(|warning| Warned { says: warning.to_string(), warning }).collect()
}

/// Filesystems that are programs, where computing costs nothing.
fn daemons(schedule: &Schedule) -> Option<Warning> {
    let mut filesystems = schedule.setups().filter_map(|setup| setup.filesystem);
    let served = filesystems.find(|filesystem| filesystem.pool.is_some())?;
    let is_virtual = schedule.target.lab == LabKind::Virtual;
    is_virtual.then(|| Warning::Daemon { filesystem: served.name.to_owned() })
}

fn well(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|record| record.status == Status::Ok)
}

fn imprecise(schedule: &Schedule, records: &[Record], claims: &[Judgement]) -> Option<Warning> {
    let precision = precision(schedule, records);
    // Where every claim is decided, the width of an interval stands in nobody's way.
    let is_open = claims.is_empty() || claims.iter().any(|j| j.verdict == Verdict::Undecided);
    let compares = schedule.treatments.iter().any(|treatment| treatment.baseline.is_some());
    (compares && is_open && !precision.is_reached).then(|| Warning::Imprecise {
        widest: precision.widest,
        asked: schedule.repetitions.precision,
        blocks: match schedule.steps.last() {
            Some(_) => schedule.repetitions.least,
            None => well(records).map(|record| record.trial.block + 1).max().unwrap_or(0),
        },
    })
}

fn drifts(schedule: &Schedule, records: &[Record]) -> Vec<Warning> {
    let drift = |phase: String| {
        let drift = Drift::of(&block_means(schedule, records, &phase)).ok()??;
        (drift.p < DRIFT_P && drift.over_span.abs() > DRIFT_SIZE).then_some(Warning::Drift {
            phase,
            change: drift.over_span,
            p: drift.p,
        })
    };
    schedule.phase_names().into_iter().filter_map(drift).collect()
}

/// The geometric mean of the metric over each whole block, at the block's place in the run.
///
/// Drift is tested on blocks, not on trials: the trials of a block share their seed, and taken
/// one by one they would make the difference between two seeds look like a trend.
fn block_means(schedule: &Schedule, records: &[Record], phase: &str) -> Vec<Trial> {
    let phases = [phase.to_owned()];
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for record in well(records) {
        let value = record.over(&schedule.metric, &phases).filter(|value| *value > 0.0);
        blocks.entry(record.trial.block).or_default().extend(value.map(f64::ln));
    }
    let whole = blocks.values().map(Vec::len).max().unwrap_or(0);
    blocks
        .into_iter()
        .filter(|(_, logs)| logs.len() == whole && whole > 0)
        .map(|(block, logs)| {
            let value = (logs.iter().sum::<f64>() / whole as f64).exp();
            Trial { treatment: 0, position: block, value }
        })
        .collect()
}

fn spreads(schedule: &Schedule, records: &[Record]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, treatment) in schedule.treatments.iter().enumerate() {
        for phase in schedule.phases(index) {
            let phases = [phase.name];
            let own = well(records).filter(|record| record.trial.treatment == index);
            let values: Vec<f64> =
                own.filter_map(|record| record.over(&schedule.metric, &phases)).collect();
            let cv = Summary::of(&values).and_then(|summary| summary.cv);
            if let Some(cv) = cv.filter(|cv| *cv > MUCH_SPREAD) {
                let [phase] = phases;
                let levels = schedule.distinct(&treatment.levels);
                warnings.push(Warning::Spread { levels, phase, cv });
            }
        }
    }
    warnings
}

fn unsynced(schedule: &Schedule) -> Option<Warning> {
    let mut dirty = None;
    for phase in &schedule.workload.phases {
        match &phase.action {
            _ if phase.syncs() => dirty = None,
            // Bonnie's tests sync what they write.
            Action::Bonnie { .. }
            | Action::BonnieProgram
            | Action::Fstrim
            | Action::Idle { .. }
            | Action::Io(Io { sync: SyncPolicy::AtEnd, .. }) => {}
            Action::Io(Io { read_share, .. }) if *read_share >= 1.0 => {}
            _ => dirty = Some(phase.name.clone()),
        }
    }
    dirty.map(|phase| Warning::Unsynced { phase })
}

fn of_records(records: &[Record]) -> Vec<Warning> {
    let mut busy: Vec<String> = Vec::new();
    for phase in well(records).flat_map(|record| &record.phases) {
        if !phase.is_quiet && !busy.contains(&phase.name) {
            busy.push(phase.name.clone());
        }
    }
    let mut warnings = Vec::new();
    if !busy.is_empty() {
        warnings.push(Warning::NotQuiet { phases: busy });
    }
    let bytes = well(records).map(|record| record.background_written_bytes).max().unwrap_or(0);
    if bytes > 0 {
        warnings.push(Warning::BackgroundWrites { bytes });
    }
    let buffered =
        |record: &Record| record.applied.get("loop_direct_io").is_some_and(|value| value == "off");
    if well(records).any(buffered) {
        warnings.push(Warning::BufferedLoop);
    }
    if well(records).any(|r| r.applied.get("equalised").is_some_and(|value| value == "no")) {
        warnings.push(Warning::NotEqualised);
    }
    warnings.extend(mixed(records));
    let mut remarks: Vec<&String> = Vec::new();
    for remark in well(records).flat_map(|r| &r.phases).filter_map(|phase| phase.remark.as_ref()) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    warnings.extend(remarks.into_iter().map(|text| Warning::Note { text: text.clone() }));
    warnings
}

/// bonnie++ asks for a file of twice the memory where the caches cannot be dropped.
fn cached(schedule: &Schedule, records: &[Record]) -> Option<Warning> {
    let reads = |phase: &Phase| match phase.action {
        Action::Bonnie { test } => test.reads() && schedule.target.lab == LabKind::Directory,
        Action::BonnieProgram => true,
        _ => false,
    };
    if !schedule.workload.phases.iter().any(reads) {
        return None;
    }
    let size_bytes = schedule.workload.bonnie.as_ref()?.size_bytes;
    let memory_bytes = records.iter().map(|record| record.environment.memory_bytes).max()?;
    (size_bytes < 2 * memory_bytes).then_some(Warning::Cached { size_bytes, memory_bytes })
}

/// A run that is resumed after an update, or on another drive, compares what is not comparable.
fn mixed(records: &[Record]) -> Option<Warning> {
    let first = well(records).next()?;
    let of = |record: &Record, what: &str| record.applied.get(what).cloned();
    let differs = |record: &Record| {
        let (one, other) = (&first.environment, &record.environment);
        // Drives may be what treatments differ in.
        let own = well(records).find(|earlier| earlier.trial.treatment == record.trial.treatment);
        let own = own.unwrap_or(first);
        let drive = |record: &Record| {
            let model = record.environment.drive_model.clone();
            (model, of(record, "identity"), of(record, "drive_identity"))
        };
        let kernel =
            |record: &Record| (record.environment.kernel.clone(), of(record, "lab_kernel"));
        [
            ("kernel", kernel(first) != kernel(record)),
            ("processor", one.cpu != other.cpu || one.cpus != other.cpus),
            ("version of ssdlab", one.ssdlab != other.ssdlab),
            ("drive", drive(own) != drive(record)),
        ]
        .into_iter()
        .find_map(|(what, differs)| differs.then(|| what.to_owned()))
    };
    well(records).find_map(differs).map(|what| Warning::MixedEnvironment { what })
}

/// What a filesystem leaves to its unmounting is in no phase; it is said where it matters.
fn late_writes(schedule: &Schedule, records: &[Record]) -> Vec<Warning> {
    let of_treatment = |index: usize| {
        let own = || well(records).filter(move |record| record.trial.treatment == index);
        let late: u64 = own().filter_map(|r| Some(r.teardown?.device.written_bytes)).sum();
        let phases = own().flat_map(|record| &record.phases);
        let inside: u64 = phases.filter_map(|phase| Some(phase.device?.written_bytes)).sum();
        let share = late as f64 / inside.max(1) as f64;
        let bytes = late / (own().count().max(1) as u64);
        let levels = schedule.distinct(&schedule.treatments[index].levels);
        (late > 0 && share > LATE_SHARE).then_some(Warning::LateWrites { levels, bytes, share })
    };
    (0..schedule.treatments.len()).filter_map(of_treatment).collect()
}

/// What a filesystem is found to be, against what is stated about it.
fn features(schedule: &Schedule, treatments: &[Treatment]) -> Vec<Warning> {
    let of_treatment = |(index, treatment): (usize, &Treatment)| {
        let stated = schedule.setup(index).ok().and_then(|setup| Some(setup.filesystem?.stated()));
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

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab { lab: LabKind::Virtual } => write!(
                f,
                "virtual lab: bytes and requests are those of a real kernel; times are those of \
                 models of a drive and a processor (docs/virtual-lab.md). Repeating a seed \
                 repeats every nanosecond, so intervals are over seeds: other trees, other \
                 hashes, another drive of the kind"
            ),
            Self::Lab { lab: LabKind::Image } => write!(
                f,
                "image lab: bytes and requests are exact for this kernel; times and discards \
                 are those of a file on this machine's disk, not of an SSD; for those, measure \
                 the drive itself: --device PATH"
            ),
            Self::Lab { lab: LabKind::Device } => {
                write!(f, "device lab: times are those of this drive on this machine")
            }
            Self::Lab { lab: LabKind::Directory } => write!(
                f,
                "directory lab: the filesystem was not made anew, and the device's counts \
                 include what others did meanwhile"
            ),
            Self::Imprecise { widest: Some(widest), asked, blocks } => write!(
                f,
                "after {blocks} runs of each treatment the widest interval is +-{:.1} %, wider \
                 than the {:.1} % asked for",
                widest * 100.0,
                asked * 100.0
            ),
            Self::Imprecise { widest: None, blocks, .. } => {
                write!(f, "{blocks} runs of each treatment give no interval")
            }
            Self::Drift { phase, change, .. } => write!(
                f,
                "`{phase}` drifted by {:+.0} % from the first block to the last (p < 0.01); \
                 ratios are taken within blocks, so it is not in them",
                change * 100.0
            ),
            Self::Spread { levels, phase, cv } => {
                write!(f, "`{phase}` varies by {:.0} % between runs ({levels})", cv * 100.0)
            }
            Self::NotQuiet { phases } => write!(
                f,
                "the device was still busy when the wait for quiet ended: {}",
                phases.join(", ")
            ),
            Self::BackgroundWrites { bytes } => write!(
                f,
                "up to {bytes} bytes were written between mount and first phase; they are in no \
                 phase"
            ),
            Self::LateWrites { levels, bytes, share } => write!(
                f,
                "unmounting wrote a further {:.1} MB, {:.0} % of what the phases wrote; it is in \
                 none of them ({levels})",
                *bytes as f64 / 1e6,
                share * 100.0
            ),
            Self::Feature { levels, feature, stated, found } => write!(
                f,
                "{feature}: stated is `{stated}`, found was `{found}`; what ssdlab states or this \
                 kernel is not as usual ({levels})"
            ),
            Self::MixedEnvironment { what } => {
                write!(f, "not all trials ran on the same {what}: they are hardly comparable")
            }
            Self::NotEqualised => write!(
                f,
                "the drive cannot discard: each trial found it as the one before had left it"
            ),
            Self::BufferedLoop => write!(
                f,
                "the loop device has no direct I/O: the image went through the page cache"
            ),
            Self::Unsynced { phase } => write!(
                f,
                "nothing syncs after `{phase}`: what it wrote may have been in memory when the \
                 clock stopped"
            ),
            Self::Cached { size_bytes, memory_bytes } => write!(
                f,
                "a file of {} in a machine with {} of memory may be read from there and not from \
                 the device: bonnie++ asks for twice the memory",
                Bytes(*size_bytes),
                Bytes(*memory_bytes)
            ),
            Self::Daemon { filesystem } => write!(
                f,
                "{filesystem} is served by a program here, whose computing costs no virtual time: on \
                 a real machine it is slower than that"
            ),
            Self::Trials { levels, reason } => write!(f, "{levels}: {reason}"),
            Self::Note { text } => f.write_str(text),
        }
    }
}

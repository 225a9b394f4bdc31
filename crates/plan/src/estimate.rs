//! Estimates how long a run takes, before it begins: the work of its phases, at a lab's usual pace.
//!
//! It only tells minutes from hours. Once trials have ended, their own pace is a better estimate.

mod phase_work;

use std::time::Duration;

use ssdlab_flash::presets::{self, Preset};

use super::cuts::Cuts;
use super::factor::Levels;
use super::lab_kind::LabKind;
use super::layer::Layer;
use super::schedule::Schedule;
use super::setup::{Amount, Setup};
use phase_work::{PhaseWork, before_phases, of_action, of_look};

/// The time to recover a filesystem from a power cut and check it, in ns of real time.
const RECOVERY_NS: u64 = 50_000_000;

/// The time to encrypt or decrypt a kilobyte, in ns of real time: the lab kernel has no special
/// instructions for it.
const ENCRYPTED_KILOBYTE_NS: u64 = 4_000;

/// The pace of a lab, in ns of real time.
struct Pace {
    trial_ns: u64,
    call_ns: u64,
    tree_call_ns: u64,
    /// Of a sync, besides the call: what the drive takes.
    sync_ns: u64,
    kilobyte_ns: u64,
    /// Of a kilobyte of a large file.
    streamed_ns: u64,
    /// Of a kilobyte that only fills the filesystem.
    prefill_ns: u64,
    searched_entry_ns: u64,
    waits: bool,
}

impl Pace {
    /// As measured on a virtual machine of 2023 with two processors.
    fn of(lab: LabKind) -> Self {
        match lab {
            LabKind::Virtual => Self {
                trial_ns: 1_000_000_000,
                call_ns: 15_000,
                tree_call_ns: 7_000,
                sync_ns: 50_000,
                kilobyte_ns: 4_000,
                streamed_ns: 1_000,
                prefill_ns: 200,
                searched_entry_ns: 20,
                waits: false,
            },
            LabKind::Image | LabKind::Device | LabKind::Directory | LabKind::Live => Self {
                trial_ns: 300_000_000,
                call_ns: 5_000,
                tree_call_ns: 5_000,
                // Of a drive without capacitors.
                sync_ns: 1_000_000,
                kilobyte_ns: 4_000,
                streamed_ns: 4_000,
                prefill_ns: 4_000,
                searched_entry_ns: 5,
                waits: true,
            },
        }
    }
}

impl Pace {
    /// The time of some work, in ns.
    fn of_work(&self, asked: PhaseWork) -> u64 {
        let parts = [
            asked.calls.saturating_mul(self.call_ns),
            asked.tree_calls.saturating_mul(self.tree_call_ns),
            asked.syncs.saturating_mul(self.sync_ns),
            (asked.bytes / 1000).saturating_mul(self.kilobyte_ns),
            (asked.streamed_bytes / 1000).saturating_mul(self.streamed_ns),
            if self.waits { asked.waits_ns } else { 0 },
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

/// The estimated cost of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// How long all trials take, one after the other.
    pub time: Duration,
    /// What their work and what comes before it write to the device, in bytes, besides
    /// [`Self::open`] and [`Self::made_bytes`].
    pub written_bytes: u64,
    /// What mkfs writes to the device, in bytes; `None` if nothing says how large the device is.
    pub made_bytes: Option<u64>,
    /// The phases that write as fast as the drive allows until a time has passed: only the drive
    /// says how much that is.
    pub open: Vec<String>,
}

/// The estimated cost of all trials of a schedule; `None` if it depends on a program's own time, on
/// a file that has not been read, or on a share of a device whose size is not yet known.
pub fn estimate(schedule: &Schedule) -> Option<Estimate> {
    let lab = schedule.target.as_ref()?.lab();
    let pace = Pace::of(lab);
    let mut asked = before_phases(&schedule.workload);
    let mut open = Vec::new();
    for phase in &schedule.workload.phases {
        let of_phase = of_action(&phase.action, &schedule.workload)?;
        asked = asked.and(of_phase);
        asked.waits_ns = asked.waits_ns.saturating_add(phase.postponed_ns);
        asked.syncs += u64::from(phase.sync);
        open.extend(of_phase.is_open.then(|| phase.name.clone()));
    }
    let (trials, prefill_bytes) = (schedule.expected_trials() as u64, prefill_bytes(schedule)?);
    let bytes = [asked.bytes, asked.streamed_bytes, prefill_bytes];
    let bytes = bytes.into_iter().fold(0, u64::saturating_add);
    let parts = [
        pace.trial_ns,
        pace.of_work(asked),
        (prefill_bytes / 1000).saturating_mul(pace.prefill_ns),
        recoveries_ns(schedule, &pace)?,
        (mean_of_some(schedule, is_encrypted, bytes) / 1000).saturating_mul(ENCRYPTED_KILOBYTE_NS),
        mean_of_some(schedule, searches_directories, asked.searched_entries)
            .saturating_mul(pace.searched_entry_ns),
    ];
    let each = parts.into_iter().fold(0, u64::saturating_add);
    let aged_bytes = aged_bytes(schedule)?;
    let ageing_ns = (aged_bytes / 1000).saturating_mul(pace.kilobyte_ns);
    Some(Estimate {
        time: Duration::from_nanos(each.saturating_mul(trials).saturating_add(ageing_ns)),
        written_bytes: bytes.saturating_mul(trials).saturating_add(aged_bytes),
        made_bytes: made_bytes(schedule).map(|each| each.saturating_mul(trials)),
        open,
    })
}

/// The mean over all treatments of what mkfs writes, in bytes; `None` if the device's size is not
/// known. Those whose mkfs nobody has measured are left out. Aged filesystems are copied, and
/// directories are on one that is there.
fn made_bytes(schedule: &Schedule) -> Option<u64> {
    if schedule.is_in(LabKind::Directory) || schedule.is_in(LabKind::Live) {
        return Some(0);
    }
    let of_setup = |setup: &Setup| match setup.filesystem {
        Some(filesystem) if setup.age.is_none() => {
            Some(filesystem.made_bytes?).map(|of| device_bytes(schedule, setup).map(of))
        }
        _ => Some(Some(0)),
    };
    let all: Vec<u64> = schedule.setups().filter_map(of_setup).collect::<Option<_>>()?;
    (!all.is_empty()).then(|| mean(&all))
}

/// The mean over all treatments of an amount of work that only some of them have.
fn mean_of_some(schedule: &Schedule, has_it: fn(&Setup) -> bool, work: u64) -> u64 {
    let (having, all) =
        (schedule.setups().filter(|setup| has_it(setup)).count(), schedule.setups().count());
    work / (all as u64).max(1) * having as u64
}

fn is_encrypted(setup: &Setup) -> bool {
    matches!(setup.simulated.layer, Some(Layer::Crypt { .. }))
}

/// Whether names are looked for from the beginning of a directory, which has no index
/// (fs/ext2/dir.c and fs/nilfs2/dir.c in Linux).
fn searches_directories(setup: &Setup) -> bool {
    match setup.filesystem.map(|filesystem| filesystem.name) {
        Some("ext2") => setup.driver.is_none_or(|driver| driver.name == "ext2"),
        name => name == Some("nilfs2"),
    }
}

/// How long a trial's filesystem is recovered from power cuts, in ns: each time, all that is left
/// is looked at. `None` if a program of the plan judges it, too.
fn recoveries_ns(schedule: &Schedule, pace: &Pace) -> Option<u64> {
    let Some(Cuts { of_trial, survivors, check, .. }) = &schedule.cuts else { return Some(0) };
    if check.is_some() {
        return None;
    }
    let each = RECOVERY_NS.saturating_add(pace.of_work(of_look(&schedule.workload)));
    Some((u64::from(*of_trial) * u64::from(*survivors)).saturating_mul(each))
}

/// What ageing writes, in bytes, once for each state and block; states that an earlier run has kept
/// are counted, too. `None` for a real drive, whose size is not yet known.
fn aged_bytes(schedule: &Schedule) -> Option<u64> {
    let mut shapes: Vec<Levels> = Vec::new();
    let mut bytes: u64 = 0;
    for setup in schedule.setups() {
        let Some(age) = setup.age else { continue };
        let shape = setup.levels.only(|factor| factor.shapes_aged());
        if !shapes.contains(&shape) {
            let filled = device_bytes(schedule, setup)? / 100 * age.profile.fill_percent;
            let times = 1 + u64::from(age.profile.turnovers);
            bytes = bytes.saturating_add(filled.saturating_mul(times));
            shapes.push(shape);
        }
    }
    Some(bytes.saturating_mul(schedule.repetitions.least.into()))
}

/// The size of a treatment's device, in bytes, as far as it is known before it or the file that
/// describes it is examined.
fn device_bytes(schedule: &Schedule, setup: &Setup) -> Option<u64> {
    let simulated = || presets::find(&setup.simulated.drive).map(Preset::capacity_bytes);
    let own = || schedule.is_in(LabKind::Virtual).then(simulated).flatten();
    schedule.target.as_ref()?.size_bytes().or_else(own)
}

/// The mean prefill of the treatments, in bytes; `None` if it is a share of a device that has not
/// been examined yet.
fn prefill_bytes(schedule: &Schedule) -> Option<u64> {
    let of_setup = |setup: &Setup| {
        let bytes = |amount: Option<Amount>| match amount {
            None => Some(0),
            Some(Amount::Bytes(bytes)) => Some(bytes),
            Some(share) => Some(share.bytes_of(device_bytes(schedule, setup)?)),
        };
        Some(bytes(setup.prefill)?.saturating_add(bytes(setup.stale)?))
    };
    let all: Vec<u64> = schedule.setups().map(of_setup).collect::<Option<_>>()?;
    Some(mean(&all))
}

fn mean(all: &[u64]) -> u64 {
    let sum = all.iter().copied().fold(0, u64::saturating_add);
    sum / (all.len() as u64).max(1)
}

#[cfg(test)]
mod tests;

//! Estimates how long a run takes, before it begins: the work of its phases, at a lab's usual pace.
//!
//! It only tells minutes from hours. Once trials have ended, their own pace is a better estimate.

use std::time::Duration;

use super::bonnie::{Bonnie, BonnieTest};
use super::cuts::Cuts;
use super::io::End;
use super::lab_kind::LabKind;
use super::layer::Layer;
use super::recordings::{self, Recording};
use super::schedule::{Action, Build, Schedule, Tree, Workload};
use super::setup::{Amount, Setup};

/// System calls to make a file, and to delete one.
const CALLS_TO_MAKE: u64 = 4;
const CALLS_TO_DELETE: u64 = 2;

/// System calls to read a small file: open, read, read its end, close.
const CALLS_TO_READ: u64 = 4;

/// System calls of a transaction: some of the page size for each page, twice, and the syncs.
const CALLS_OF_A_TRANSACTION: u64 = 40;

/// System calls to deliver a message, to read it and to delete it.
const CALLS_OF_A_MESSAGE: u64 = CALLS_TO_MAKE + 3 + CALLS_TO_READ + 1;

/// The assumed capacity of a simulated drive if a plan does not give one, in bytes.
const USUAL_DRIVE_BYTES: u64 = 100_000_000_000;

/// The time to recover a filesystem from a power cut and check it, in ns of real time.
const RECOVERY_NS: u64 = 50_000_000;

/// The time to encrypt or decrypt a kilobyte, in ns of real time: the lab kernel has no special
/// instructions for it.
const ENCRYPTED_KILOBYTE_NS: u64 = 4_000;

/// The work of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Asked {
    calls: u64,
    /// Calls that make or delete a tree, which the virtual lab makes many at once.
    tree_calls: u64,
    bytes: u64,
    /// Bytes of large files, whose contents the virtual lab need not make.
    streamed_bytes: u64,
    /// Directory entries that are passed on the way to a name, if directories have no index.
    searched_entries: u64,
    /// Waiting time, in ns; in virtual time it is free.
    waits_ns: u64,
}

/// The pace of a lab, in ns of real time.
struct Pace {
    trial_ns: u64,
    call_ns: u64,
    tree_call_ns: u64,
    /// Of a kilobyte.
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
                kilobyte_ns: 4_000,
                streamed_ns: 1_000,
                prefill_ns: 200,
                searched_entry_ns: 20,
                waits: false,
            },
            LabKind::Image | LabKind::Device | LabKind::Directory => Self {
                trial_ns: 300_000_000,
                call_ns: 5_000,
                tree_call_ns: 5_000,
                kilobyte_ns: 4_000,
                streamed_ns: 4_000,
                prefill_ns: 4_000,
                searched_entry_ns: 5,
                waits: true,
            },
        }
    }
}

/// The estimated cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// How long all trials take, one after the other.
    pub time: Duration,
    /// What they write to the device, in bytes.
    pub written_bytes: u64,
}

/// The estimated cost of all trials of a schedule; `None` if it depends on a program's own time, or
/// on a share of a device whose size is not yet known.
#[must_use]
pub fn estimate(schedule: &Schedule) -> Option<Estimate> {
    let pace = Pace::of(schedule.target.as_ref()?.lab());
    let mut asked = Asked::default();
    for phase in &schedule.workload.phases {
        let of_phase = of_action(&phase.action, &schedule.workload)?;
        asked.waits_ns = asked.waits_ns.saturating_add(phase.postponed_ns);
        asked.calls = asked.calls.saturating_add(of_phase.calls);
        asked.tree_calls = asked.tree_calls.saturating_add(of_phase.tree_calls);
        asked.bytes = asked.bytes.saturating_add(of_phase.bytes);
        asked.streamed_bytes = asked.streamed_bytes.saturating_add(of_phase.streamed_bytes);
        asked.searched_entries = asked.searched_entries.saturating_add(of_phase.searched_entries);
        asked.waits_ns = asked.waits_ns.saturating_add(of_phase.waits_ns);
    }
    let (trials, prefill_bytes) = (schedule.expected_trials() as u64, prefill_bytes(schedule)?);
    let bytes = [asked.bytes, asked.streamed_bytes, prefill_bytes];
    let bytes = bytes.into_iter().fold(0, u64::saturating_add);
    let parts = [
        pace.trial_ns,
        asked.calls.saturating_mul(pace.call_ns),
        asked.tree_calls.saturating_mul(pace.tree_call_ns),
        (asked.bytes / 1000).saturating_mul(pace.kilobyte_ns),
        (asked.streamed_bytes / 1000).saturating_mul(pace.streamed_ns),
        (prefill_bytes / 1000).saturating_mul(pace.prefill_ns),
        if pace.waits { asked.waits_ns } else { 0 },
        recoveries(schedule).saturating_mul(RECOVERY_NS),
        (mean_of_some(schedule, is_encrypted, bytes) / 1000).saturating_mul(ENCRYPTED_KILOBYTE_NS),
        mean_of_some(schedule, searches_directories, asked.searched_entries)
            .saturating_mul(pace.searched_entry_ns),
    ];
    let each = parts.into_iter().fold(0, u64::saturating_add);
    Some(Estimate {
        time: Duration::from_nanos(each.saturating_mul(trials)),
        written_bytes: bytes.saturating_mul(trials),
    })
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

/// How often a trial's filesystem is recovered from a power cut.
fn recoveries(schedule: &Schedule) -> u64 {
    let of = |cuts: &Cuts| u64::from(cuts.of_trial) * u64::from(cuts.survivors);
    schedule.cuts.as_ref().map_or(0, of)
}

fn of_action(action: &Action, workload: &Workload) -> Option<Asked> {
    let of_tree = |tree_calls, bytes| Some(Asked { tree_calls, bytes, ..Asked::default() });
    let (files, bytes) = match (&workload.tree, &workload.build, action) {
        (_, Some(Build::Synthetic { files, bytes }), Action::Clone | Action::Make) => {
            (*files, *bytes)
        }
        (_, Some(Build::Synthetic { files, .. }), Action::Clean) => (*files, 0),
        (Some(Tree::Synthetic { files, bytes }), ..) => (*files, *bytes),
        _ => (0, 0),
    };
    match action {
        Action::Unpack | Action::Clone | Action::Make => of_tree(files * CALLS_TO_MAKE, bytes),
        Action::Read { .. } => Some(Asked { calls: files * CALLS_TO_READ, ..Asked::default() }),
        Action::Delete | Action::Clean => of_tree(files * CALLS_TO_DELETE, 0),
        Action::Sync | Action::Fstrim | Action::Remount => Some(Asked::default()),
        Action::Idle { quiet_ns } => Some(Asked { waits_ns: *quiet_ns, ..Asked::default() }),
        Action::Bonnie { test } => {
            let bonnie = workload.bonnie.as_ref()?;
            let asked = of_bonnie(*test, bonnie);
            Some(Asked { waits_ns: bonnie.least_ns, ..asked })
        }
        Action::Io(io) => {
            let block = io.blocks.iter().map(|block| u64::from(block.bytes)).max().unwrap_or(4096);
            let (operations, waits_ns) = match io.end {
                End::Bytes(bytes) => (bytes / block.max(1), 0),
                End::Operations(operations) => (operations, 0),
                // About the rate of an early drive.
                End::Time(ns) => (ns / 100_000, ns),
            };
            let laid_out = io.size_bytes.saturating_mul(io.files.into());
            let streamed_bytes = laid_out.saturating_add(operations.saturating_mul(block));
            Some(Asked { calls: operations, streamed_bytes, waits_ns, ..Asked::default() })
        }
        Action::Transactions(work) => {
            let number = match work.end {
                End::Operations(number) => number,
                End::Time(ns) => ns / work.pause_ns().max(10_000_000),
                End::Bytes(_) => 0,
            };
            let calls = number.saturating_mul(CALLS_OF_A_TRANSACTION);
            let (bytes, waits_ns) = (work.streamed_bytes(), work.lasts_ns());
            Some(Asked { calls, bytes, waits_ns, ..Asked::default() })
        }
        Action::Replace(replace) => Some(Asked {
            calls: replace.operations().saturating_mul(CALLS_TO_MAKE),
            bytes: replace.operations().saturating_mul(10_000),
            waits_ns: replace.operations().saturating_mul(replace.think_ns),
            ..Asked::default()
        }),
        Action::Append(append) => Some(Asked {
            calls: u64::from(append.records),
            bytes: u64::from(append.records) * u64::from(append.record_bytes),
            waits_ns: u64::from(append.records).saturating_mul(append.think_ns),
            ..Asked::default()
        }),
        Action::Database(database) => Some(Asked {
            calls: database.calls(),
            bytes: database.written_bytes(),
            waits_ns: u64::from(database.commits).saturating_mul(database.think_ns),
            ..Asked::default()
        }),
        Action::Sequences(work) => {
            Some(Asked { calls: work.calls(), bytes: work.bytes(), ..Asked::default() })
        }
        Action::Maildir(maildir) => Some(Asked {
            calls: u64::from(maildir.messages) * CALLS_OF_A_MESSAGE,
            bytes: maildir.written_bytes(),
            waits_ns: u64::from(maildir.messages).saturating_mul(maildir.think_ns),
            ..Asked::default()
        }),
        Action::Rotate(rotate) => Some(Asked {
            calls: u64::from(rotate.records),
            bytes: rotate.appended_bytes(),
            waits_ns: u64::from(rotate.records).saturating_mul(rotate.think_ns),
            ..Asked::default()
        }),
        Action::Replay { log: Recording::Shipped(name) } => {
            let log = recordings::find(name)?;
            let (calls, bytes) = (log.operations, log.written_bytes);
            Some(Asked { calls, bytes, ..Asked::default() })
        }
        Action::Replay { log: Recording::File(_) }
        | Action::Command { .. }
        | Action::Fio { .. }
        | Action::Imported => None,
    }
}

fn of_bonnie(test: BonnieTest, bonnie: &Bonnie) -> Asked {
    let chunks = bonnie.size_bytes / bonnie.chunk_bytes;
    let moved = |calls, bytes| Asked { calls, bytes, ..Asked::default() };
    match test {
        BonnieTest::SeqOutputChar | BonnieTest::SeqInputChar => moved(bonnie.char_bytes, 0),
        BonnieTest::SeqOutputBlock => moved(chunks, bonnie.size_bytes),
        BonnieTest::Rewrite => moved(2 * chunks, bonnie.size_bytes),
        BonnieTest::SeqInputBlock => moved(chunks, 0),
        BonnieTest::RandomSeek => moved(3 * u64::from(bonnie.seeks), 0),
        BonnieTest::SeqCreate | BonnieTest::RandomCreate => Asked {
            // Each is looked for among those before it in its directory.
            searched_entries: bonnie.files.saturating_mul(bonnie.files) / 2 / bonnie.directories,
            ..moved(
                CALLS_TO_MAKE * bonnie.files,
                bonnie.files * u64::midpoint(bonnie.file_bytes.0, bonnie.file_bytes.1),
            )
        },
        BonnieTest::SeqStat | BonnieTest::RandomStat => moved(bonnie.files, 0),
        BonnieTest::SeqDelete | BonnieTest::RandomDelete => {
            moved(CALLS_TO_DELETE * bonnie.files, 0)
        }
    }
}

/// The mean prefill of the treatments, in bytes; `None` if it is a share of a device that has not
/// been examined yet.
fn prefill_bytes(schedule: &Schedule) -> Option<u64> {
    let usual = schedule.is_in(LabKind::Virtual).then_some(USUAL_DRIVE_BYTES);
    let device = schedule.target.as_ref()?.size_bytes().or(usual);
    let bytes = |amount: Option<Amount>| match amount {
        None => Some(0),
        Some(Amount::Bytes(bytes)) => Some(bytes),
        Some(share) => Some(share.bytes_of(device?)),
    };
    let of_setup = |setup: &Setup| Some(bytes(setup.prefill)?.saturating_add(bytes(setup.stale)?));
    let all: Vec<u64> = schedule.setups().map(of_setup).collect::<Option<_>>()?;
    let sum = all.iter().copied().fold(0, u64::saturating_add);
    Some(sum / (all.len() as u64).max(1))
}

#[cfg(test)]
mod tests;

//! What makes the numbers of a probe worth less: answers that are too fast, and layers between.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_flash::probe::{ProbeAnswers, ProbeQuestion};
use ssdlab_host::whole_disk::DiskKind;

use super::place::ProbedPlace;

/// What makes the numbers worth less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbeCaution {
    /// Its name.
    pub(super) id: CautionName,
    /// What it means.
    pub(super) says: String,
}

/// The name of a caution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CautionName {
    /// Synced writes are faster than any medium.
    SyncTooFast,
    /// Synced writes are faster than a disk rotates.
    SyncFasterThanRotation,
    /// A flush costs nothing.
    FlushIsFree,
    /// Reads are faster than flash.
    ReadFromMemory,
    /// The rounds differ.
    Uneven,
    /// The disk is virtual, or a file.
    NotADrive,
    /// The filesystem is on a network, or in another program.
    Remote,
    /// The filesystem never writes in place.
    CopyOnWrite,
}

/// What the fastest medium on a bus takes for a synced write: an Optane P5800X takes 5 us for a
/// write (Intel's product brief, 2020), and the kernel some more.
const FASTEST_SYNC_NS: f64 = 5_000.0;

/// What the fastest disk takes for half a rotation, at 15,000 a minute.
const HALF_ROTATION_NS: f64 = 2_000_000.0;

/// What a page of ordinary flash takes to be read into its register at the least: 25 us for SLC
/// (the presets have 25 to 120 us).
const FASTEST_FLASH_READ_NS: f64 = 25_000.0;

/// A flush that takes less is a round trip without work.
const FREE_FLUSH_NS: u64 = 30_000;

/// Rounds that differ by more had company.
const UNEVEN: f64 = 1.5;

pub(super) fn cautions(answers: &ProbeAnswers, place: &ProbedPlace) -> Vec<ProbeCaution> {
    let mut found = Vec::new();
    let mut add = |id, says: &str| found.push(ProbeCaution { id, says: says.to_owned() });
    let median = |question| answers.median_ns(question).unwrap_or(f64::INFINITY);
    let flush = answers.answers.get(&ProbeQuestion::SyncedWrite).and_then(|a| a.flushes);
    if median(ProbeQuestion::SyncedWrite) < FASTEST_SYNC_NS {
        add(
            CautionName::SyncTooFast,
            "A synced write takes less than any medium on a bus does: something below acknowledges \
             it before it is safe, and a power cut loses it. The verdicts on syncs are worth \
             nothing.",
        );
    } else if place.kind == Some(DiskKind::HardDisk)
        && median(ProbeQuestion::SyncedWrite) < HALF_ROTATION_NS
    {
        add(
            CautionName::SyncFasterThanRotation,
            "A synced write takes less than half a rotation of the disk: a cache acknowledges it. \
             Unless that has a battery, a power cut loses what was synced.",
        );
    } else if flush.is_some_and(|flush| flush.p50_ns < FREE_FLUSH_NS) {
        add(
            CautionName::FlushIsFree,
            "A flush costs nothing. The drive has capacitors, no volatile cache, or ignores \
             flushes, as a virtual disk's host may: a probe cannot tell which, a power cut can.",
        );
    }
    if median(ProbeQuestion::Read) < FASTEST_FLASH_READ_NS {
        add(
            CautionName::ReadFromMemory,
            "Reads are faster than flash can be read: they come from a cache below the filesystem, \
             or the medium is not flash.",
        );
    }
    if is_uneven(answers) {
        add(
            CautionName::Uneven,
            "The rounds differ by more than half: something else used the drive or the processors. \
             Repeat it when they are idle.",
        );
    }
    match place.kind {
        Some(DiskKind::Virtual) => add(
            CautionName::NotADrive,
            "The disk is virtual: its host's caches and limits are measured with it.",
        ),
        Some(DiskKind::Loop) => add(
            CautionName::NotADrive,
            "The disk is a file: what holds the file is measured with it.",
        ),
        _ => {}
    }
    match place.filesystem.as_str() {
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" => {
            add(
                CautionName::Remote,
                "The filesystem is elsewhere: the way there is measured with it.",
            );
        }
        kind if kind.starts_with("fuse") => add(
            CautionName::Remote,
            "The filesystem is another program's: that is measured with the drive.",
        ),
        "btrfs" | "zfs" | "bcachefs" | "f2fs" => add(
            CautionName::CopyOnWrite,
            "The filesystem does not write in place: a synced write writes its metadata, too.",
        ),
        _ => {}
    }
    found
}

/// Whether the rounds of what a person looks at first differ.
fn is_uneven(answers: &ProbeAnswers) -> bool {
    let first = [ProbeQuestion::SyncedWrite, ProbeQuestion::Read];
    first.iter().filter_map(|question| answers.answers.get(question)).any(|answer| {
        let least = answer.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = answer.rounds.iter().copied().fold(0.0, f64::max);
        most > UNEVEN * least
    })
}

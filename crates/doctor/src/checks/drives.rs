//! Checks of drives and their partitions.

use ssdlab_host::sysfs;
use ssdlab_host::wear::{DriveWear, SpareBlocks};
use ssdlab_host::whole_disk::{DiskKind, WholeDisk, device_of};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// A write cache that is off, and one that the kernel does not know of.
///
/// Evidence: the kernel's documentation on controlling write-back caches: `queue/write_cache`
/// decides whether the kernel sends flushes, and sd(4)'s `cache_type` says what the drive has.
/// Without its cache an ATA drive programs its flash for each write before it answers.
pub fn write_cache(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let drives = machine.disks.iter().filter(|disk| disk.kind == DiskKind::SataSsd);
    drives.filter_map(|drive| cache_fault(machine, drive)).collect()
}

fn cache_fault(machine: &InspectedMachine<'_>, drive: &WholeDisk) -> Option<SetupFinding> {
    let folder = machine.root.join("sys/block").join(&drive.name);
    let cache_type = sysfs::read(&sysfs::scsi_cache_type(&folder)?).ok()?;
    let kernel_has = machine.queue(drive, "write_cache")?;
    let name = &drive.name;
    let found = |why: &str, remedy: String, risk: Option<&str>| SetupFinding {
        id: CheckName::WriteCache,
        subject: format!("/dev/{name}"),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: why.to_owned(),
        remedy,
        risk: risk.map(str::to_owned),
    };
    match (cache_type.as_str(), kernel_has.as_str()) {
        ("write through", _) => Some(found(
            "Its write cache is off: each write waits for the flash.",
            format!("hdparm -W1 /dev/{name}"),
            Some(
                "What was not synced is lost in a power cut, as on any drive; flushes keep synced \
                 files.",
            ),
        )),
        (cache, "write through") if cache.starts_with("write back") => Some(found(
            "It has a write cache, but the kernel was told otherwise and sends no flushes: a power \
             cut loses synced files.",
            format!("echo \"write back\" > /sys/block/{name}/queue/write_cache"),
            None,
        )),
        _ => None,
    }
}

/// The used share of its life, in percent, from which on a drive is to be replaced.
const WORN_PERCENT: u64 = 90;

/// Flash at the end of its life, as far as sysfs tells: eMMC alone. `ssdlab who` asks other drives.
///
/// Evidence: JESD84-B51, `DEVICE_LIFE_TIME_EST` and `PRE_EOL_INFO`.
pub fn wear(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let worn = machine.disks.iter().filter(|disk| {
        let wear = DriveWear::by_sysfs(&machine.root, &disk.name);
        let is_used = wear.used_percent.is_some_and(|[from, _]| from >= WORN_PERCENT);
        is_used || wear.spare_blocks == Some(SpareBlocks::Urgent)
    });
    let finding = |disk: &ssdlab_host::whole_disk::WholeDisk| SetupFinding {
        id: CheckName::Wear,
        subject: format!("/dev/{}", disk.name),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: "It says that at least nine tenths of its life or of its spare blocks are used."
            .to_owned(),
        remedy: "back it up, replace it, and see what wrote: ssdlab who".to_owned(),
        risk: None,
    };
    worn.map(finding).collect()
}

const PAGE: u64 = 4096;

/// Partitions that begin within a page of flash.
///
/// Evidence: Documentation/ABI/stable/sysfs-block on `start`, in sectors of 512 bytes. Flash is
/// programmed by pages of at least 4 KiB: a block that lies across two costs both.
pub fn alignment(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let is_used = |disk: &WholeDisk, partition: &str| {
        let mut mounted = machine.writable();
        let is_below = |upper: &WholeDisk| upper.slaves.iter().any(|name| name == partition);
        machine.disks.iter().any(is_below)
            || mounted.any(|(mount, _)| {
                device_of(&machine.root, mount, &[disk]).is_some_and(|name| name == partition)
            })
    };
    let drives = machine.disks.iter().filter(|disk| machine.is_on_flash(disk));
    let partitions = drives.flat_map(|disk| {
        let names = disk.partitions.iter().map(|(name, _)| name.as_str());
        names.filter(move |name| is_used(disk, name)).map(move |name| (disk, name))
    });
    let misaligned = partitions.filter_map(|(disk, name)| {
        let folder = machine.root.join("sys/block").join(&disk.name).join(name);
        let start: u64 = sysfs::read(&folder.join("start")).ok()?.parse().ok()?;
        (!(start * 512).is_multiple_of(PAGE)).then_some((name, start))
    });
    let finding = |(name, start): (&str, u64)| SetupFinding {
        id: CheckName::Alignment,
        subject: format!("/dev/{name}"),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: format!(
            "It begins at sector {start}, within a page of flash: each block that is overwritten \
             touches two pages."
        ),
        remedy:
            "back it up, make the partition anew (every tool of today begins at 1 MiB), restore"
                .to_owned(),
        risk: Some("Making it anew deletes what is on it.".to_owned()),
    };
    misaligned.map(finding).collect()
}

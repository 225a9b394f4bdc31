//! A write cache that is off, and one that the kernel does not know of.
//!
//! Evidence: the kernel's documentation on controlling write-back caches: `queue/write_cache`
//! decides whether the kernel sends flushes, and sd(4)'s `cache_type` says what the drive has.
//! Without its cache an ATA drive programs its flash for each write before it answers.

use ssdlab_host::sysfs;
use ssdlab_host::whole_disk::{DiskKind, WholeDisk};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let drives = machine.disks.iter().filter(|disk| disk.kind == DiskKind::SataSsd);
    drives.filter_map(|drive| finding(machine, drive)).collect()
}

fn finding(machine: &InspectedMachine<'_>, drive: &WholeDisk) -> Option<SetupFinding> {
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

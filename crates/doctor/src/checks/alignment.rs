//! Partitions that begin within a page of flash.
//!
//! Evidence: Documentation/ABI/stable/sysfs-block on `start`, in sectors of 512 bytes. Flash is
//! programmed by pages of at least 4 KiB: a block that lies across two costs both.

use ssdlab_host::sysfs;
use ssdlab_host::whole_disk::{WholeDisk, device_of};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

const PAGE: u64 = 4096;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
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

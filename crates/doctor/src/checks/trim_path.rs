//! A layer that keeps discards from the drive.
//!
//! Evidence: `discard_max_bytes` of each layer (Documentation/ABI/stable/sysfs-block): 0 where it
//! takes none. dm-crypt passes them with `allow_discards` only, a thin pool with discard passdown,
//! an array of RAID 5 with `devices_handle_discard_safely`, a loop device onto a filesystem that
//! can punch holes. What it brings on a full drive: the plan `overprovision`.

use std::collections::BTreeSet;

use ssdlab_host::sysfs;
use ssdlab_host::whole_disk::{DiskKind, WholeDisk};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;
use super::super::machine::MachinePlace;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let mut seen = BTreeSet::new();
    let found = machine.on_flash().filter_map(|(mount, disk)| {
        let stack = machine.stack(disk);
        if machine.takes_discards(disk) {
            return None;
        }
        // The lowest that takes none: what is above it cannot.
        let stops = stack.iter().rev().find(|disk| !machine.takes_discards(disk))?;
        let subject = mount.target.display().to_string();
        seen.insert(stops.name.clone()).then(|| finding(machine, subject, stops)).flatten()
    });
    found.collect()
}

fn finding(
    machine: &InspectedMachine<'_>,
    subject: String,
    stops: &WholeDisk,
) -> Option<SetupFinding> {
    let uuid = sysfs::read(&machine.root.join("sys/block").join(&stops.name).join("dm/uuid"));
    let uuid = uuid.unwrap_or_default();
    let name = stops.model.as_deref().unwrap_or(&stops.name);
    let here = FindingState::ToDo;
    let (layer, state, remedy, risk) = match stops.kind {
        DiskKind::DeviceMapper if uuid.starts_with("CRYPT-") => (
            format!("LUKS ({name})"),
            here,
            format!(
                "cryptsetup refresh --allow-discards {name}; to keep it, add \"discard\" to its \
                 line in /etc/crypttab, or --persistent for LUKS2"
            ),
            Some("Who reads the drive itself can tell which blocks are free."),
        ),
        DiskKind::DeviceMapper if uuid.starts_with("LVM-") => (
            format!("LVM ({name})"),
            here,
            "lvs -o name,discards,segtype; for a thin pool: lvchange --discards passdown VG/POOL"
                .to_owned(),
            None,
        ),
        DiskKind::DeviceMapper => (
            format!("the device mapper ({name})"),
            here,
            format!("dmsetup table {name}, and see what its target says of discards"),
            None,
        ),
        DiskKind::Array => (
            format!("the array {}", stops.name),
            here,
            "if all its drives read zeros after discards: modprobe raid456 \
             devices_handle_discard_safely=Y"
                .to_owned(),
            Some("On drives that do not, an array of RAID 5 or 6 becomes inconsistent."),
        ),
        DiskKind::Loop => (
            format!("the loop device {}", stops.name),
            here,
            "keep its file on a filesystem that can punch holes: ext4, xfs, btrfs".to_owned(),
            None,
        ),
        DiskKind::Virtual if machine.place == MachinePlace::VirtualMachine => (
            format!("the virtual disk {}", stops.name),
            FindingState::OnTheHost,
            "set discard=unmap (QEMU, libvirt) or Discard (Proxmox) for the disk".to_owned(),
            None,
        ),
        // A drive without TRIM, or a bridge that does not pass it: nothing can be set.
        _ => return None,
    };
    Some(SetupFinding {
        id: CheckName::TrimPath,
        subject,
        state,
        grade: AdviceGrade::Fact,
        why: format!(
            "Discards stop at {layer}: the drive never learns of deleted files, and wears more as \
             it fills."
        ),
        remedy,
        risk: risk.map(str::to_owned),
    })
}

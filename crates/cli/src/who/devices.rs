//! The devices that a recording of `ssdlab who` is to watch.

use std::path::Path;

use miette::{IntoDiagnostic, Report};
use ssdlab_attribution::devices_of_mount;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::{mounts, processes, whole_disk};
use ssdlab_lab::LabError;

use super::since_boot::target;
use crate::exit::UsageError;

/// A device or the device of a mounted filesystem, else all disks.
pub fn watched_devices(what: Option<&Path>) -> Result<Vec<BlockDevice>, Report> {
    if !processes::is_root_of_machine() {
        let reason = "recording who writes needs root of the machine, not only of a user \
                      namespace: the kernel shows its trace events to nobody else; what was \
                      written since boot, `ssdlab who` without --for, needs no root";
        return Err(LabError::Unavailable { reason: reason.to_owned() }.into());
    }
    let devices = match what {
        Some(what) => devices_of(what)?,
        None => all_disks(),
    };
    if devices.is_empty() {
        return Err(UsageError::report("this machine shows no disk", "name a device"));
    }
    Ok(devices)
}

/// The device that is named, or on which a folder is; of a filesystem on several, all of them.
fn devices_of(what: &Path) -> Result<Vec<BlockDevice>, Report> {
    let root = Path::new("/");
    let (disks, mounts) = (whole_disk::all(root), whole_disk::mount_table(root));
    let mounts = mounts.unwrap_or_default();
    let (disk, partition) = target::resolve(root, &disks, &mounts, what)?;
    let mut partitions = disk.partitions.iter();
    let named = partition.and_then(|name| partitions.find(|(own, _)| *own == name));
    let number = named.map_or(&disk.number, |(_, number)| number);
    let mounted = mounts::containing(what).ok().flatten();
    let members = mounted.map(|mount| devices_of_mount(&mount)).unwrap_or_default();
    let numbers = if members.contains(number) { members } else { vec![number.clone()] };
    numbers.iter().map(|number| BlockDevice::numbered(number).into_diagnostic()).collect()
}

/// The disks of this machine that are no layer above another.
fn all_disks() -> Vec<BlockDevice> {
    let disks = whole_disk::all(Path::new("/")).into_iter();
    let lowest = disks.filter(|disk| !disk.kind.is_layer());
    lowest.filter_map(|disk| BlockDevice::numbered(&disk.number).ok()).collect()
}

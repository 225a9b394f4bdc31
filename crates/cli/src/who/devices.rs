//! The devices that a recording of `ssdlab who` is to watch.

use std::path::Path;

use miette::{IntoDiagnostic, Report};
use ssdlab_attribution::devices_of_mount;
use ssdlab_host::sysfs::{self, BlockDevice, block_number};
use ssdlab_host::{mounts, processes, whole_disk};
use ssdlab_lab::LabError;

use super::since_boot::target::known;
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

/// The device that is named, by its node or by the kernel's name, or those of the filesystem that a
/// path is on.
fn devices_of(what: &Path) -> Result<Vec<BlockDevice>, Report> {
    let is_name = what.components().count() == 1;
    if is_name
        && let Ok(number) = sysfs::read(&Path::new("/sys/class/block").join(what).join("dev"))
    {
        return Ok(vec![BlockDevice::numbered(&number).into_diagnostic()?]);
    }
    if block_number(what).is_some() {
        return Ok(vec![BlockDevice::open(what).into_diagnostic()?]);
    }
    let mount = mounts::containing(what).map_err(|error| {
        let disks = whole_disk::all(Path::new("/"));
        UsageError::report(format!("{}: {error}", what.display()), known(&disks))
    })?;
    let numbers = mount.as_ref().map(devices_of_mount).unwrap_or_default();
    let devices: Vec<BlockDevice> =
        numbers.iter().filter_map(|number| BlockDevice::numbered(number).ok()).collect();
    if devices.is_empty() {
        let kind = mount.map_or_else(String::new, |mount| format!(" ({})", mount.kind));
        return Err(UsageError::report(
            format!("{} is on no block device{kind}", what.display()),
            "name a block device, or a folder on one",
        ));
    }
    Ok(devices)
}

/// The disks of this machine that are no layer above another.
fn all_disks() -> Vec<BlockDevice> {
    let disks = whole_disk::all(Path::new("/")).into_iter();
    let lowest = disks.filter(|disk| !disk.kind.is_layer());
    lowest.filter_map(|disk| BlockDevice::numbered(&disk.number).ok()).collect()
}

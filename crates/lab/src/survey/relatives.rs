//! The relatives of a device, and what it is known by.

use std::fs;
use std::io;
use std::path::Path;

use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_host::{drive_identity, loop_device};

use crate::safety::Relation;

/// The device and all that shares its storage.
pub(super) fn relatives(device: &BlockDevice) -> io::Result<Vec<(Relation, BlockDevice)>> {
    let mut relatives = vec![(Relation::Itself, device.clone())];
    let disk = device.disk()?;
    if device.is_partition() {
        relatives.push((Relation::Disk, disk.clone()));
    }
    let relation = if device.is_partition() { Relation::Sibling } else { Relation::Partition };
    for partition in disk.partitions()? {
        if partition.number != device.number {
            relatives.push((relation, partition));
        }
    }
    if let Some(below) = backing_device(device)? {
        for (_, device) in self::relatives(&below)? {
            relatives.push((Relation::Below, device));
        }
    }
    Ok(relatives)
}

pub(super) fn in_folder(folder: &Path) -> io::Result<BlockDevice> {
    BlockDevice::numbered(&sysfs::read(&folder.join("dev"))?)
}

/// The device behind a loop device (or the one that it is a partition of), if it is not a file.
pub(super) fn backing_device(device: &BlockDevice) -> io::Result<Option<BlockDevice>> {
    let node = Path::new("/dev").join(device.disk_folder().file_name().unwrap_or_default());
    // By number: the node it was set up with may have been removed since.
    let number = loop_device::backing(&node)?.and_then(|backing| backing.device);
    number.map(|number| BlockDevice::numbered(&number)).transpose()
}

/// The names that identify only this device. The serial belongs to the whole disk, so it is not a
/// name of a partition.
pub(super) fn names_of(device: &BlockDevice) -> Vec<String> {
    let mut found = linked_in(Path::new("/dev/disk/by-id"), device);
    if device.is_partition() {
        found.extend(linked_in(Path::new("/dev/disk/by-partuuid"), device));
        return found;
    }
    found.extend(own_serial(&device.disk_folder()));
    let node = Path::new("/dev").join(&device.name);
    found.extend(loop_device::backing_file(&node).map(|file| file.display().to_string()));
    found
}

/// What distinguishes a device from others, and is the same after the next boot: the identifiers of
/// its disk, its number there, its size. Unlike udev's names it does not depend on other programs.
pub(crate) fn lasting_identity(device: &BlockDevice) -> String {
    let disk = device.disk_folder();
    let of_disk = ["wwid", "device/wwid", "serial", "device/serial", "loop/backing_file", "size"];
    let parts = of_disk.map(|name| attribute(&disk, name)).into_iter();
    let of_part = ["partition", "size"].map(|name| attribute(&device.folder, name));
    parts.chain(of_part).map(Option::unwrap_or_default).collect::<Vec<_>>().join("\n")
}

/// The serial of a disk, unless another disk has the same: the namespaces of an `NVMe` controller
/// share the controller's.
fn own_serial(disk: &Path) -> Option<String> {
    let of = |disk: &Path| attribute(disk, "device/serial").or_else(|| attribute(disk, "serial"));
    let serial = of(disk)?;
    let disks = drive_identity::disks(Path::new(drive_identity::DISKS));
    let is_shared = disks.iter().any(|other| {
        other.canonicalize().is_ok_and(|other| other != disk) && of(other) == Some(serial.clone())
    });
    (!is_shared).then_some(serial)
}

/// The links in one of udev's folders that lead to this device, not to its disk.
fn linked_in(folder: &Path, device: &BlockDevice) -> Vec<String> {
    let is_ours = |name: &String| {
        BlockDevice::open(&folder.join(name)).is_ok_and(|other| other.number == device.number)
    };
    names(folder).into_iter().filter(is_ours).collect()
}

/// An attribute of a whole disk, given by its folder; `None` if there is none or it is empty.
pub(super) fn attribute(disk: &Path, name: &str) -> Option<String> {
    sysfs::read(&disk.join(name)).ok().filter(|text| !text.is_empty())
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

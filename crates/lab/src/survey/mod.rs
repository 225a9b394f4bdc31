//! Surveys a device: gathers the evidence for `safety` from the kernel and libblkid.
//!
//! Devices are followed by number, not by name, and through every layer: partitions, holders,
//! slaves (LVM, RAID, LUKS), loop devices over devices. In addition, every relative is opened
//! exclusively, which fails for whatever is mounted, swaps or belongs to an array (even in another
//! mount namespace, or as the second device of a btrfs or a pool). Other open files are found
//! through the processes. A survey never opens a device for writing, because closing it would make
//! udev probe it again.

mod exports;
mod file;
mod signatures;
mod uses;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_host::{block_ioctl, drive_identity, loop_device};

use super::safety::{Identity, Relation, Survey};
use super::{LabError, Tools};

/// A node that was replaced by a link is not the one that was judged.
const NO_LINK: OFlags = OFlags::NOFOLLOW;

/// Surveys a device.
pub fn survey(node: &Path, tools: &Tools<'_>) -> Result<Survey, LabError> {
    let device = BlockDevice::open(node).map_err(LabError::step("use the device", node))?;
    look(&device, None, tools)
}

/// Surveys the claimed device again. No new use in the kernel is possible any more.
pub(super) fn survey_claimed(
    node: &Path,
    claim: &File,
    tools: &Tools<'_>,
) -> Result<Survey, LabError> {
    let device = identity(claim).and_then(|identity| BlockDevice::numbered(&identity.number));
    let device = device.map_err(LabError::step("identify", node))?;
    look(&BlockDevice { node: node.to_owned(), ..device }, Some(claim), tools)
}

fn look(device: &BlockDevice, claim: Option<&File>, tools: &Tools<'_>) -> Result<Survey, LabError> {
    let node = &device.node;
    let relatives = relatives(device).map_err(LabError::step("look at", node))?;
    let uses = uses::of(&relatives).map_err(LabError::step("find the users of", node))?;
    // Our claim holds the device, its disk and its partitions, but nothing that lies below.
    let is_ours = |relation| claim.is_some() && relation != Relation::Below;
    let mut others = relatives.iter().filter(|(relation, _)| !is_ours(*relation));
    let busy = others.any(|(_, relative)| is_claimed(relative));
    let mut survey = Survey {
        node: node.clone(),
        name: device.name.clone(),
        identity: Identity {
            number: device.number.clone(),
            size_bytes: device.size_bytes().map_err(LabError::step("read the size of", node))?,
            sequence: None,
        },
        is_partition: device.is_partition(),
        model: attribute(&device.disk_folder(), "device/model"),
        names: names_of(device),
        read_only: sysfs::read(&device.folder.join("ro")).is_ok_and(|text| text != "0"),
        busy,
        uses,
        signatures: Vec::new(),
    };
    // A device in use is refused regardless of its contents, and not even opened.
    if survey.uses.is_empty() && !busy && survey.identity.size_bytes > 0 {
        let opened = claim.map_or_else(|| open(node), File::try_clone);
        let held = opened.map_err(LabError::step("open", node))?;
        survey.identity = identity(&held).map_err(LabError::step("identify", node))?;
        survey.signatures = signatures::of(device, &held, &relatives, tools)?;
    }
    Ok(survey)
}

fn open(node: &Path) -> io::Result<File> {
    let flags = NO_LINK.bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(node)
}

/// The identity of an open device.
pub(super) fn identity(held: &File) -> io::Result<Identity> {
    Ok(Identity {
        number: sysfs::major_minor(held.metadata()?.rdev()),
        size_bytes: block_ioctl::size_bytes(held)?,
        sequence: block_ioctl::disk_sequence(held),
    })
}

/// Whether the kernel holds a device, or one that overlaps it. A missing node cannot be opened, but
/// its disk can.
fn is_claimed(device: &BlockDevice) -> bool {
    let exclusive = (OFlags::EXCL | OFlags::NONBLOCK).bits().cast_signed();
    let node = Path::new("/dev").join(&device.name);
    let opened = fs::OpenOptions::new().read(true).custom_flags(exclusive).open(node);
    opened.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Opens a device exclusively: fails while it, its disk or a partition of it is mounted or
/// otherwise claimed, and keeps others from claiming it for as long as the file is open.
pub(super) fn claim(node: &Path) -> io::Result<File> {
    let flags = (OFlags::EXCL | NO_LINK).bits().cast_signed();
    fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(node)
}

/// The device and all that shares its storage.
fn relatives(device: &BlockDevice) -> io::Result<Vec<(Relation, BlockDevice)>> {
    let mut relatives = vec![(Relation::Itself, device.clone())];
    let disk = device.disk_folder();
    if device.is_partition() {
        relatives.push((Relation::Disk, in_folder(&disk)?));
    }
    let relation = if device.is_partition() { Relation::Sibling } else { Relation::Partition };
    for partition in partitions(&disk)? {
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

fn in_folder(folder: &Path) -> io::Result<BlockDevice> {
    BlockDevice::numbered(&sysfs::read(&folder.join("dev"))?)
}

fn partitions(disk: &Path) -> io::Result<Vec<BlockDevice>> {
    let mut partitions = Vec::new();
    for entry in fs::read_dir(disk)? {
        let path = entry?.path();
        if path.join("partition").exists() {
            partitions.push(in_folder(&path)?);
        }
    }
    partitions.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(partitions)
}

/// The device behind a loop device (or the one that it is a partition of), if it is not a file.
fn backing_device(device: &BlockDevice) -> io::Result<Option<BlockDevice>> {
    let node = Path::new("/dev").join(device.disk_folder().file_name().unwrap_or_default());
    // By number: the node it was set up with may have been removed since.
    let number = loop_device::backing(&node)?.and_then(|backing| backing.device);
    number.map(|number| BlockDevice::numbered(&number)).transpose()
}

/// The names that identify only this device. The serial belongs to the whole disk, so it is not a
/// name of a partition.
fn names_of(device: &BlockDevice) -> Vec<String> {
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
pub(super) fn lasting_identity(device: &BlockDevice) -> String {
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
fn attribute(disk: &Path, name: &str) -> Option<String> {
    sysfs::read(&disk.join(name)).ok().filter(|text| !text.is_empty())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

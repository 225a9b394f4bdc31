//! The users of a device: mounts, swap, stacked devices, processes, and other paths to its drive.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ssdlab_host::drive_identity::{self, DriveIdentity};
use ssdlab_host::mounts::{self, MountElsewhere};
use ssdlab_host::open_files::{self, Object};
use ssdlab_host::processes;
use ssdlab_host::sysfs::{self, BlockDevice};

use super::exports;
use super::exports::ExportedDevice;
use super::file::{LoopFile, other_loops};
use super::relatives::{backing_device, in_folder, names};
use crate::safety::{DeviceUse, Purpose, Relation};

/// How long a process may keep a device open before it counts as a user, and how often to check.
const OPENER_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The folder of mounted btrfs filesystems, by UUID (Linux, fs/btrfs/sysfs.c).
const BTRFS: &str = "/sys/fs/btrfs";

/// The folder of generic nodes of `NVMe` namespaces.
const NVME_GENERIC: &str = "/sys/class/nvme-generic";

/// Uses of a device or a relative of it. If the kernel reports none, processes are checked.
pub(super) fn of(relatives: &[(Relation, BlockDevice)]) -> io::Result<Vec<DeviceUse>> {
    let mut uses = by_the_kernel(relatives)?;
    uses.extend(second_paths(relatives, Path::new(drive_identity::DISKS)));
    if uses.is_empty() {
        uses = by_unlisted_mounts(relatives)?;
    }
    if uses.is_empty() {
        uses = by_processes(relatives)?;
    }
    Ok(uses)
}

/// Mounts that this process's table does not show: those in other mount namespaces, and of a btrfs
/// all devices but the first.
fn by_unlisted_mounts(relatives: &[(Relation, BlockDevice)]) -> io::Result<Vec<DeviceUse>> {
    let all = mounts::elsewhere();
    // By number only: whoever mounts in a namespace of their own can name any source.
    let elsewhere: Vec<(&MountElsewhere, BTreeSet<String>)> =
        all.iter().map(|found| (found, under(&found.mount.device))).collect();
    let mut uses = Vec::new();
    for (relation, device) in relatives {
        let mut add = |purpose: Purpose| {
            uses.push(DeviceUse { name: device.name.clone(), relation: *relation, purpose });
        };
        let mut mounted = elsewhere.iter().filter(|(_, devices)| devices.contains(&device.number));
        // Namespaces are usually copies of each other: one is enough.
        if let Some((found, _)) = mounted.next() {
            add(Purpose::mounted_elsewhere(found));
        }
        let file = LoopFile::of(&device.name)?;
        for purpose in file.iter().flat_map(|file| file.uses_elsewhere(&all)).take(1) {
            add(purpose);
        }
        for filesystem in names(Path::new(BTRFS)) {
            if Path::new(BTRFS).join(&filesystem).join("devices").join(&device.name).exists() {
                add(Purpose::Holder(format!("the mounted btrfs {filesystem}")));
            }
        }
    }
    Ok(uses)
}

/// Processes that have part of it open. Those that only probe it (udev, blkid, another survey) are
/// waited for, as they end soon.
fn by_processes(relatives: &[(Relation, BlockDevice)]) -> io::Result<Vec<DeviceUse>> {
    let mut objects = Vec::new();
    let mounts = mounts::all()?;
    for (relation, device) in relatives {
        objects.push((Object::Device(number(&device.number)?), *relation, device));
        if let Some(file) = LoopFile::of(&device.name)? {
            for id in [vec![file.id], file.in_layers(&mounts)].concat() {
                objects.push((Object::File(id), *relation, device));
            }
        }
        if !device.is_partition() {
            for generic in generic_nodes(&device.folder, Path::new(NVME_GENERIC)) {
                objects.push((Object::Character(number(&generic)?), *relation, device));
            }
        }
    }
    if let Some((_, device)) = relatives.first().filter(|_| !processes::sees_all()) {
        let others = "may be held open by processes outside this PID namespace, which".to_owned();
        let (name, purpose) = (device.name.clone(), Purpose::Unseen(others));
        return Ok(vec![DeviceUse { name, relation: Relation::Itself, purpose }]);
    }
    let wanted: Vec<Object> = objects.iter().map(|(object, ..)| *object).collect();
    let started = Instant::now();
    loop {
        let found = open_files::holders(&wanted);
        if found.is_empty() || started.elapsed() > OPENER_TIMEOUT {
            let as_use = |(held, holder)| {
                let (object, relation, device) =
                    objects.iter().find(|(object, ..)| *object == held)?;
                let purpose = match object {
                    Object::Device(_) | Object::Character(_) => Purpose::Open(holder),
                    Object::File(_) => Purpose::FileOpen(holder),
                };
                Some(DeviceUse { name: device.name.clone(), relation: *relation, purpose })
            };
            return Ok(found.into_iter().filter_map(as_use).collect());
        }
        sleep(POLL_INTERVAL);
    }
}

/// A device number from the kernel's `major:minor`.
fn number(text: &str) -> io::Result<u64> {
    let number = text.split_once(':').and_then(|(major, minor)| {
        Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
    });
    number.ok_or_else(|| io::Error::other(format!("{text} is not a device number")))
}

/// The numbers of the character devices that give access to a disk past its block device: `sgN` of
/// SCSI, `ngXnY` of `NVMe`.
fn generic_nodes(disk: &Path, nvme: &Path) -> Vec<String> {
    let scsi = disk.join("device/scsi_generic");
    let mut nodes: Vec<PathBuf> = names(&scsi).iter().map(|name| scsi.join(name)).collect();
    let namespace = name(disk).strip_prefix("nvme").map(|numbers| format!("ng{numbers}"));
    nodes.extend(namespace.map(|name| nvme.join(name)));
    nodes.iter().filter_map(|node| sysfs::read(&node.join("dev")).ok()).collect()
}

/// Other disks in a folder that are paths to the drive of the device, or to one below it.
fn second_paths(relatives: &[(Relation, BlockDevice)], disks: &Path) -> Vec<DeviceUse> {
    let mut own: Vec<(Relation, PathBuf)> = Vec::new();
    for (relation, device) in relatives {
        let disk = device.disk_folder();
        if !own.iter().any(|(_, known)| *known == disk) {
            own.push((*relation, disk));
        }
    }
    let others: Vec<(PathBuf, DriveIdentity)> = drive_identity::disks(disks)
        .into_iter()
        .filter(|disk| {
            let folder = disk.canonicalize();
            folder.is_ok_and(|folder| own.iter().all(|(_, known)| *known != folder))
        })
        .map(|disk| (disk.clone(), DriveIdentity::read(&disk)))
        .collect();
    let mut uses = Vec::new();
    for (relation, disk) in &own {
        let identity = DriveIdentity::read(disk);
        for (other, their_identity) in &others {
            let Some(proof) = identity.shared_with(their_identity) else { continue };
            let purpose = Purpose::SecondPath { disk: name(other), proof };
            uses.push(DeviceUse { name: name(disk), relation: *relation, purpose });
        }
    }
    uses
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Uses reported by the kernel.
fn by_the_kernel(relatives: &[(Relation, BlockDevice)]) -> io::Result<Vec<DeviceUse>> {
    let mut uses = Vec::new();
    let mut add = |relation: Relation, device: &BlockDevice, purpose: Purpose| {
        uses.push(DeviceUse { name: device.name.clone(), relation, purpose });
    };
    let (mounts, swap_areas) = (mounts::all()?, mounts::swap_areas()?);
    let mounted: Vec<(&Path, BTreeSet<String>)> = mounts
        .iter()
        .filter_map(|mount| Some((&*mount.target, under_mount(&mount.device, &mount.source)?)))
        .collect();
    let swap_devices = swap_areas.iter().filter_map(|area| sysfs::block_number(area));
    let swaps: BTreeSet<String> = swap_devices.flat_map(|number| under(&number)).collect();
    let exports = exports::all(Path::new(exports::SYS));
    for (relation, device) in relatives {
        for holder in names(&device.folder.join("holders")) {
            add(*relation, device, Purpose::Holder(holder));
        }
        for (target, devices) in &mounted {
            if devices.contains(&device.number) {
                add(*relation, device, Purpose::Mounted(target.to_path_buf()));
            }
        }
        if swaps.contains(&device.number) {
            add(*relation, device, Purpose::Swap);
        }
        let file = LoopFile::of(&device.name)?;
        for export in &exports {
            let is_used = match &export.used {
                ExportedDevice::Device(number) => *number == device.number,
                ExportedDevice::Path(path) => {
                    sysfs::block_number(path).as_ref() == Some(&device.number)
                        || file.as_ref().is_some_and(|file| file.is(path))
                }
            };
            if is_used {
                add(*relation, device, Purpose::Holder(export.user.clone()));
            }
        }
        for purpose in file.iter().flat_map(|file| file.uses(&mounts, &swap_areas)) {
            add(*relation, device, purpose);
        }
    }
    let mut over: Vec<(Relation, BlockDevice, String)> = Vec::new();
    for (relation, device) in relatives {
        let others = loops_over(device)?.into_iter();
        over.extend(others.map(|other| (*relation, device.clone(), other)));
    }
    // A loop device below ours is part of its own stack.
    let own = relatives.first().map(|(_, device)| name(&device.disk_folder())).unwrap_or_default();
    for (relation, device, other) in over {
        if other != own {
            add(relation, &device, Purpose::Holder(other));
        }
    }
    if let Some((_, device)) = relatives.first() {
        for purpose in other_loops(device)? {
            add(Relation::Itself, device, purpose);
        }
        for slave in names(&device.folder.join("slaves")) {
            // Stacked devices (LVM, RAID, LUKS) share those below with others.
            add(Relation::Itself, device, Purpose::BuiltOn(slave));
        }
        // A partition on the root disk is refused: the disk's other traffic would be counted, and
        // one wrong digit could destroy the system.
        let root: BTreeSet<String> = mounted
            .iter()
            .filter(|(target, _)| target.as_os_str() == "/")
            .flat_map(|(_, devices)| disks(devices))
            .collect();
        let own = disks(&BTreeSet::from([device.number.clone()]));
        let purpose = if root.is_empty() {
            Some(Purpose::PerhapsRoot)
        } else {
            own.intersection(&root).next().map(|_| Purpose::Mounted("/".into()))
        };
        if let Some(purpose) = purpose.filter(|_| uses.is_empty()) {
            let name = in_folder(&device.disk_folder())?.name;
            uses.push(DeviceUse { name, relation: Relation::Disk, purpose });
        }
    }
    Ok(uses)
}

/// The devices below a mount, through all layers. Filesystems with several devices (btrfs) have
/// their own number and are found by their source.
fn under_mount(number: &str, source: &OsStr) -> Option<BTreeSet<String>> {
    let folder = |number: &str| Path::new("/sys/dev/block").join(number);
    if folder(number).exists() {
        return Some(under(number));
    }
    sysfs::block_number(Path::new(source)).map(|number| under(&number))
}

/// A device number and every number below it: the slaves of a stacked device, and the backing
/// device of a loop device.
fn under(number: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut todo = vec![number.to_owned()];
    while let Some(number) = todo.pop() {
        let Ok(folder) = fs::canonicalize(Path::new("/sys/dev/block").join(&number)) else {
            continue;
        };
        if !found.insert(number) {
            continue;
        }
        let Ok(device) = in_folder(&folder) else {
            continue;
        };
        let slaves = folder.join("slaves");
        todo.extend(
            names(&slaves).iter().filter_map(|n| sysfs::read(&slaves.join(n).join("dev")).ok()),
        );
        todo.extend(backing_device(&device).ok().flatten().map(|below| below.number));
    }
    found
}

/// The whole disks below some devices, by number.
fn disks(numbers: &BTreeSet<String>) -> BTreeSet<String> {
    numbers
        .iter()
        .flat_map(|number| under(number))
        .filter_map(|number| {
            let folder = fs::canonicalize(Path::new("/sys/dev/block").join(number)).ok()?;
            sysfs::read(&in_folder(&folder).ok()?.disk_folder().join("dev")).ok()
        })
        .collect()
}

/// Loop devices over a device. They do not claim it, so nothing else shows them.
fn loops_over(device: &BlockDevice) -> io::Result<Vec<String>> {
    let mut over = Vec::new();
    for name in names(Path::new("/sys/block")) {
        let Ok(other) = in_folder(&Path::new("/sys/block").join(&name)) else { continue };
        if backing_device(&other)?.is_some_and(|below| below.number == device.number) {
            over.push(name);
        }
    }
    Ok(over)
}

#[cfg(test)]
mod tests;

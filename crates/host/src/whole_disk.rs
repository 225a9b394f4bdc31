//! Whole disks, as sysfs and udev's database show them to anyone: what each is, what it counts,
//! what it is stacked on, and which filesystems lie on it.
//!
//! Every function takes the folder that holds `sys`, `proc` and `run`: `/`, but for tests.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::drive_identity;
use super::meter::block::{self, Counters};
use super::mounts::{self, Mount};
use super::sysfs;

/// What a disk is, as far as it matters for its wear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskKind {
    /// An SSD on PCI Express.
    Nvme,
    /// An SSD on an ATA link.
    SataSsd,
    /// Another SSD with SCSI commands, on SAS or Fibre Channel.
    ScsiSsd,
    /// A drive behind USB: a stick, a card reader, or a disk in a case.
    Usb,
    /// A disk that says that it rotates.
    HardDisk,
    /// Flash soldered to the board, with a controller.
    Emmc,
    /// A card in a slot of its own.
    SdCard,
    /// A disk that a hypervisor or a cloud provides.
    Virtual,
    /// A file as a disk.
    Loop,
    /// A device of the device mapper: LVM, LUKS, multipath.
    DeviceMapper,
    /// An array of md.
    Array,
    /// Memory as a disk.
    Memory,
    /// Anything else.
    Other,
}

impl DiskKind {
    /// Whether what is written to it is written to other disks, or to memory, by this machine.
    pub fn is_layer(self) -> bool {
        matches!(self, Self::Loop | Self::DeviceMapper | Self::Array | Self::Memory)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeDisk {
    /// The kernel's name (`nvme0n1`).
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// What it is.
    pub kind: DiskKind,
    /// The vendor's name of the model; for a device of the device mapper its own name.
    pub model: Option<String>,
    pub size_bytes: u64,
    /// Its counters; those of a loop device are over every file that was ever attached.
    pub counters: Counters,
    /// Whether the counters count (`queue/iostats`).
    pub is_counting: bool,
    /// For a loop device, the file.
    pub backing: Option<PathBuf>,
    /// Its partitions: names, and numbers.
    pub partitions: Vec<(String, String)>,
    /// The disks and partitions directly below it, by name.
    pub slaves: Vec<String>,
    /// When udev first saw it, in seconds of `CLOCK_MONOTONIC`; `None` without udev.
    pub seen_at_s: Option<u64>,
}

/// A filesystem on a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MountedFilesystem")]
pub struct DiskFilesystem {
    /// The device that is mounted, by the kernel's name where it has one.
    pub device: String,
    /// Where; the shortest path where it is mounted several times.
    #[serde(serialize_with = "in_text")]
    pub mount: PathBuf,
    /// `ext4`, `btrfs`, ...
    #[serde(rename = "type")]
    pub kind: String,
    /// What ext4 says that it wrote since it was made, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime_written_bytes: Option<u64>,
}

/// JSON has no names that are not UTF-8.
fn in_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl WholeDisk {
    pub fn read(root: &Path, name: &str) -> io::Result<Self> {
        let folder = root.join("sys/block").join(name);
        let number = sysfs::read(&folder.join("dev"))?;
        let sectors = sysfs::read(&folder.join("size"))?.parse::<u64>();
        let stat = fs::read_to_string(folder.join("stat"))?;
        let model = model(&folder, name);
        let backing = sysfs::read(&folder.join("loop/backing_file")).ok().map(PathBuf::from);
        Ok(Self {
            kind: kind(&folder, name, model.as_deref().unwrap_or_default()),
            model,
            size_bytes: sectors.map_err(io::Error::other)?.saturating_mul(512),
            counters: block::parse(&stat)?.counters,
            is_counting: !sysfs::read(&folder.join("queue/iostats")).is_ok_and(|on| on == "0"),
            backing,
            partitions: partitions(&folder),
            slaves: names(&folder.join("slaves")),
            seen_at_s: seen_at_s(root, &number),
            name: name.to_owned(),
            number,
        })
    }

    /// Whether it has this number, or a partition that has it.
    pub fn has_number(&self, number: &str) -> bool {
        self.number == number || self.partitions.iter().any(|(_, own)| own == number)
    }

    /// Whether it or a partition of it has this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.name == name || self.partitions.iter().any(|(own, _)| own == name)
    }

    pub fn partition_counters(&self, root: &Path, partition: &str) -> io::Result<Counters> {
        let stat = root.join("sys/block").join(&self.name).join(partition).join("stat");
        Ok(block::parse(&fs::read_to_string(stat)?)?.counters)
    }
}

/// Every disk that has a medium, by name. Optical discs and the boot partitions of an eMMC, which
/// are disks to the kernel, are left out.
pub fn all(root: &Path) -> Vec<WholeDisk> {
    let folders = drive_identity::disks(&root.join("sys/block"));
    let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
    let is_other =
        |name: &str| name.starts_with("sr") || name.starts_with("mmcblk") && name.contains("boot");
    let read = names.filter(|name| !is_other(name)).map(|name| WholeDisk::read(root, name));
    // A disk may be gone by now.
    read.flatten().filter(|disk| disk.size_bytes > 0).collect()
}

/// The disks that are stacked on one, at any height, and loop devices over files that lie on it.
pub fn layers_above<'a>(
    root: &Path,
    disk: &WholeDisk,
    all: &'a [WholeDisk],
    mounts: &[Mount],
) -> Vec<&'a WholeDisk> {
    let mut found: Vec<&WholeDisk> = Vec::new();
    loop {
        let below: Vec<&WholeDisk> = std::iter::once(disk).chain(found.iter().copied()).collect();
        let is_below = |name: &String| below.iter().any(|disk| disk.has_name(name));
        let on_file = |disk: &WholeDisk| {
            let mount = mounts::holding(mounts, disk.backing.as_ref()?)?;
            Some(device_of(root, mount, &below).is_some())
        };
        let next: Vec<&WholeDisk> = all
            .iter()
            .filter(|upper| !below.iter().any(|own| own.name == upper.name))
            .filter(|upper| upper.slaves.iter().any(is_below) || on_file(upper) == Some(true))
            .collect();
        if next.is_empty() {
            return found;
        }
        found.extend(next);
    }
}

/// The disks that one is stacked on, at any depth, and those that hold the files of loop devices,
/// from the top down.
pub fn layers_below<'a>(
    root: &Path,
    disk: &WholeDisk,
    all: &'a [WholeDisk],
    mounts: &[Mount],
) -> Vec<&'a WholeDisk> {
    let mut found: Vec<&WholeDisk> = Vec::new();
    let (mut upper, mut looked_below) = (disk, 0);
    loop {
        let file = upper.backing.as_ref();
        let on = file.and_then(|file| disk_of(root, mounts::holding(mounts, file)?, all));
        let slaves = upper.slaves.iter().filter_map(|name| named(all, name));
        for below in slaves.chain(on) {
            let is_new = |known: &&WholeDisk| known.name != below.name;
            if below.name != disk.name && found.iter().all(is_new) {
                found.push(below);
            }
        }
        let Some(next) = found.get(looked_below) else { return found };
        (upper, looked_below) = (*next, looked_below + 1);
    }
}

/// The disk of this name, or with a partition of it.
pub fn named<'a>(all: &'a [WholeDisk], name: &str) -> Option<&'a WholeDisk> {
    all.iter().find(|disk| disk.has_name(name))
}

/// The disk that a mount is on, or whose partition it is on.
pub fn disk_of<'a>(root: &Path, mount: &Mount, all: &'a [WholeDisk]) -> Option<&'a WholeDisk> {
    named(all, &device_of(root, mount, &all.iter().collect::<Vec<_>>())?)
}

/// The filesystems that lie on one of these disks, each once, by their mount point.
pub fn filesystems(root: &Path, disks: &[&WholeDisk], mounts: &[Mount]) -> Vec<DiskFilesystem> {
    let mut seen = BTreeSet::new();
    let mut sorted: Vec<&Mount> = mounts.iter().collect();
    sorted.sort_by_key(|mount| mount.target.as_os_str().len());
    let mut found: Vec<DiskFilesystem> = sorted
        .into_iter()
        .filter_map(|mount| {
            let device = device_of(root, mount, disks)?;
            seen.insert(mount.device.clone()).then(|| DiskFilesystem {
                mount: mount.target.clone(),
                kind: mount.kind.clone(),
                lifetime_written_bytes: lifetime_written_bytes(root, &device),
                device,
            })
        })
        .collect();
    found.sort_by(|one, other| one.mount.cmp(&other.mount));
    found
}

/// The name of that of the disks, or of a partition of theirs, which a mount is on.
pub fn device_of(root: &Path, mount: &Mount, disks: &[&WholeDisk]) -> Option<String> {
    let parts = || disks.iter().flat_map(|disk| parts(disk));
    if let Some((name, _)) = parts().find(|(_, number)| **number == mount.device) {
        return Some(name.clone());
    }
    // btrfs and zfs have numbers of their own in the table.
    let source = mount.source.to_string_lossy();
    match mount.kind.as_str() {
        "btrfs" => {
            let source = kernel_name(root, Path::new(source.as_ref()))?;
            let members = btrfs_members(root, &source);
            let is_member = |name: &String| *name == source || members.contains(name);
            parts().map(|(name, _)| name).find(|name| is_member(name)).cloned()
        }
        "zfs" => {
            let pool = source.split('/').next().unwrap_or_default();
            let is_of_pool = |number: &str| {
                udev_property(root, number, "ID_FS_TYPE").as_deref() == Some("zfs_member")
                    && udev_property(root, number, "ID_FS_LABEL").as_deref() == Some(pool)
            };
            let (name, _) = parts().find(|(_, number)| is_of_pool(number))?;
            Some(name.clone())
        }
        _ => None,
    }
}

/// A disk and its partitions: names, and numbers.
fn parts(disk: &WholeDisk) -> impl Iterator<Item = (&String, &String)> {
    let partitions = disk.partitions.iter().map(|(name, number)| (name, number));
    std::iter::once((&disk.name, &disk.number)).chain(partitions)
}

/// The kernel's name of a device node; `/dev/mapper` has links, or nodes, with names of their own.
pub fn kernel_name(root: &Path, node: &Path) -> Option<String> {
    let name = node.file_name()?.to_str()?;
    if node.parent() != Some(Path::new("/dev/mapper")) {
        return Some(name.to_owned());
    }
    let folders = drive_identity::disks(&root.join("sys/block"));
    let is_named =
        |folder: &&PathBuf| sysfs::read(&folder.join("dm/name")).is_ok_and(|own| own == name);
    let folder = folders.iter().find(is_named)?;
    Some(folder.file_name()?.to_str()?.to_owned())
}

/// The devices of the btrfs that a device belongs to.
fn btrfs_members(root: &Path, device: &str) -> Vec<String> {
    let filesystems = fs::read_dir(root.join("sys/fs/btrfs")).into_iter().flatten().flatten();
    let members = filesystems.map(|filesystem| names(&filesystem.path().join("devices")));
    members
        .into_iter()
        .find(|members| members.iter().any(|name| name == device))
        .unwrap_or_default()
}

/// See [`super::meter::ext4::lifetime_kib`].
fn lifetime_written_bytes(root: &Path, device: &str) -> Option<u64> {
    let file = root.join("sys/fs/ext4").join(device).join("lifetime_write_kbytes");
    sysfs::read(&file).ok()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A property of a device in udev's database, which any user may read.
///
/// Source: systemd, src/libsystemd/sd-device: a line `E:KEY=VALUE`, and `I:` with the time at which
/// the device was first seen, in us of `CLOCK_MONOTONIC`.
fn udev_property(root: &Path, number: &str, key: &str) -> Option<String> {
    let text = udev(root, number)?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
    lines.find(|(own, _)| *own == key).map(|(_, value)| value.to_owned())
}

fn seen_at_s(root: &Path, number: &str) -> Option<u64> {
    let text = udev(root, number)?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("I:"));
    Some(lines.next()?.trim().parse::<u64>().ok()? / 1_000_000)
}

fn udev(root: &Path, number: &str) -> Option<String> {
    fs::read_to_string(root.join("run/udev/data").join(format!("b{number}"))).ok()
}

/// The mount table of this process.
pub fn mount_table(root: &Path) -> io::Result<Vec<Mount>> {
    mounts::listed_in(&root.join("proc/self/mountinfo"))
}

/// The names in a folder of sysfs, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn partitions(folder: &Path) -> Vec<(String, String)> {
    let partition = |folder: PathBuf| {
        let name = folder.file_name()?.to_str()?.to_owned();
        Some((name, sysfs::read(&folder.join("dev")).ok()?))
    };
    sysfs::partition_folders(folder).into_iter().filter_map(partition).collect()
}

fn model(folder: &Path, name: &str) -> Option<String> {
    let text = |file: &str| sysfs::read(&folder.join(file)).ok().filter(|text| !text.is_empty());
    if name.starts_with("dm-") {
        return text("dm/name");
    }
    let vendor = text("device/vendor").filter(|_| name.starts_with("sd"));
    // libata gives every drive this vendor; a virtio disk's is a number.
    let vendor = vendor.filter(|vendor| vendor != "ATA");
    let model = text("device/model").or_else(|| text("device/name"))?;
    Some(vendor.map_or_else(|| model.clone(), |vendor| format!("{vendor} {model}")))
}

/// How the models of virtual disks on real buses begin, as hypervisors and clouds name them.
const VIRTUAL_MODELS: [&str; 12] = [
    "Amazon E",
    "Google ",
    "MSFT NVMe",
    "Microsoft NVMe",
    "Msft ",
    "PersistentDisk",
    "QEMU",
    "VBOX",
    "VMware",
    "VirtualBox",
    "Xen",
    "nvme_card",
];

fn kind(folder: &Path, name: &str, model: &str) -> DiskKind {
    let is = |start: &str| name.starts_with(start);
    let is_virtual = VIRTUAL_MODELS.iter().any(|start| model.starts_with(start));
    match () {
        () if is("vd") || is("xvd") => DiskKind::Virtual,
        () if is("nvme") && is_virtual => DiskKind::Virtual,
        () if is("nvme") => DiskKind::Nvme,
        () if is("sd") && is_virtual => DiskKind::Virtual,
        () if is("sd") => scsi_kind(folder),
        () if is("mmcblk") => match sysfs::read(&folder.join("device/type")).as_deref() {
            Ok("MMC") => DiskKind::Emmc,
            Ok("SD") => DiskKind::SdCard,
            _ => DiskKind::Other,
        },
        () if is("loop") => DiskKind::Loop,
        () if is("dm-") => DiskKind::DeviceMapper,
        () if is("md") => DiskKind::Array,
        () if is("zram") || is("ram") => DiskKind::Memory,
        () => DiskKind::Other,
    }
}

/// The kind of a disk with SCSI commands, by the links on the path to it.
fn scsi_kind(folder: &Path) -> DiskKind {
    let path = folder.canonicalize().unwrap_or_default();
    let mut parts = path.components().filter_map(|part| part.as_os_str().to_str());
    let is_link = |part: &str, link: &str| {
        part.strip_prefix(link).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // USB's bridges often say that the disk behind them rotates.
    if parts.clone().any(|part| is_link(part, "usb")) {
        return DiskKind::Usb;
    }
    if sysfs::read(&folder.join("queue/rotational")).is_ok_and(|rotates| rotates == "1") {
        return DiskKind::HardDisk;
    }
    let is_ata = parts.any(|part| is_link(part, "ata"));
    if is_ata { DiskKind::SataSsd } else { DiskKind::ScsiSsd }
}

#[cfg(test)]
mod tests;

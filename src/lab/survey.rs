//! Surveys a device: gathers from the kernel and libblkid what `safety` judges by.
//!
//! Devices are followed by number, not by name, and through every layer: partitions, holders,
//! slaves (LVM, RAID, LUKS), loop devices over devices. Besides, the kernel itself is asked of
//! every relative: whatever is mounted, swaps or belongs to an array (also in another mount
//! namespace, also the second device of a btrfs or a pool) cannot be opened exclusively. Looking
//! never opens a device for writing: closing it would make udev probe it again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::safety::{Purpose, Relation, Signature, Survey, Use};
use super::{LabError, Tools};
use crate::host::sysfs::{self, BlockDevice};
use crate::host::{loop_device, mounts, program};

/// A node that was replaced by a link is not the one that was judged.
const NO_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

/// How much of a device's beginning and end is looked at, and left blank after a trial.
pub(super) const END_BYTES: u64 = 1 << 20;

/// Looks at a device from all sides.
pub fn survey(node: &Path, tools: &Tools<'_>) -> Result<Survey, LabError> {
    let device = BlockDevice::open(node).map_err(LabError::step("use the device", node))?;
    let look = LabError::step("look at", node);
    let relatives = relatives(&device).map_err(look)?;
    let uses = uses(&relatives).map_err(LabError::step("find out what uses", node))?;
    let busy = relatives.iter().any(|(_, relative)| is_claimed(relative));
    // What is in use is refused whatever it carries, and is not even read.
    let is_free = uses.is_empty() && !busy;
    let signatures = if is_free { signatures(&device, &relatives, tools)? } else { Vec::new() };
    Ok(Survey {
        node: node.to_owned(),
        name: device.name.clone(),
        size_bytes: device.size_bytes().map_err(LabError::step("read the size of", node))?,
        model: attribute(&device, "device/model"),
        identities: identities(&device),
        read_only: sysfs::read(&device.folder.join("ro")).is_ok_and(|text| text != "0"),
        busy,
        uses,
        signatures,
    })
}

/// Whether the kernel holds a device, or one that overlaps it. A node that does not exist cannot
/// be asked; its disk can.
fn is_claimed(device: &BlockDevice) -> bool {
    let exclusive = rustix::fs::OFlags::EXCL.bits().cast_signed();
    let node = Path::new("/dev").join(&device.name);
    let opened = fs::OpenOptions::new().read(true).custom_flags(exclusive).open(node);
    opened.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Opens a device exclusively: fails while it, its disk or a partition of it is mounted or
/// otherwise claimed, and keeps others from claiming it for as long as the file is open.
pub(super) fn claim(node: &Path) -> io::Result<fs::File> {
    let exclusive = rustix::fs::OFlags::EXCL.bits().cast_signed();
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).custom_flags(exclusive | NO_LINK).open(node)
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

/// The device a loop device was set up on, where that is a device and not a file.
fn backing_device(device: &BlockDevice) -> io::Result<Option<BlockDevice>> {
    // By number: the node it was set up with may have been removed since.
    let node = Path::new("/dev").join(&device.name);
    let number = loop_device::backing(&node)?.and_then(|backing| backing.device);
    number.map(|number| BlockDevice::numbered(&number)).transpose()
}

fn uses(relatives: &[(Relation, BlockDevice)]) -> io::Result<Vec<Use>> {
    let mut uses = Vec::new();
    let mut add = |relation: Relation, device: &BlockDevice, purpose: Purpose| {
        uses.push(Use { name: device.name.clone(), relation, purpose });
    };
    let mounted: Vec<(PathBuf, BTreeSet<String>)> = mounts::all()?
        .into_iter()
        .filter_map(|mount| Some((mount.target, under_mount(&mount.device, &mount.source)?)))
        .collect();
    let swaps = swaps()?;
    for (relation, device) in relatives {
        for holder in names(&device.folder.join("holders")) {
            add(*relation, device, Purpose::Holder(holder));
        }
        for (target, devices) in &mounted {
            if devices.contains(&device.number) {
                add(*relation, device, Purpose::Mounted(target.clone()));
            }
        }
        if swaps.contains(&device.number) {
            add(*relation, device, Purpose::Swap);
        }
    }
    let mut over: Vec<(Relation, BlockDevice, String)> = Vec::new();
    for (relation, device) in relatives {
        let others = loops_over(device)?.into_iter();
        over.extend(others.map(|other| (*relation, device.clone(), other)));
    }
    // A target below another relative's loop device is that loop device's own stack.
    let own = relatives.first().map(|(_, device)| device.name.clone()).unwrap_or_default();
    for (relation, device, other) in over {
        if other != own {
            add(relation, &device, Purpose::Holder(other));
        }
    }
    if let Some((_, device)) = relatives.first() {
        for other in other_loops(device) {
            add(Relation::Itself, device, Purpose::Holder(other));
        }
        for slave in names(&device.folder.join("slaves")) {
            // What is built on other devices (LVM, RAID, LUKS) shares them with others.
            add(Relation::Itself, device, Purpose::BuiltOn(slave));
        }
        // A partition of the disk under `/` is refused with its disk: its traffic would be in
        // the numbers, and one wrong digit would cost the system.
        let root: BTreeSet<String> = mounted
            .iter()
            .filter(|(target, _)| target.as_os_str() == "/")
            .flat_map(|(_, devices)| disks(devices))
            .collect();
        let own = disks(&BTreeSet::from([device.number.clone()]));
        if root.is_empty() {
            let message = "it cannot be told which disk carries the root filesystem";
            return Err(io::Error::other(message));
        }
        if uses.is_empty() && own.intersection(&root).next().is_some() {
            let name = in_folder(&device.disk_folder())?.name;
            let purpose = Purpose::Mounted("/".into());
            uses.push(Use { name, relation: Relation::Disk, purpose });
        }
    }
    Ok(uses)
}

/// The devices a mount lies on, through all layers. Filesystems with several devices (btrfs)
/// have a number of their own and are found by their source.
fn under_mount(number: &str, source: &OsStr) -> Option<BTreeSet<String>> {
    let folder = |number: &str| Path::new("/sys/dev/block").join(number);
    if folder(number).exists() {
        return Some(under(number));
    }
    sysfs::block_number(Path::new(source)).map(|number| under(&number))
}

/// A device number and every number below it: the slaves of a stacked device, and what a loop
/// device stands on.
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

/// The whole disks that some devices lie on, by number.
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

fn swaps() -> io::Result<BTreeSet<String>> {
    let areas = mounts::swap_areas()?;
    let numbers = areas.iter().filter_map(|area| sysfs::block_number(area));
    Ok(numbers.flat_map(|number| under(&number)).collect())
}

/// Loop devices that stand on a device. They do not claim it, so nothing else shows them.
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

/// Other loop devices over the same file: writing to one changes the other.
fn other_loops(device: &BlockDevice) -> Vec<String> {
    // By inode: a file has as many names as it has links and mounts.
    let file_of = |name: &str| {
        let backing = loop_device::backing(&Path::new("/dev").join(name)).ok().flatten()?;
        Some((backing.filesystem, backing.inode))
    };
    let Some(own) = file_of(&device.name) else { return Vec::new() };
    names(Path::new("/sys/block"))
        .into_iter()
        .filter(|name| *name != device.name && file_of(name) == Some(own))
        .collect()
}

fn identities(device: &BlockDevice) -> Vec<String> {
    let by_id = Path::new("/dev/disk/by-id");
    let is_ours = |name: &String| {
        BlockDevice::open(&by_id.join(name)).is_ok_and(|other| other.number == device.number)
    };
    let mut identities: Vec<String> = names(by_id).into_iter().filter(is_ours).collect();
    identities.extend(attribute(device, "device/serial").or_else(|| attribute(device, "serial")));
    let node = Path::new("/dev").join(&device.name);
    identities.extend(loop_device::backing_file(&node).map(|file| file.display().to_string()));
    identities
}

/// An attribute of the whole disk; `None` if there is none or it is empty.
fn attribute(device: &BlockDevice, name: &str) -> Option<String> {
    sysfs::read(&device.disk_folder().join(name)).ok().filter(|text| !text.is_empty())
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

#[derive(Deserialize)]
struct Wipefs {
    signatures: Vec<WipefsSignature>,
}

#[derive(Deserialize)]
struct WipefsSignature {
    #[serde(rename = "type")]
    kind: String,
    label: Option<String>,
}

/// What libblkid finds on the device and its partitions; `wipefs --no-act` only reads.
fn signatures(
    device: &BlockDevice,
    relatives: &[(Relation, BlockDevice)],
    tools: &Tools<'_>,
) -> Result<Vec<Signature>, LabError> {
    let wipefs = program::find("wipefs", "util-linux")?;
    let mut signatures = Vec::new();
    for (relation, relative) in relatives {
        if !matches!(relation, Relation::Itself | Relation::Partition) {
            continue;
        }
        let node = match relation {
            Relation::Itself => device.node.clone(),
            _ => Path::new("/dev").join(&relative.name),
        };
        let mut command = Command::new(&wipefs);
        command.args(["--no-act", "--json"]).arg(&node);
        let printed = program::run(command, tools.rules)?.stdout;
        signatures.extend(parse(&printed, &relative.name).map_err(|cause| {
            LabError::step("read the signatures of", &node)(io::Error::other(cause))
        })?);
    }
    if signatures.is_empty()
        && !has_blank_ends(&device.node).map_err(LabError::step("read", &device.node))?
    {
        // Plain dm-crypt, a database on a raw device: libblkid knows nothing of them.
        let kind = "data of an unknown kind".to_owned();
        signatures.push(Signature { device: device.name.clone(), kind, label: None });
    }
    Ok(signatures)
}

/// Whether the first and the last MiB of a device hold nothing but zeros (or ones, which some
/// drives return for what was discarded).
fn has_blank_ends(node: &Path) -> io::Result<bool> {
    let mut file = fs::File::open(node)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut buffer = vec![0; usize::try_from(END_BYTES.min(length)).unwrap_or(0)];
    for start in [0, length.saturating_sub(END_BYTES)] {
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut buffer)?;
        if buffer.iter().any(|byte| *byte != 0) && buffer.iter().any(|byte| *byte != 0xff) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// wipefs prints nothing at all where it finds nothing.
fn parse(printed: &str, device: &str) -> Result<Vec<Signature>, serde_json::Error> {
    if printed.trim().is_empty() {
        return Ok(Vec::new());
    }
    let found: Wipefs = serde_json::from_str(printed)?;
    let signature = |found: WipefsSignature| Signature {
        device: device.to_owned(),
        kind: found.kind,
        label: found.label,
    };
    Ok(found.signatures.into_iter().map(signature).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wipefs_prints_is_understood() {
        let printed = r#"{ "signatures": [ { "device":"loop0", "offset":"0x438", "type":"ext4",
            "uuid":"8e4f", "label":"data" } ] }"#;
        let found = parse(printed, "loop0").unwrap();
        assert_eq!(found[0].kind, "ext4");
        assert_eq!(found[0].label.as_deref(), Some("data"));
        assert!(parse("", "loop0").unwrap().is_empty());
        assert!(parse("no such device", "loop0").is_err());
    }
}

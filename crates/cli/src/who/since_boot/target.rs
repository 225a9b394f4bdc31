//! What the argument of `ssdlab who` names: a drive, a partition or a mount point.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use miette::Report;
use ssdlab_host::mounts::{self, Mount, printable};
use ssdlab_host::sysfs::major_minor;
use ssdlab_host::whole_disk::{self, WholeDisk};

use super::super::super::exit::UsageError;

/// A disk, and the partition of it that was meant.
pub type NamedDisk<'a> = (&'a WholeDisk, Option<String>);

/// Finds what an argument names: a kernel's name, a device node, or a path on a filesystem.
pub fn resolve<'a>(
    root: &Path,
    disks: &'a [WholeDisk],
    mounts: &[Mount],
    target: &Path,
) -> Result<NamedDisk<'a>, Report> {
    let shown = printable(target);
    if let Some(name) = target.to_str().filter(|name| !name.contains('/'))
        && let Some(found) = by_name(disks, name)
    {
        return Ok(found);
    }
    if root.join("sys/class/block").join(target).join("size").exists() {
        let says = format!("{shown} has no medium: nothing is attached, or inserted");
        return Err(UsageError::report(says, known(disks)));
    }
    let is_mounted = mounts.iter().any(|mount| mount.target == target);
    match fs::metadata(target) {
        Ok(found) if found.file_type().is_block_device() => {
            let number = major_minor(found.rdev());
            let disk = disks.iter().find(|disk| disk.has_number(&number));
            let disk = disk.ok_or_else(|| {
                let says = format!("{shown} has no medium, or is not in sysfs");
                UsageError::report(says, known(disks))
            })?;
            let mut partitions = disk.partitions.iter();
            let part = partitions.find(|(_, own)| *own == number);
            Ok((disk, part.map(|(name, _)| name.clone())))
        }
        Err(error) if !is_mounted => {
            Err(UsageError::report(format!("{shown}: {error}"), known(disks)))
        }
        _ => {
            let path = target.canonicalize().unwrap_or_else(|_| target.to_owned());
            on_filesystem(root, disks, mounts, &path)
        }
    }
}

/// The disk that a path lies on, by its mount.
fn disk_of<'a>(
    root: &Path,
    disks: &'a [WholeDisk],
    mounts: &[Mount],
    path: &Path,
) -> Option<NamedDisk<'a>> {
    let mount = mounts::holding(mounts, path)?;
    let all: Vec<&WholeDisk> = disks.iter().collect();
    by_name(disks, &whole_disk::device_of(root, mount, &all)?)
}

fn by_name<'a>(disks: &'a [WholeDisk], name: &str) -> Option<NamedDisk<'a>> {
    let disk = whole_disk::named(disks, name)?;
    Some((disk, (disk.name != name).then(|| name.to_owned())))
}

fn on_filesystem<'a>(
    root: &Path,
    disks: &'a [WholeDisk],
    mounts: &[Mount],
    path: &Path,
) -> Result<NamedDisk<'a>, Report> {
    if let Some(found) = disk_of(root, disks, mounts, path) {
        return Ok(found);
    }
    let shown = printable(path);
    let Some(mount) = mounts::holding(mounts, path) else {
        return Err(UsageError::report(format!("{shown}: no mount has it"), known(disks)));
    };
    if mount.kind == "overlay" {
        let mut options = mount.options.iter();
        let upper = options.find_map(|option| option.strip_prefix("upperdir=")).map(Path::new);
        let visible =
            upper.filter(|upper| root.join(upper.strip_prefix("/").unwrap_or(upper)).is_dir());
        if let Some(found) = visible.and_then(|upper| disk_of(root, disks, mounts, upper)) {
            return Ok(found);
        }
    }
    let at = printable(&mount.target);
    let why = match mount.kind.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" => {
            "is kept in memory (and swap): no drive has it"
        }
        "overlay" => "lies on a folder that is not visible from here, as in a container",
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "ceph" | "virtiofs" => {
            "is another machine's: the drive is there"
        }
        kind if kind.starts_with("fuse") => "is served by a program: its drive is not known",
        _ => "is on no disk of this machine",
    };
    Err(UsageError::report(format!("{} on {at} {why}", mount.kind), known(disks)))
}

/// The remedy for a wrong argument.
fn known(disks: &[WholeDisk]) -> String {
    let names = |is_layer: bool| {
        let those = disks.iter().filter(|disk| disk.kind.is_layer() == is_layer);
        those.map(|disk| disk.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let drives = names(false);
    if drives.is_empty() && names(true).is_empty() {
        return "no disk is visible in /sys/block, as in some containers: ask on the host"
            .to_owned();
    }
    let layers = Some(names(true)).filter(|names| !names.is_empty());
    let layers = layers.map_or(String::new(), |names| format!("; above them {names}"));
    format!("name a drive or a mount point; this machine has {drives}{layers}")
}

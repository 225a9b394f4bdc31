//! Devices that the kernel itself uses on behalf of others: offered to other machines as an
//! `NVMe`, SCSI, USB or RNBD target, given to a guest of Xen, or carrying OCFS2's heartbeat.
//!
//! Such a user opens its device without an exclusive claim, and is neither a holder in sysfs nor a
//! process: only its configuration shows it.
//!
//! Source: Linux, `drivers/nvme/target/configfs.c`, `drivers/target/target_core_configfs.c`,
//! Documentation/ABI/testing/configfs-usb-gadget-mass-storage and sysfs-class-rnbd-server,
//! `drivers/block/xen-blkback/xenbus.c` and `fs/ocfs2/cluster/heartbeat.c`.

use std::path::{Path, PathBuf};

use ssdlab_host::sysfs;

use super::relatives::names;

/// Where the kernel's configuration is, in sysfs and in the configuration filesystem below it.
pub(super) const SYS: &str = "/sys";

/// A device or file that the kernel uses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    /// Who uses it.
    pub user: String,
    /// What it uses.
    pub used: ExportedDevice,
}

/// What such a user uses.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ExportedDevice {
    /// The device or file of this path.
    Path(PathBuf),
    /// The device of this number (`8:16`).
    Device(String),
}

/// How an attribute says what is used.
#[derive(Clone, Copy)]
enum AttributeFormat {
    Path,
    /// The name that the kernel has for a device.
    Name,
    /// The device of an `NVMe` controller, all of whose namespaces are used.
    Controller,
    Number,
    HexNumber,
}

impl AttributeFormat {
    fn used(self, text: &str, sys: &Path) -> Vec<ExportedDevice> {
        let used = match self {
            Self::Path => text.starts_with('/').then(|| ExportedDevice::Path(text.into())),
            Self::Name => {
                let number = sys.join("class/block").join(text).join("dev");
                sysfs::read(&number).ok().map(ExportedDevice::Device)
            }
            Self::Controller => {
                let controller = text.strip_prefix("/dev/");
                return controller.map_or_else(Vec::new, |name| namespaces(name, sys));
            }
            Self::Number => Some(ExportedDevice::Device(text.to_owned())),
            Self::HexNumber => text.split_once(':').and_then(|(major, minor)| {
                let decimal = |digits| u32::from_str_radix(digits, 16).ok();
                Some(ExportedDevice::Device(format!("{}:{}", decimal(major)?, decimal(minor)?)))
            }),
        };
        used.into_iter().collect()
    }
}

/// The namespaces of an `NVMe` controller: below it, or with native multipath below its subsystem.
fn namespaces(controller: &str, sys: &Path) -> Vec<ExportedDevice> {
    let subsystems = sys.join("class/nvme-subsystem");
    let own = names(&subsystems).into_iter().map(|name| subsystems.join(name));
    let own = own.filter(|subsystem| subsystem.join(controller).exists());
    let folders = own.chain([sys.join("class/nvme").join(controller)]);
    let disks = folders.flat_map(|folder| {
        // Beside them there are character devices, with numbers of their own.
        let is_disk = |name: &String| name.strip_prefix("nvme").is_some_and(|id| id.contains('n'));
        names(&folder).into_iter().filter(is_disk).map(move |name| folder.join(name).join("dev"))
    });
    disks.filter_map(|dev| sysfs::read(&dev).ok()).map(ExportedDevice::Device).collect()
}

/// The users, the attributes that show what they use, and in which words.
const USERS: [(&str, &[&str], AttributeFormat); 7] = [
    (
        "the NVMe target",
        &["kernel/config/nvmet/subsystems", "*", "namespaces", "*", "device_path"],
        AttributeFormat::Path,
    ),
    (
        "the SCSI target",
        &["kernel/config/target/core", "*", "*", "udev_path"],
        AttributeFormat::Path,
    ),
    (
        "the USB target",
        &["kernel/config/usb_gadget", "*", "functions", "*", "*", "file"],
        AttributeFormat::Path,
    ),
    (
        "the NVMe target",
        &["kernel/config/nvmet/subsystems", "*", "passthru/device_path"],
        AttributeFormat::Controller,
    ),
    (
        "the RNBD target",
        &["class/rnbd-server/ctl/devices", "*", "block_dev/dev"],
        AttributeFormat::Number,
    ),
    (
        "a guest of Xen,",
        &["bus/xen-backend/devices", "*", "physical_device"],
        AttributeFormat::HexNumber,
    ),
    (
        "OCFS2's heartbeat",
        &["kernel/config/cluster", "*", "heartbeat", "*", "dev"],
        AttributeFormat::Name,
    ),
];

/// Everything that is used in this way, by a system's folder.
pub(super) fn all(sys: &Path) -> Vec<Export> {
    let mut all = Vec::new();
    for (user, pattern, says) in USERS {
        for attribute in matching(sys, pattern) {
            let text = sysfs::read(&attribute).unwrap_or_default();
            let folder = attribute.parent().unwrap_or(&attribute);
            let place = folder.strip_prefix(sys).unwrap_or(folder).display();
            let export = |used| Export { user: format!("{user} {place}"), used };
            all.extend(says.used(&text, sys).into_iter().map(export));
        }
    }
    all
}

/// The paths below a folder that match a pattern, with one part per level; `*` is any name.
fn matching(folder: &Path, pattern: &[&str]) -> Vec<PathBuf> {
    let Some((part, rest)) = pattern.split_first() else { return vec![folder.to_owned()] };
    if *part != "*" {
        return matching(&folder.join(part), rest);
    }
    names(folder).iter().flat_map(|name| matching(&folder.join(name), rest)).collect()
}

#[cfg(test)]
mod tests;

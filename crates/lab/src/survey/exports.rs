//! Devices that this kernel offers to other machines as an `NVMe`, SCSI or USB target.
//!
//! A target opens its device without an exclusive claim, and is neither a holder in sysfs nor a
//! process: only its configuration shows it.
//!
//! Source: Linux, `drivers/nvme/target/configfs.c`, `drivers/target/target_core_configfs.c` and
//! Documentation/ABI/testing/configfs-usb-gadget-mass-storage.

use std::path::{Path, PathBuf};

use ssdlab_host::sysfs;

use super::names;

/// Where the kernel's configuration filesystem is mounted.
pub(super) const CONFIG: &str = "/sys/kernel/config";

/// A device or file that a target offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    /// The target's name.
    pub target: String,
    /// The device or file.
    pub path: PathBuf,
}

/// Everything that targets offer.
pub(super) fn all(config: &Path) -> Vec<Export> {
    let nvme = ["nvmet/subsystems", "*", "namespaces", "*", "device_path"];
    let scsi = ["target/core", "*", "*", "udev_path"];
    let usb = ["usb_gadget", "*", "functions", "*", "*", "file"];
    let mut all = Vec::new();
    for (kind, pattern) in [("NVMe", &nvme[..]), ("SCSI", &scsi), ("USB", &usb)] {
        for attribute in matching(config, pattern) {
            let path = sysfs::read(&attribute).unwrap_or_default();
            if path.starts_with('/') {
                let folder = attribute.parent().unwrap_or(&attribute);
                let place = folder.strip_prefix(config).unwrap_or(folder).display();
                let target = format!("the {kind} target {place}");
                all.push(Export { target, path: path.into() });
            }
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

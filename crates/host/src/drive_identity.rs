//! The persistent identity of a drive, independent of the kernel's name and of the path to it. A
//! world-wide identifier (NAA, EUI-64, NGUID, UUID) belongs to one logical unit or namespace: two
//! disks with the same one are two paths to it. A serial number belongs to one enclosure, and is
//! unique within one model only. It counts where one of the two disks has no such identifier, and
//! they have the same model and are not units of one device (the slots of a card reader, the
//! namespaces of a controller). A vendor-specific identifier (T10) may be the same for all units of
//! a device, too. Placeholder identifiers (zeros, `0123456789`) never count.
//!
//! Source: SPC-4, 7.8.6 Device Identification VPD page; Linux, Documentation/ABI/stable/sysfs-block
//! and drivers/nvme/host/sysfs.c (`wwid`).

use std::fs;
use std::path::{Path, PathBuf};

use super::sysfs;

/// The folder of all disks.
pub const DISKS: &str = "/sys/block";

/// The bits of a designator in page 0x83 that say what it identifies (0: the unit), and its types.
const ASSOCIATION: u8 = 0x30;
const NAA: u8 = 3;
const EUI64: u8 = 2;
const T10: u8 = 1;
const SCSI_NAME: u8 = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriveIdentity {
    /// World-wide identifiers, as the kernel writes them (`naa.5000c500a1b2c3d4`).
    wwids: Vec<String>,
    model: String,
    serial: Option<String>,
    /// The parent of the disk: a SCSI target, the bus of a controller.
    parent: Option<PathBuf>,
}

impl DriveIdentity {
    /// Reads it from the folder of a whole disk in sysfs.
    pub fn read(disk: &Path) -> Self {
        let text = |name: &str| sysfs::read(&disk.join(name)).unwrap_or_default();
        let mut wwids = vec![text("wwid"), text("device/wwid")];
        let page = |name: &str| fs::read(disk.join("device").join(name)).unwrap_or_default();
        wwids.extend(designators(&page("vpd_pg83")));
        wwids.retain(|id| !says_nothing(of_drive(id)));
        wwids.dedup();
        let unit_serial = page("vpd_pg80");
        let unit_serial = String::from_utf8_lossy(unit_serial.get(4..).unwrap_or_default());
        let serials = [text("serial"), text("device/serial"), unit_serial.into_owned()];
        let mut serials = serials.iter().map(|serial| serial.trim_matches(['\0', ' ', '\n']));
        let serial = serials.find(|serial| !says_nothing(serial)).map(str::to_owned);
        let model = format!("{} {}", text("device/vendor"), text("device/model"));
        let device = disk.join("device").canonicalize().ok();
        let parent = device.and_then(|device| device.parent().map(Path::to_owned));
        Self { wwids, model: model.trim().to_owned(), serial, parent }
    }

    /// The evidence that two disks are one drive; `None` if there is none.
    pub fn shared_with(&self, other: &Self) -> Option<String> {
        let are_units_of_one = self.parent.is_some() && self.parent == other.parent;
        let counts = |wwid: &str| !(are_units_of_one && wwid.starts_with("t10."));
        let mut wwids = self.wwids.iter().filter(|wwid| counts(wwid));
        if let Some(wwid) = wwids.find(|wwid| other.wwids.contains(wwid)) {
            return Some(format!("WWID {wwid}"));
        }
        let both_have_wwids = !self.wwids.is_empty() && !other.wwids.is_empty();
        if both_have_wwids || are_units_of_one || self.model != other.model {
            return None;
        }
        let serial = self.serial.as_ref().filter(|serial| other.serial.as_ref() == Some(serial))?;
        Some(format!("serial {serial}"))
    }

    /// A persistent name of the drive, which finds it again after a reboot; `None` if it has none.
    pub fn name(&self) -> Option<String> {
        let serial = || Some(format!("{} {}", self.model, self.serial.as_ref()?));
        self.wwids.first().cloned().or_else(serial)
    }
}

/// The disk below a sysfs folder that a drive's name leads to; `None` if no disk has it, or several
/// do: the units of one device may share it.
pub fn only_disk_named(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_named = |disk: &PathBuf| DriveIdentity::read(disk).name().as_deref() == Some(name);
    let mut named = disks(folder).into_iter().filter(is_named);
    named.next().filter(|_| named.next().is_none())
}

/// The whole disks below a sysfs folder, by name. Paths that the kernel multiplexes itself
/// (`nvme0c0n1`) are hidden: they cannot be opened.
pub fn disks(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut disks: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    disks.retain(|disk| !sysfs::read(&disk.join("hidden")).is_ok_and(|text| text == "1"));
    disks.sort();
    disks
}

/// The designators in page 0x83 of the logical unit (not of the target port), in the kernel's
/// notation.
fn designators(page: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = page.get(4..).unwrap_or_default();
    while let [_, kind, _, length, ..] = *rest {
        let Some(value) = rest.get(4..4 + usize::from(length)) else { break };
        let is_of_unit = kind & ASSOCIATION == 0;
        let text = || String::from_utf8_lossy(value).trim_matches(['\0', ' ']).to_owned();
        let digits = || hex::encode(value);
        match kind & 0xf {
            NAA if is_of_unit => found.push(format!("naa.{}", digits())),
            EUI64 if is_of_unit => found.push(format!("eui.{}", digits())),
            T10 if is_of_unit => found.push(format!("t10.{}", text())),
            SCSI_NAME if is_of_unit => found.push(text()),
            _ => {}
        }
        rest = &rest[4 + value.len()..];
    }
    found
}

/// The part of an identifier that is specific to the drive, not to its vendor or model.
fn of_drive(wwid: &str) -> &str {
    let value = wwid.split_once('.').map_or(wwid, |(_, value)| value);
    if wwid.starts_with("nvme.") {
        // nvme.VENDOR-SERIAL-MODEL-NAMESPACE, in hexadecimal.
        return value.split('-').nth(1).unwrap_or_default();
    }
    value.split_whitespace().next_back().unwrap_or_default()
}

/// Whether an identifier is only a vendor's placeholder.
fn says_nothing(text: &str) -> bool {
    const COUNTED: [&str; 2] = ["01234567890123456789", "0123456789abcdef0123456789abcdef"];
    const WORDS: [&str; 4] = ["none", "null", "unknown", "default"];
    let text = text.trim().to_ascii_lowercase();
    let repeats = |size| text.as_bytes().chunks(size).all(|part| text.as_bytes().starts_with(part));
    let is_counted = text.len() >= 6 && COUNTED.iter().any(|all| all.contains(&text));
    text.trim_matches(['0', '-', '.']).is_empty()
        || (text.len() >= 4 && repeats(1))
        // Blanks in hexadecimal are pairs.
        || (text.len() >= 8 && repeats(2))
        || is_counted
        || WORDS.contains(&text.as_str())
}

#[cfg(test)]
mod tests;

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

/// The identity of a drive.
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
    #[must_use]
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
    #[must_use]
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
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let serial = || Some(format!("{} {}", self.model, self.serial.as_ref()?));
        self.wwids.first().cloned().or_else(serial)
    }
}

/// The disk below a sysfs folder that a drive's name leads to; `None` if no disk has it, or several
/// do: the units of one device may share it.
#[must_use]
pub fn only_disk_named(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_named = |disk: &PathBuf| DriveIdentity::read(disk).name().as_deref() == Some(name);
    let mut named = disks(folder).into_iter().filter(is_named);
    named.next().filter(|_| named.next().is_none())
}

/// The whole disks below a sysfs folder, by name. Paths that the kernel multiplexes itself
/// (`nvme0c0n1`) are hidden: they cannot be opened.
#[must_use]
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
mod tests {
    use super::*;

    /// Files and what is in them.
    type Attributes<'a> = &'a [(&'a str, &'a [u8])];

    /// A folder as sysfs has it, of disks with these attributes, each below a device that is named
    /// by its place.
    fn disks_with(disks: &[(&str, &str, Attributes<'_>)]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        for (name, place, attributes) in disks {
            let (disk, device) = (sys.path().join("block").join(name), sys.path().join(place));
            fs::create_dir_all(&disk).unwrap();
            fs::create_dir_all(&device).unwrap();
            std::os::unix::fs::symlink(&device, disk.join("device")).unwrap();
            for (attribute, value) in *attributes {
                fs::write(disk.join(attribute), value).unwrap();
            }
        }
        sys
    }

    /// What shows that two disks are one.
    fn shared(one: (&str, Attributes<'_>), other: (&str, Attributes<'_>)) -> Option<String> {
        let sys = disks_with(&[("one", one.0, one.1), ("other", other.0, other.1)]);
        let found = disks(&sys.path().join("block"));
        let [one, other] = [&found[0], &found[1]].map(|disk| DriveIdentity::read(disk));
        assert_eq!(one.shared_with(&other), other.shared_with(&one));
        one.shared_with(&other)
    }

    const PORTS: [&str; 2] = ["host0/target0:0:0/0:0:0:0", "host1/target1:0:0/1:0:0:0"];

    #[test]
    fn two_ways_to_one_unit_are_found_by_its_wwid() {
        let wwid: Attributes<'_> = &[("device/wwid", b"naa.5000c500a1b2c3d4\n")];
        let found = shared((PORTS[0], wwid), (PORTS[1], wwid));
        assert_eq!(found.as_deref(), Some("WWID naa.5000c500a1b2c3d4"));
        let other: Attributes<'_> = &[("device/wwid", b"naa.5000c500a1b2c3d5\n")];
        assert_eq!(shared((PORTS[0], wwid), (PORTS[1], other)), None);
        let nvme: Attributes<'_> = &[("wwid", b"eui.0025385b71b00a12\n")];
        assert!(shared(("pci1/nvme0", nvme), ("pci2/nvme1", nvme)).is_some());
    }

    /// A page 0x83: the unit's NAA name, then the name of the port it was asked through.
    fn page_83(unit: u64, port: u64) -> Vec<u8> {
        let designator = |association: u8, name: u64| {
            [vec![1, association << 4 | NAA, 0, 8], name.to_be_bytes().to_vec()].concat()
        };
        [vec![0, 0x83, 0, 24], designator(0, unit), designator(1, port)].concat()
    }

    #[test]
    fn of_page_83_only_what_names_the_unit_counts() {
        let [one, other] = [1, 2].map(|port| page_83(0x5000_c500_a1b2_c3d4, port));
        let found = shared(
            (PORTS[0], &[("device/vpd_pg83", &one)]),
            (PORTS[1], &[("device/vpd_pg83", &other)]),
        );
        assert_eq!(found.as_deref(), Some("WWID naa.5000c500a1b2c3d4"));
        // Two units behind one port.
        let [one, other] = [0x5000_c500_a1b2_c3d4, 0x5000_c500_a1b2_c3d5].map(|n| page_83(n, 1));
        let found = shared(
            (PORTS[0], &[("device/vpd_pg83", &one)]),
            (PORTS[1], &[("device/vpd_pg83", &other)]),
        );
        assert_eq!(found, None);
        assert!(designators(&one[..15]).is_empty());
    }

    #[test]
    fn a_serial_counts_where_there_is_no_wwid() {
        let unit: Attributes<'_> =
            &[("device/vpd_pg80", b"\0\x80\0\x08S3Z9NB0K"), ("device/model", b"870 EVO\n")];
        let found = shared((PORTS[0], unit), (PORTS[1], unit));
        assert_eq!(found.as_deref(), Some("serial S3Z9NB0K"));
        // The slots of a card reader, which are units of one target.
        let slots = ["target0:0:0/0:0:0:0", "target0:0:0/0:0:0:1"];
        assert_eq!(shared((slots[0], unit), (slots[1], unit)), None);
        let other_model: Attributes<'_> =
            &[("device/vpd_pg80", b"\0\x80\0\x08S3Z9NB0K"), ("device/model", b"860\n")];
        assert_eq!(shared((PORTS[0], unit), (PORTS[1], other_model)), None);
        // The serial of a controller, whose namespaces have names of their own.
        let [one, other] = [b"nvme.1-41-42-00000001", b"nvme.1-41-42-00000002"];
        let one: Attributes<'_> = &[("device/serial", b"S5GX"), ("wwid", one)];
        let other: Attributes<'_> = &[("device/serial", b"S5GX"), ("wwid", other)];
        assert_eq!(shared(("pci1/nvme0", one), ("pci2/nvme1", other)), None);
        let disk: Attributes<'_> = &[("serial", b"data-1\n")];
        assert!(shared(("pci1/virtio1", disk), ("pci2/virtio2", disk)).is_some());
    }

    #[test]
    fn what_makers_fill_in_identifies_nothing() {
        for serial in
            ["", "0", "000000000000", "0123456789ABCDEF", "123456789012", "      ", "none"]
        {
            let disk: Attributes<'_> = &[("serial", serial.as_bytes())];
            assert_eq!(shared(("pci1/virtio1", disk), ("pci2/virtio2", disk)), None, "{serial}");
        }
        for wwid in [
            "naa.0000000000000000",
            "eui.0000000000000000",
            "nvme.126f-2020202020202020-535344-00000001",
            "t10.ATA     SSD 120GB                   000000000000",
        ] {
            let disk: Attributes<'_> = &[("wwid", wwid.as_bytes())];
            assert_eq!(shared((PORTS[0], disk), (PORTS[1], disk)), None, "{wwid}");
        }
    }

    #[test]
    fn a_hidden_path_is_no_disk() {
        let sys = disks_with(&[("nvme0c0n1", "x", &[("hidden", b"1\n")]), ("nvme0n1", "y", &[])]);
        let found = disks(&sys.path().join("block"));
        assert_eq!(found, [sys.path().join("block/nvme0n1")]);
    }

    #[test]
    fn a_drive_is_named_by_its_wwid_or_its_serial() {
        let sys = disks_with(&[
            ("sda", "a", &[("device/wwid", b"naa.5000c500a1b2c3d4\n"), ("serial", b"S12")]),
            ("sdb", "b", &[("device/model", b"870 EVO \n"), ("device/serial", b"S3Z9NB0K\n")]),
            ("sdc", "c", &[]),
        ]);
        let found = disks(&sys.path().join("block"));
        let names: Vec<Option<String>> =
            found.iter().map(|disk| DriveIdentity::read(disk).name()).collect();
        let [sda, sdb] = ["naa.5000c500a1b2c3d4", "870 EVO S3Z9NB0K"].map(|n| Some(n.to_owned()));
        assert_eq!(names, [sda, sdb, None]);
    }
}

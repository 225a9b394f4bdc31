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
    for serial in ["", "0", "000000000000", "0123456789ABCDEF", "123456789012", "      ", "none"] {
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

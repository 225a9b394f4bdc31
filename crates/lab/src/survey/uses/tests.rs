use super::*;

#[test]
fn the_generic_nodes_of_a_disk_are_found() {
    let sys = tempfile::tempdir().unwrap();
    let nvme = sys.path().join("class");
    for (node, number) in [
        ("sda/device/scsi_generic/sg2", "21:2\n"),
        ("class/ng0n1", "235:0\n"),
        ("class/ng0n2", "235:1\n"),
    ] {
        let folder = sys.path().join(node);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("dev"), number).unwrap();
    }
    let of = |disk: &str| generic_nodes(&sys.path().join(disk), &nvme);
    assert_eq!(of("sda"), ["21:2"]);
    assert_eq!(of("nvme0n2"), ["235:1"]);
    assert_eq!(of("vda"), Vec::<String>::new());
}

#[test]
fn another_disk_with_the_same_identifier_is_a_second_path_to_the_drive() {
    let sys = tempfile::tempdir().unwrap();
    let root = sys.path().canonicalize().unwrap();
    let wwids =
        [("sda", "naa.5000c500a1b2c3d4"), ("sdb", "naa.5000c500a1b2c3d4"), ("sdc", "naa.6")];
    for (disk, wwid) in wwids {
        fs::create_dir_all(root.join(disk)).unwrap();
        fs::write(root.join(disk).join("wwid"), wwid).unwrap();
    }
    fs::create_dir(root.join("sda/sda1")).unwrap();
    fs::write(root.join("sda/sda1/partition"), "1").unwrap();
    let device = |name: &str, folder: &str| BlockDevice {
        node: Path::new("/dev").join(name),
        name: name.to_owned(),
        number: "0:0".to_owned(),
        folder: root.join(folder),
    };
    let partition = (Relation::Itself, device("sda1", "sda/sda1"));
    let disk = (Relation::Disk, device("sda", "sda"));
    let proof = "WWID naa.5000c500a1b2c3d4".to_owned();
    let purpose = Purpose::SecondPath { disk: "sdb".to_owned(), proof };
    let found = second_paths(&[partition, disk], &root);
    assert_eq!(found, [DeviceUse { name: "sda".to_owned(), relation: Relation::Itself, purpose }]);
    let alone = (Relation::Itself, device("sdc", "sdc"));
    assert_eq!(second_paths(&[alone], &root), []);
}

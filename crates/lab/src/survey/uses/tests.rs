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

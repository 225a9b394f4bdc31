use std::fs;

use super::*;

#[test]
fn targets_of_every_kind_are_found() {
    let config = tempfile::tempdir().unwrap();
    for (attribute, value) in [
        ("nvmet/subsystems/nqn.test/namespaces/1/device_path", "/dev/sdb\n"),
        ("nvmet/subsystems/nqn.test/namespaces/2/device_path", "(null)\n"),
        ("target/core/iblock_0/disk/udev_path", "/dev/sdc\n"),
        ("target/core/iblock_0/hba_info", "HBA Index: 1\n"),
        ("usb_gadget/g1/functions/mass_storage.0/lun.0/file", "/srv/disk.img\n"),
        ("usb_gadget/g1/functions/acm.0/port_num", "0\n"),
    ] {
        let path = config.path().join(attribute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    let found = all(config.path());
    let paths: Vec<_> = found.iter().map(|export| export.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/dev/sdb", "/dev/sdc", "/srv/disk.img"]);
    assert_eq!(found[0].target, "the NVMe target nvmet/subsystems/nqn.test/namespaces/1");
    assert_eq!(all(Path::new("/nowhere")), []);
}

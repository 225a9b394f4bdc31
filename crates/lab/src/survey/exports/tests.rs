use std::fs;

use super::*;

#[test]
fn users_of_every_kind_are_found() {
    let sys = tempfile::tempdir().unwrap();
    let config = "kernel/config";
    for (attribute, value) in [
        (format!("{config}/nvmet/subsystems/nqn.test/namespaces/1/device_path"), "/dev/sdb\n"),
        (format!("{config}/nvmet/subsystems/nqn.test/namespaces/2/device_path"), "(null)\n"),
        (format!("{config}/target/core/iblock_0/disk/udev_path"), "/dev/sdc\n"),
        (format!("{config}/target/core/iblock_0/hba_info"), "HBA Index: 1\n"),
        (format!("{config}/usb_gadget/g1/functions/mass_storage.0/lun.0/file"), "/srv/disk.img\n"),
        (format!("{config}/usb_gadget/g1/functions/acm.0/port_num"), "0\n"),
        (format!("{config}/nvmet/subsystems/nqn.all/passthru/device_path"), "/dev/nvme1\n"),
        (format!("{config}/nvmet/subsystems/nqn.none/passthru/device_path"), "\n"),
        ("class/nvme/nvme1/nvme1n1/dev".to_owned(), "259:3\n"),
        ("class/nvme/nvme1/ng1n1/dev".to_owned(), "241:3\n"),
        ("class/nvme/nvme2/nvme2n1/dev".to_owned(), "259:9\n"),
        ("class/nvme-subsystem/nvme-subsys0/nvme1/dev".to_owned(), "242:1\n"),
        ("class/nvme-subsystem/nvme-subsys0/nvme0n2/dev".to_owned(), "259:4\n"),
        ("class/rnbd-server/ctl/devices/sdd1/block_dev/dev".to_owned(), "8:48\n"),
        ("bus/xen-backend/devices/vbd-1-51712/physical_device".to_owned(), "fd:1f\n"),
        // A guest that is being attached.
        ("bus/xen-backend/devices/vbd-2-51712/physical_device".to_owned(), "\n"),
        ("bus/xen-backend/devices/vif-1-0/devtype".to_owned(), "vif\n"),
        (format!("{config}/cluster/ocfs2/heartbeat/0123456789ABCDEF/dev"), "sde1\n"),
        (format!("{config}/cluster/ocfs2/heartbeat/not-started/dev"), ""),
        (format!("{config}/cluster/ocfs2/heartbeat/dead_threshold"), "31\n"),
        ("class/block/sde1/dev".to_owned(), "8:65\n"),
    ] {
        let path = sys.path().join(attribute);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    let found: Vec<(String, ExportedDevice)> =
        all(sys.path()).into_iter().map(|export| (export.user, export.used)).collect();
    let path = |path: &str| ExportedDevice::Path(path.into());
    let device = |number: &str| ExportedDevice::Device(number.to_owned());
    let expected = [
        ("the NVMe target kernel/config/nvmet/subsystems/nqn.test/namespaces/1", path("/dev/sdb")),
        ("the SCSI target kernel/config/target/core/iblock_0/disk", path("/dev/sdc")),
        (
            "the USB target kernel/config/usb_gadget/g1/functions/mass_storage.0/lun.0",
            path("/srv/disk.img"),
        ),
        ("the NVMe target kernel/config/nvmet/subsystems/nqn.all/passthru", device("259:4")),
        ("the NVMe target kernel/config/nvmet/subsystems/nqn.all/passthru", device("259:3")),
        ("the RNBD target class/rnbd-server/ctl/devices/sdd1/block_dev", device("8:48")),
        ("a guest of Xen, bus/xen-backend/devices/vbd-1-51712", device("253:31")),
        (
            "OCFS2's heartbeat kernel/config/cluster/ocfs2/heartbeat/0123456789ABCDEF",
            device("8:65"),
        ),
    ];
    assert_eq!(found, expected.map(|(user, used)| (user.to_owned(), used)));
    assert_eq!(all(Path::new("/nowhere")), []);
}

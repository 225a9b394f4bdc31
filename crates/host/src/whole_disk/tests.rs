use std::os::unix::fs::symlink;

use super::*;

struct Sysfs(tempfile::TempDir);

impl Sysfs {
    fn new(files: &[(&str, &str)]) -> Self {
        let sysfs = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            sysfs.write(path, text);
        }
        sysfs
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn disk(&self, name: &str, number: &str) {
        self.write(&format!("sys/block/{name}/dev"), number);
        self.write(&format!("sys/block/{name}/size"), "100\n");
        self.write(&format!("sys/block/{name}/stat"), "1 2 3 4 5 6 7 8 9 10 11\n");
    }

    fn mounts(&self, lines: &str) -> Vec<Mount> {
        self.write("proc/self/mountinfo", lines);
        mount_table(self.0.path()).unwrap()
    }
}

#[test]
fn kinds_follow_from_names_models_and_links() {
    let sysfs = Sysfs::new(&[]);
    let folder = sysfs.0.path();
    for (name, model, expected) in [
        ("nvme0n1", "Samsung SSD 980 1TB", DiskKind::Nvme),
        ("nvme0n1", "Amazon Elastic Block Store", DiskKind::Virtual),
        ("sda", "QEMU QEMU HARDDISK", DiskKind::Virtual),
        ("sda", "SEAGATE ST1", DiskKind::ScsiSsd),
        ("vda", "", DiskKind::Virtual),
        ("loop3", "", DiskKind::Loop),
        ("md127", "", DiskKind::Array),
        ("zram0", "", DiskKind::Memory),
        ("mmcblk0", "", DiskKind::Other),
        ("nbd0", "", DiskKind::Other),
    ] {
        assert_eq!(kind(folder, name, model), expected, "{name} {model}");
    }
    let usb = "sys/devices/pci0/usb2/2-1/host9/block/sdb";
    sysfs.write(&format!("{usb}/queue/rotational"), "1");
    fs::create_dir_all(folder.join("sys/block")).unwrap();
    symlink(folder.join(usb), folder.join("sys/block/sdb")).unwrap();
    assert_eq!(kind(&folder.join("sys/block/sdb"), "sdb", "SanDisk Ultra"), DiskKind::Usb);
}

#[test]
fn a_disk_without_a_medium_is_left_out() {
    let sysfs = Sysfs::new(&[]);
    sysfs.disk("sda", "8:0");
    sysfs.disk("sr0", "11:0");
    sysfs.write("sys/block/sr0/size", "0");
    sysfs.disk("mmcblk0boot0", "179:8");
    let all = all(sysfs.0.path());
    assert_eq!(all.iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["sda"]);
    assert_eq!((all[0].counters.written_bytes, all[0].is_counting), (7 * 512, true));
}

#[test]
fn layers_are_found_through_mapper_and_files() {
    let sysfs = Sysfs::new(&[
        ("sys/block/dm-0/slaves/sda", ""),
        ("sys/block/dm-1/slaves/dm-0", ""),
        ("sys/block/loop0/loop/backing_file", "/images/a.img"),
        ("sys/block/loop1/loop/backing_file", "/tmp/a.img"),
        ("sys/block/dm-1/dm/name", "vg-root"),
    ]);
    for (name, number) in
        [("sda", "8:0"), ("dm-0", "253:0"), ("dm-1", "253:1"), ("loop0", "7:0"), ("loop1", "7:1")]
    {
        sysfs.disk(name, number);
    }
    let mounts = sysfs.mounts(
        "1 0 253:1 / / rw - ext4 /dev/mapper/vg-root rw\n2 1 0:9 / /tmp rw - tmpfs tmpfs rw\n\
         3 1 7:0 / /mnt rw - ext4 /dev/loop0 rw\n4 1 253:1 /home /a rw - ext4 /dev/x rw\n",
    );
    let root = sysfs.0.path();
    let all = all(root);
    let sda = all.iter().find(|disk| disk.name == "sda").unwrap();
    let above = layers_above(root, sda, &all, &mounts);
    let names: Vec<&str> = above.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "dm-1", "loop0"]);
    let below = |name: &str| -> Vec<&str> {
        let below = layers_below(root, named(&all, name).unwrap(), &all, &mounts);
        below.iter().map(|disk| disk.name.as_str()).collect()
    };
    assert_eq!(below("loop0"), ["dm-1", "dm-0", "sda"]);
    assert_eq!(below("loop1"), [""; 0]);
    let found = filesystems(root, &above, &mounts);
    let found: Vec<(&str, &Path)> =
        found.iter().map(|own| (own.device.as_str(), own.mount.as_path())).collect();
    assert_eq!(found, [("dm-1", Path::new("/")), ("loop0", Path::new("/mnt"))]);
}

#[test]
fn btrfs_and_zfs_lie_on_all_their_devices() {
    let sysfs = Sysfs::new(&[
        ("sys/fs/btrfs/features/x", ""),
        ("sys/fs/btrfs/0c52/devices/dm-0", ""),
        ("sys/fs/btrfs/0c52/devices/sdb", ""),
        ("sys/block/dm-0/dm/name", "crypt"),
        ("run/udev/data/b8:32", "I:5000000\nE:ID_FS_TYPE=zfs_member\nE:ID_FS_LABEL=tank\n"),
    ]);
    for (name, number) in [("dm-0", "253:0"), ("sdb", "8:16"), ("sdc", "8:32"), ("sdd", "8:48")] {
        sysfs.disk(name, number);
    }
    let mounts = sysfs.mounts(
        "1 0 0:30 /@ / rw - btrfs /dev/mapper/crypt rw\n2 1 0:31 / /t rw - zfs tank/a rw\n",
    );
    let root = sysfs.0.path();
    let on = |name: &str| {
        let disk = WholeDisk::read(root, name).unwrap();
        let found = filesystems(root, &[&disk], &mounts);
        found.into_iter().map(|own| own.mount.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(["dm-0", "sdb", "sdc", "sdd"].map(on), [vec!["/"], vec!["/"], vec!["/t"], vec![]]);
    assert_eq!(WholeDisk::read(root, "sdc").unwrap().seen_at_s, Some(5));
}

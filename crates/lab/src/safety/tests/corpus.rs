//! A corpus of unsafe devices that need an uncommon kernel or drive: handwritten surveys, as such
//! machines would give them, each with the expected message. Those that can be made anywhere are in
//! `tests/machine/unsafe_targets`.

use super::super::*;

/// The disk that everything in the table is about.
fn disk() -> Survey {
    Survey {
        node: "/dev/sda".into(),
        name: "sda".to_owned(),
        identity: Identity { number: "8:0".to_owned(), size_bytes: 1 << 40, sequence: Some(9) },
        names: vec!["wwn-0x5000c500a1b2c3d4".to_owned(), "S3Z9NB0K".to_owned()],
        ..Survey::default()
    }
}

fn used(name: &str, relation: Relation, purpose: Purpose) -> Survey {
    Survey { uses: vec![DeviceUse { name: name.to_owned(), relation, purpose }], ..disk() }
}

fn holder(holder: &str) -> Survey {
    used("sda", Relation::Itself, Purpose::Holder(holder.to_owned()))
}

fn built_on(slave: &str) -> Survey {
    used("dm-1", Relation::Itself, Purpose::BuiltOn(slave.to_owned()))
}

fn elsewhere(target: &str, command: &str, pid: u32) -> Purpose {
    Purpose::MountedElsewhere { target: target.into(), pid, command: command.to_owned() }
}

fn open_by(command: &str, pid: u32, writes: bool) -> Purpose {
    Purpose::Open(OpenFileHolder { pid, command: command.to_owned(), writes })
}

fn second_path(other: &str, proof: &str) -> Survey {
    let purpose = Purpose::SecondPath { disk: other.to_owned(), proof: proof.to_owned() };
    used("sda", Relation::Itself, purpose)
}

fn carries(device: &str, kind: &str) -> Survey {
    let signature = Signature { device: device.to_owned(), kind: kind.to_owned(), label: None };
    Survey { signatures: vec![signature], ..disk() }
}

fn partition() -> Survey {
    Survey {
        node: "/dev/sda1".into(),
        name: "sda1".to_owned(),
        is_partition: true,
        names: vec!["ata-DRIVE_S3Z9NB0K-part1".to_owned()],
        ..disk()
    }
}

/// Devices in use: no name permits their destruction.
fn in_use() -> Vec<(Survey, &'static str)> {
    let mounted =
        |name, relation, target: &str| used(name, relation, Purpose::Mounted(target.into()));
    vec![
        (mounted("sda", Relation::Itself, "/"), "it carries the root filesystem"),
        (
            mounted("sda3", Relation::Partition, "/"),
            "its partition sda3 carries the root filesystem",
        ),
        (mounted("sda", Relation::Disk, "/"), "the whole disk sda carries the root filesystem"),
        (
            used("sda", Relation::Disk, Purpose::PerhapsRoot),
            "the whole disk sda may carry the root filesystem, for which no block device is found",
        ),
        (mounted("sda", Relation::Itself, "/mnt/\u{1b}[2J"), "it is mounted on /mnt/?[2J"),
        (
            used("sda", Relation::Itself, elsewhere("/mnt/\n", "sleep", 4711)),
            "it is mounted on /mnt/? in the mount namespace of sleep (pid 4711)",
        ),
        (mounted("sda2", Relation::Sibling, "/srv"), "sda2 on the same disk is mounted on /srv"),
        (mounted("sdb", Relation::Below, "/mnt"), "sdb, which lies under sda, is mounted on /mnt"),
        (used("sda2", Relation::Partition, Purpose::Swap), "its partition sda2 is swap space"),
        (used("zram0", Relation::Itself, Purpose::Swap), "it is swap space"),
        // LVM, LUKS and multipath all show as a device-mapper device over the disk.
        (holder("dm-0"), "it is used by dm-0"),
        (holder("md127"), "it is used by md127"),
        (holder("bcache0"), "it is used by bcache0"),
        (holder("drbd0"), "it is used by drbd0"),
        (
            used("sda2", Relation::Partition, Purpose::Holder("dm-3".to_owned())),
            "its partition sda2 is used by dm-3",
        ),
        // The logical volume, the mapped container (LVM on LUKS), the multipath map, the array.
        (built_on("sda2"), "it is stacked on sda2; name a drive or a partition"),
        (built_on("dm-0"), "it is stacked on dm-0; name a drive or a partition"),
        (built_on("md127"), "it is stacked on md127; name a drive or a partition"),
        (
            used("sda", Relation::Itself, open_by("qemu-system-x86", 4711, true)),
            "it is held open by qemu-system-x86 (pid 4711), for writing",
        ),
        (
            used("sda5", Relation::Partition, open_by("mysqld", 812, true)),
            "its partition sda5 is held open by mysqld (pid 812), for writing",
        ),
        (
            used("sda", Relation::Itself, open_by("multipathd", 301, false)),
            "it is held open by multipathd (pid 301), for reading",
        ),
        // A pool that zfs-fuse has imported: the kernel knows nothing of it.
        (
            used("sdb", Relation::Below, open_by("zfs-fuse", 77, true)),
            "sdb, which lies under sda, is held open by zfs-fuse (pid 77), for writing",
        ),
        (
            second_path("sdb", "WWID naa.5000c500a1b2c3d4"),
            "it has the same WWID naa.5000c500a1b2c3d4 as sdb: both are paths to one drive",
        ),
        (
            second_path("nvme1n1", "WWID eui.0025385b71b00a12"),
            "it has the same WWID eui.0025385b71b00a12 as nvme1n1: both are paths to one drive",
        ),
        (
            second_path("vdc", "serial data-1"),
            "it has the same serial data-1 as vdc: both are paths to one drive",
        ),
        (Survey { busy: true, ..disk() }, "the kernel has it open exclusively: something uses it"),
        (Survey { read_only: true, ..disk() }, "it is read-only"),
        (Survey { identity: Identity::default(), ..disk() }, "it has no medium, or no size"),
    ]
}

#[test]
fn what_is_in_use_is_refused_with_its_reason_and_no_word_helps() {
    for (survey, message) in in_use() {
        let words = survey.names.iter().map(|name| Some(name.as_str()));
        for word in words.chain([None, Some("yes")]) {
            let refused = judge(&survey, word).unwrap_err().to_string();
            assert_eq!(refused, format!("/dev/sda must not be written to\n  - {message}"));
        }
    }
}

/// Devices with data, and a name that does not permit its destruction.
fn with_data() -> Vec<(Survey, Option<&'static str>, &'static str)> {
    let wrong_name = "is not a name of this partition; the disk's names do not count";
    vec![
        (carries("sda", "mpath_member"), None, "sda carries mpath_member"),
        (carries("sda", "drbd"), None, "sda carries drbd"),
        (carries("sda", "ddf_raid_member"), None, "sda carries ddf_raid_member"),
        (carries("sda", "stratis"), None, "sda carries stratis"),
        (carries("sda", "vdo"), None, "sda carries vdo"),
        (carries("sda", "zfs_member"), None, "sda carries zfs_member"),
        (carries("sda", "BitLocker"), None, "sda carries BitLocker"),
        (carries("sda", "apfs"), None, "sda carries apfs"),
        (carries("sda", "bcachefs"), None, "sda carries bcachefs"),
        (carries("sda1", "oracleasm"), None, "sda1 carries oracleasm"),
        (carries("sda", "data of an unknown kind at byte 1048576"), None, "at byte 1048576"),
        (carries("sda", "ext4"), Some("S3Z9NB0"), "`S3Z9NB0` is not its serial or by-id name"),
        (carries("sda", "ext4"), Some("/dev/sda"), "`/dev/sda` is not its serial or by-id name"),
        (partition(), Some("S3Z9NB0K"), wrong_name),
        (partition(), Some("ata-DRIVE_S3Z9NB0K"), wrong_name),
        (partition(), Some("ata-DRIVE_S3Z9NB0K-part2"), wrong_name),
    ]
}

#[test]
fn what_carries_data_is_refused_without_its_own_name() {
    for (survey, word, message) in with_data() {
        let refused = judge(&survey, word).unwrap_err().to_string();
        assert!(refused.contains(message), "{refused}");
    }
    let data = Signature { device: "sda1".to_owned(), kind: "ext4".to_owned(), label: None };
    let partition = Survey { signatures: vec![data], ..partition() };
    assert_eq!(judge(&partition, Some("ata-DRIVE_S3Z9NB0K-part1")).unwrap().len(), 1);
}

#[test]
fn a_device_that_changed_between_survey_and_claim_is_refused() {
    let judged = disk();
    let Identity { number, size_bytes, sequence } = judged.identity.clone();
    let others = [
        Identity { number: "8:16".to_owned(), ..judged.identity.clone() },
        Identity { size_bytes: size_bytes + 512, number: number.clone(), sequence },
        // Another drive, of the same size, that was given the same number.
        Identity { sequence: Some(10), number, size_bytes },
    ];
    for identity in others {
        let claimed = Survey { identity, ..judged.clone() };
        let refused = compare(&judged, &claimed).unwrap_err().to_string();
        assert!(refused.contains("it is no longer the device that was checked"), "{refused}");
    }
    let refused = compare(&judged, &carries("sda", "xfs")).unwrap_err().to_string();
    let message = "its contents have changed since they were checked\n  - sda carries xfs";
    assert!(refused.contains(message), "{refused}");
    assert!(compare(&judged, &judged).is_ok());
}

//! What levels mean, and which exclude each other.

use super::*;

fn levels(pairs: &[(Factor, &str)]) -> Levels {
    Levels(pairs.iter().map(|(factor, level)| (*factor, (*level).to_owned())).collect())
}

#[test]
fn a_journal_on_xfs_is_refused_with_the_way_out() {
    let xfs = levels(&[(Factor::Filesystem, "xfs"), (Factor::Journal, "on")]);
    let error = Setup::new(&xfs).unwrap_err();
    assert_eq!(error.factor, Factor::Journal);
    assert!(error.help.contains("exclude"));
    assert!(Setup::new(&levels(&[(Factor::Journal, "on")])).is_err());
}

#[test]
fn zfs_is_made_and_mounted_without_what_it_does_not_have() {
    let with = |factor, level| Setup::new(&levels(&[(Factor::Filesystem, "zfs"), (factor, level)]));
    for (factor, level) in [(Factor::Discard, "on"), (Factor::Atime, "relatime")] {
        assert!(with(factor, level).unwrap_err().help.contains("exclude"), "{level}");
    }
    assert!(with(Factor::Mount, "commit=5").is_err());
    assert!(with(Factor::Atime, "noatime").is_ok());
    assert!(with(Factor::Mkfs, "-Ocompression=on -oashift=12").is_ok());
    for elsewhere in ["-Omountpoint=none", "-O mountpoint=none", "-R x", "-f", "-oaltroot=x"] {
        assert!(with(Factor::Mkfs, elsewhere).is_err(), "{elsewhere}");
    }
}

/// NEWCOMER.md, B3: ext4 was the best, as xfs could not be mounted with `commit=60`.
#[test]
fn a_mount_option_of_another_filesystem_is_refused_with_the_way_out() {
    let of = |filesystem, mount| {
        Setup::new(&levels(&[(Factor::Filesystem, filesystem), (Factor::Mount, mount)]))
    };
    let error = of("xfs", "noatime,commit=60").unwrap_err();
    assert_eq!(error.factor, Factor::Mount);
    assert!(error.message.contains("xfs has no mount option `commit=60`"), "{}", error.message);
    assert!(error.message.contains("ext4"), "{}", error.message);
    let way_out = "exclude = [{ filesystem = \"xfs\", mount = \"noatime,commit=60\" }]";
    assert!(error.help.contains(way_out), "{}", error.help);
    for (filesystem, mount) in [
        ("ext4", "commit=60"),
        ("btrfs", "commit=60"),
        ("xfs", "noatime,lazytime,logbsize=256k"),
        ("f2fs", "fsync_mode=strict"),
        // Nothing is known about these.
        ("bcachefs", "commit=60"),
        ("xfs", "of_a_later_kernel=1"),
        ("any", "commit=60"),
    ] {
        assert!(of(filesystem, mount).is_ok(), "{filesystem}: {mount}");
    }
}

#[test]
fn ext2_and_ext3_are_what_their_journal_says() {
    for (name, possible, impossible) in [("ext3", "on", "off"), ("ext2", "off", "on")] {
        let with = |journal| levels(&[(Factor::Filesystem, name), (Factor::Journal, journal)]);
        assert!(Setup::new(&with(possible)).is_ok());
        assert!(Setup::new(&with(impossible)).is_err());
    }
}

#[test]
fn a_driver_concerns_the_filesystems_that_it_can_mount() {
    let of = |filesystem, driver| {
        let pairs = [(Factor::Filesystem, filesystem), (Factor::FilesystemDriver, driver)];
        Setup::new(&levels(&pairs)).map(|setup| setup.driver.map(|driver| driver.kind))
    };
    assert_eq!(of("ext2", "ext2"), Ok(Some("ext2")));
    assert_eq!(of("ext2", "ext4"), Ok(Some("ext4")));
    assert_eq!(of("ext3", "ext4"), Ok(Some("ext3")));
    assert_eq!(of("ext3", "ext2"), Ok(None));
    assert_eq!(of("xfs", "ext4"), Ok(None));
    assert_eq!(of("ext2", "ext5").unwrap_err().factor, Factor::FilesystemDriver);
}

#[test]
fn a_driver_s_options_and_what_it_lacks_are_not_asked_for_again() {
    let of = |driver, factor, level| {
        let pairs = [(Factor::Filesystem, "ext2"), (Factor::FilesystemDriver, driver)];
        Setup::new(&levels(&pairs).with(&levels(&[(factor, level)])))
    };
    let error = of("ext2", Factor::Discard, "on").unwrap_err();
    assert!(error.help.contains("filesystem_driver = \"ext2\", discard = \"on\""), "{error:?}");
    assert!(of("ext4", Factor::Discard, "on").is_ok());
    assert!(of("ext4", Factor::Mount, "delalloc").is_err());
}

#[test]
fn a_filesystem_without_discards_has_them_off() {
    let of = |discard| {
        Setup::new(&levels(&[(Factor::Filesystem, "reiserfs"), (Factor::Discard, discard)]))
    };
    assert!(of("off").is_ok());
    assert!(of("on").unwrap_err().help.contains("discard = \"on\""));
    assert!(of("fstrim").unwrap_err().help.contains("discard = \"fstrim\""));
}

#[test]
fn old_scheduler_names_mean_todays() {
    let setup = Setup::new(&levels(&[(Factor::Scheduler, "cfq")])).unwrap();
    assert_eq!(setup.scheduler, Some("bfq"));
    assert!(Setup::new(&levels(&[(Factor::Scheduler, "elevator")])).is_err());
}

#[test]
fn one_thing_is_said_in_one_place() {
    let twice = levels(&[(Factor::Atime, "noatime"), (Factor::Mount, "commit=5,relatime")]);
    assert!(Setup::new(&twice).unwrap_err().message.contains("relatime"));
    let free = levels(&[(Factor::Mount, "commit=5,noatime")]);
    assert_eq!(Setup::new(&free).unwrap().mount, ["commit=5", "noatime"]);
}

#[test]
fn free_options_cannot_force_or_reach_another_device() {
    let mkfs = |filesystem, text| {
        Setup::new(&levels(&[(Factor::Filesystem, filesystem), (Factor::Mkfs, text)]))
    };
    for (filesystem, bad) in [
        ("btrfs", "-f /dev/sdb"),
        ("btrfs", "--forc loop1"),
        ("btrfs", "loop1"),
        ("ext4", "-F"),
        ("ext4", "-qF"),
        ("ext4", "-z undo.e2"),
        ("ext4", "-J device=UUID=1"),
        ("xfs", "-l logdev=/dev/sdb"),
        ("xfs", "-d file,name=x"),
        ("f2fs", "-c /dev/sdb"),
        ("f2fs", "-g android"),
        ("reiserfs", "-j /dev/sdb"),
        ("nilfs2", "-f"),
        ("jfs", "-J device=/dev/sdb"),
        ("zfs", "-Ochecksum= -f"),
        ("zfs", "-Omountpoint=/home"),
    ] {
        assert!(mkfs(filesystem, bad).is_err(), "{filesystem} {bad}");
    }
    assert!(mkfs("ext4", "-O ^has_journal -I 128 -E stride=16 -Tlargefile -Lfoo").is_ok());
    assert!(mkfs("xfs", "-m reflink=0").is_ok());
    assert!(mkfs("btrfs", "--csum=xxhash -n 16k").is_ok());
    for bad in ["device=/dev/sdb", "logdev=/dev/sdb", "journal_path=x", "journal_dev=1793"] {
        assert!(Setup::new(&levels(&[(Factor::Mount, bad)])).is_err(), "{bad}");
    }
}

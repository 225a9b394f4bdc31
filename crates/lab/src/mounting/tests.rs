//! Options of mounts, asked for and read back.

use ssdlab_plan::{Factor, Levels};

use super::*;

#[test]
fn what_compresses_says_so_in_its_options_or_properties() {
    let compresses = |what: &str, text: &str| {
        super::compresses(&BTreeMap::from([(what.to_owned(), text.to_owned())]))
    };
    assert!(compresses("mount_options", "rw,compress=zstd:3"));
    assert!(compresses("mount_options", "rw,compress-force=lzo"));
    assert!(compresses("properties", "atime=on,compression=on"));
    assert!(!compresses("properties", "atime=on,compression=off"));
    assert!(!compresses("mount_options", "rw,nocompress"));
    assert!(!compresses("driver_options", "compress=zstd"));
}

fn setup(pairs: &[(Factor, &str)]) -> Setup {
    let levels = pairs.iter().map(|(factor, level)| (*factor, (*level).to_owned()));
    Setup::new(&Levels(levels.collect())).unwrap()
}

fn mounted(kind: &str, options: &str) -> Mount {
    Mount {
        device: "7:0".to_owned(),
        target: "/mnt".into(),
        source: "/dev/loop0".into(),
        kind: kind.to_owned(),
        options: options.split(',').map(str::to_owned).collect(),
    }
}

#[test]
fn a_setting_that_did_not_take_is_reported_with_both_values() {
    let asked = setup(&[(Factor::Atime, "noatime")]);
    let error = check(&asked, &mounted("ext4", "rw,relatime"), &[], MountedBy::Us).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("noatime") && message.contains("rw,relatime"), "{message}");
    assert!(check(&asked, &mounted("ext4", "rw,noatime"), &[], MountedBy::Us).is_ok());
}

#[test]
fn discard_off_is_checked_too() {
    let off = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Discard, "off")]);
    assert!(check(&off, &mounted("btrfs", "rw,discard=async"), &[], MountedBy::Us).is_err());
    assert_eq!(options(&off).1, ["nodiscard"]);
    let on = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Discard, "on")]);
    assert!(check(&on, &mounted("btrfs", "rw,discard=async"), &[], MountedBy::Us).is_ok());
    let ext4 = setup(&[(Factor::Filesystem, "ext4"), (Factor::Discard, "off")]);
    assert!(
        check(&ext4, &mounted("ext4", "rw,relatime"), &["nodiscard".to_owned()], MountedBy::Us)
            .is_ok()
    );
}

#[test]
fn a_driver_is_asked_for_and_read_back() {
    let of = |driver| setup(&[(Factor::Filesystem, "ext2"), (Factor::FilesystemDriver, driver)]);
    assert_eq!(options(&of("ext4")).1, ["nodelalloc"]);
    let table = mounted("ext4", "rw,nodelalloc");
    assert!(check(&of("ext4"), &table, &[], MountedBy::Us).is_ok());
    assert!(check(&of("ext4"), &mounted("ext4", "rw"), &[], MountedBy::Us).is_err());
    assert!(check(&of("ext2"), &table, &[], MountedBy::Us).is_err());
    assert!(check_driver(&of("ext2"), "ext2").is_ok());
    let error = check_driver(&of("ext2"), "ext4").unwrap_err();
    assert!(error.to_string().contains("no driver ext2 of its own"), "{error}");
}

#[test]
fn compression_and_its_absence_are_read_back() {
    let of = |level| setup(&[(Factor::Filesystem, "btrfs"), (Factor::Compression, level)]);
    let table = |options| mounted("btrfs", options);
    assert_eq!(options(&of("zstd")).1, ["compress=zstd"]);
    assert!(check(&of("zstd"), &table("rw,compress=zstd:3"), &[], MountedBy::Us).is_ok());
    assert!(check(&of("zstd"), &table("rw,compress=lzo"), &[], MountedBy::Us).is_err());
    assert!(check(&of("off"), &table("rw,compress-force=lzo"), &[], MountedBy::Other).is_err());
    assert!(check(&of("off"), &table("rw"), &[], MountedBy::Us).is_ok());
    let bare = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Checksums, "off")]);
    assert!(check(&bare, &table("rw,nodatasum"), &[], MountedBy::Us).is_ok());
    assert!(check(&bare, &table("rw"), &[], MountedBy::Us).is_err());
}

#[test]
fn free_options_are_looked_for_where_the_kernel_lists_them() {
    let free = setup(&[(Factor::Mount, "commit=60,data=ordered,noauto_da_alloc,lazytime")]);
    let driver = ["commit=60".to_owned(), "data=ordered".to_owned()];
    let options = "rw,relatime,lazytime,noauto_da_alloc";
    assert!(check(&free, &mounted("ext4", options), &driver, MountedBy::Us).is_ok());
    assert!(check(&free, &mounted("ext4", options), &driver[1..], MountedBy::Us).is_err());
}

/// The case `btrfs-discard-sync`.
#[test]
fn case_btrfs_discard_sync_is_in_force_under_the_name_by_which_the_kernel_lists_it() {
    let sync = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Mount, "discard=sync")]);
    let table = |options| mounted("btrfs", options);
    let listed = "rw,relatime,discard,space_cache=v2,subvolid=5,subvol=/";
    for maker in [MountedBy::Us, MountedBy::Other] {
        assert!(check(&sync, &table(listed), &[], maker).is_ok());
        assert!(check(&sync, &table("rw,discard=async"), &[], maker).is_err());
        assert!(check(&sync, &table("rw,relatime"), &[], maker).is_err());
    }
    // A directory may be on any filesystem.
    let any = setup(&[(Factor::Mount, "discard=sync")]);
    assert!(check(&any, &table(listed), &[], MountedBy::Other).is_ok());
    assert!(check(&any, &mounted("ext4", listed), &[], MountedBy::Other).is_err());
}

#[test]
fn the_defaults_of_mount_ask_for_nothing() {
    let defaults = setup(&[(Factor::Mount, "rw,suid,dev,exec,async,norelatime,loud")]);
    assert_eq!(options(&defaults), (MountFlags::empty(), Vec::new()));
    assert!(check(&defaults, &mounted("ext4", "rw,relatime"), &[], MountedBy::Us).is_ok());
}

#[test]
fn an_option_we_did_not_give_must_be_listed() {
    let asked = setup(&[(Factor::Mount, "nosuchthing")]);
    assert!(check(&asked, &mounted("ext4", "rw"), &[], MountedBy::Other).is_err());
    let flag = setup(&[(Factor::Mount, "noatime")]);
    assert!(check(&flag, &mounted("ext4", "rw,relatime"), &[], MountedBy::Us).is_err());
}

#[test]
fn flags_of_mount_are_not_handed_to_the_filesystem() {
    let (flags, data) = options(&setup(&[(Factor::Mount, "nodiratime,nosymfollow,commit=60")]));
    assert_eq!(flags, MountFlags::NODIRATIME | MountFlags::NOSYMFOLLOW);
    assert_eq!(data, ["commit=60"]);
}

#[test]
fn another_filesystem_than_asked_for_is_a_mismatch() {
    let error =
        check(&setup(&[(Factor::Filesystem, "ext4")]), &mounted("ext3", "rw"), &[], MountedBy::Us)
            .unwrap_err();
    assert!(error.to_string().contains("ext3"));
}

use super::*;

#[test]
fn plan_options_come_last_so_that_they_win() {
    for filesystem in ALL {
        let format = MkfsOptions { extra: vec!["--plan".to_owned()], ..MkfsOptions::default() };
        let arguments = filesystem.format_arguments(&format);
        // A pool's mount point and name come after its options.
        let last = arguments.len() - if filesystem.pool.is_some() { 4 } else { 1 };
        assert_eq!(arguments[last], "--plan");
    }
}

#[test]
fn what_a_pool_is_asked_for_is_found_in_its_command_line() {
    let zfs = find("zfs").unwrap();
    let extra = vec!["-Ocompression=lzjb".to_owned()];
    let format = MkfsOptions { atime: Some(false), extra, ..MkfsOptions::default() };
    let line = zfs.format_arguments(&format).join(" ");
    let asked: Vec<_> = zfs.pool.unwrap().asked_for(&line).collect();
    assert_eq!(asked, [("atime", "off"), ("compression", "lzjb")]);
}

#[test]
fn every_fact_has_a_source_and_every_snapshot_is_stated() {
    for Filesystem { name, facts, snapshot, .. } in ALL {
        let limits = [facts.longest_name, facts.largest_file, facts.largest_volume];
        assert!(limits.iter().all(|l| l.bytes == 0 || !l.source.is_empty()), "{name}");
        let features = [
            facts.checksums,
            facts.snapshots,
            facts.devices,
            facts.compression,
            facts.journal,
            facts.discard,
            facts.reflink,
            facts.encryption,
        ];
        assert!(features.iter().all(|feature| !feature.source.is_empty()), "{name}");
        assert_eq!(facts.snapshots.is_there(), snapshot.is_some(), "{name}");
    }
    for filesystem in ALL {
        let can = filesystem.discard_on.is_some();
        assert_eq!(filesystem.facts.discard.is_there(), can, "{}", filesystem.name);
    }
}

#[test]
fn the_last_option_says_whether_discards_are_postponed() {
    let seconds = |filesystem: &str, options: &[&str]| {
        find(filesystem).unwrap().postpones(options.iter().copied()).as_secs()
    };
    assert_eq!(seconds("xfs", &["discard"]), 30);
    assert_eq!(seconds("xfs", &["noatime"]), 0);
    assert_eq!(seconds("xfs", &["discard", "nodiscard"]), 0);
    assert_eq!(seconds("f2fs", &[]), 65);
    assert_eq!(seconds("f2fs", &["nodiscard"]), 0);
    assert_eq!(seconds("f2fs", &["nodiscard", "noatime", "discard"]), 65);
    assert_eq!(seconds("f2fs", &["discard_unit=segment"]), 65);
    assert_eq!(seconds("btrfs", &[]), 120);
    assert_eq!(seconds("btrfs", &["discard"]), 0);
    assert_eq!(seconds("btrfs", &["discard=sync", "discard=async"]), 120);
    assert_eq!(seconds("ext4", &["discard"]), 0);
    for filesystem in ALL {
        assert!(filesystem.postponed.is_none_or(|postponed| !postponed.source.is_empty()));
    }
}

#[test]
fn ext4_leaves_no_initialisation_to_the_background() {
    let arguments = find("ext4").unwrap().format_arguments(&MkfsOptions::default()).join(" ");
    assert!(arguments.contains("lazy_itable_init=0"));
    assert!(arguments.contains("lazy_journal_init=0"));
}

#[test]
fn a_plans_extended_options_do_not_replace_ours() {
    let extra = ["-E", "stride=16", "-I", "128"].map(str::to_owned).to_vec();
    let format = MkfsOptions { extra, ..MkfsOptions::default() };
    let arguments = find("ext4").unwrap().format_arguments(&format);
    assert_eq!(arguments.iter().filter(|word| *word == "-E").count(), 1);
    assert!(arguments[4].contains("lazy_itable_init=0") && arguments[4].ends_with("stride=16"));
    assert_eq!(arguments[5..], ["-I", "128"]);
}

#[test]
fn mkfs_is_never_told_to_force_and_its_uuid_follows_from_the_seed() {
    for filesystem in ALL {
        let of =
            |seed| filesystem.format_arguments(&MkfsOptions { seed, ..MkfsOptions::default() });
        assert!(!of(1).iter().any(|word| word == "-f" || word == "-F" || word == "--force"));
        let has_no_option = ["jfs", "nilfs2", "zfs"].contains(&filesystem.name);
        assert_eq!(of(1) == of(2), has_no_option, "{}", filesystem.name);
        assert_eq!(of(1), of(1));
    }
}

#[test]
fn journal_is_a_feature_flag_of_ext4() {
    let off = MkfsOptions { journal: Some(false), ..MkfsOptions::default() };
    assert!(find("ext4").unwrap().format_arguments(&off).contains(&"^has_journal".to_owned()));
    assert!(find("nosuchfs").is_none());
}

/// The ends of what e2fsck 1.47 and `xfs_repair` 6.1 print of damaged filesystems.
#[test]
fn the_steps_of_a_check_are_not_its_findings() {
    let printed = "Phase 1 - find and verify superblock...\n        - agno = 0\n\
                   disconnected inode 133, would move to lost+found\n\
                   Phase 7 - verify link counts...\n\
                   No modify flag set, skipping filesystem flush and exiting.\n";
    assert_eq!(findings(printed), "disconnected inode 133, would move to lost+found");
    let printed = "Pass 5: Checking group summary information\nFree blocks count wrong.\n";
    assert_eq!(findings(printed), "Free blocks count wrong.");
    let steps = "Phase 1 - find and verify superblock...\n";
    assert_eq!(findings(steps), steps);
}

use crate::{ALL, find};

fn lists(filesystem: &str, option: &str, listed: &str) -> bool {
    find(filesystem).unwrap().mount_options.lists(option, &listed.split(',').collect::<Vec<_>>())
}

/// The case `btrfs-discard-sync`: with `discard=sync` /proc/mounts shows `discard`.
#[test]
fn case_btrfs_discard_sync_is_listed_in_the_words_of_btrfs() {
    let btrfs = |option, listed| lists("btrfs", option, listed);
    assert!(btrfs("discard=sync", "rw,relatime,discard,space_cache=v2"));
    assert!(!btrfs("discard=sync", "rw,discard=async"));
    assert!(!btrfs("discard=sync", "rw,relatime"));
    assert!(btrfs("discard=async", "rw,discard=async"));
    assert!(!btrfs("discard=async", "rw,discard"));
    for (asked, listed) in [
        ("compress", "rw,compress=zlib:3"),
        ("compress=zlib", "rw,compress=zlib:3"),
        ("compress=zstd:3", "rw,compress=zstd:3"),
        ("compress-force", "rw,compress-force=zlib:3"),
        ("compress=no", "rw,relatime"),
        ("commit=30", "rw,relatime"),
        ("commit=0", "rw,relatime"),
        ("commit=60", "rw,commit=60"),
        ("max_inline=2k", "rw,max_inline=2048"),
        ("max_inline=2048", "rw,relatime"),
        ("space_cache=v1", "rw,space_cache"),
        ("space_cache=v2", "rw,space_cache=v2"),
        ("norecovery", "rw,rescue=nologreplay"),
        ("autodefrag", "rw,autodefrag"),
        ("ssd", "rw,ssd,discard=async"),
        ("rescan_uuid_tree", "rw,rescan_uuid_tree"),
        ("thread_pool=4", "rw,thread_pool=4"),
    ] {
        assert!(btrfs(asked, listed), "{asked}: {listed}");
    }
    for (asked, listed) in [
        ("compress=no", "rw,compress=zstd:3"),
        ("commit=30", "rw,commit=60"),
        ("commit=60", "rw,relatime"),
        ("compress=zstd:9", "rw,compress=zstd:3"),
        ("space_cache=v1", "rw,space_cache=v2"),
        ("ssd", "rw,ssd_spread"),
        ("thread_pool=4", "rw,thread_pool=6"),
        ("autodefrag", "rw,relatime"),
    ] {
        assert!(!btrfs(asked, listed), "{asked}: {listed}");
    }
}

#[test]
fn others_have_aliases_too() {
    for (filesystem, asked, listed) in [
        ("ext4", "barrier=1", "rw,barrier,commit=5"),
        ("ext4", "barrier=0", "rw,nobarrier"),
        ("ext4", "commit=0", "rw,commit=5"),
        ("ext4", "data=ordered", "rw,data=ordered"),
        ("ext4", "noload", "rw,norecovery"),
        ("ext4", "auto_da_alloc=0", "rw,noauto_da_alloc"),
        ("ext4", "dax", "rw,dax=always"),
        ("ext4", "data_err=ignore", "rw,data=ordered"),
        ("ext2", "bsddf", "rw"),
        ("ext2", "errors=continue", "rw"),
        ("xfs", "allocsize=64m", "rw,allocsize=65536k"),
        ("xfs", "logbsize=262144", "rw,logbsize=256k"),
        ("xfs", "quota", "rw,usrquota"),
        ("xfs", "noquota", "rw,noquota"),
        ("xfs", "attr2", "rw,inode64"),
        ("f2fs", "background_gc=on", "rw,background_gc=on"),
        ("f2fs", "norecovery", "rw,norecovery"),
        ("jfs", "discard", "rw,discard=64"),
        ("jfs", "errors=remount-ro", "rw"),
        ("nilfs2", "order=relaxed", "rw"),
        ("reiserfs", "data=ordered", "rw"),
    ] {
        assert!(lists(filesystem, asked, listed), "{filesystem} {asked}: {listed}");
    }
    assert!(!lists("ext4", "barrier=1", "rw,nobarrier"));
    assert!(!lists("ext4", "mb_optimize_scan=1", "rw,mb_optimize_scan=0"));
    assert!(!lists("xfs", "allocsize=64m", "rw,allocsize=64k"));
}

/// That the kernel does not list them shows nothing of a mount that somebody else made.
#[test]
fn what_the_kernel_does_not_list_is_in_force_only_if_it_accepted_it() {
    for (filesystem, option) in [
        ("btrfs", "thread_pool=4"),
        ("btrfs", "clear_cache"),
        ("btrfs", "usebackuproot"),
        ("btrfs", "rescue=usebackuproot"),
        ("ext4", "journal_ioprio=2"),
        ("ext4", "mb_optimize_scan=1"),
        ("reiserfs", "block-allocator=hashed_relocation"),
    ] {
        let own = find(filesystem).unwrap();
        assert!(!own.mount_options.lists(option, &["rw"]), "{filesystem}: {option}");
        assert!(own.mount_options.may_leave_out(option, &["rw"]), "{filesystem}: {option}");
    }
    let listed = ["rw", "mb_optimize_scan=0"];
    assert!(!find("ext4").unwrap().mount_options.may_leave_out("mb_optimize_scan=1", &listed));
}

/// NEWCOMER.md, B3: xfs could not be mounted with `commit=60`.
#[test]
fn an_option_of_other_filesystems_is_known_to_be_theirs() {
    let lacks = |filesystem: &str, option| find(filesystem).unwrap().lacks_option(option);
    assert_eq!(lacks("xfs", "commit=60"), ["ext3", "ext4", "btrfs", "reiserfs"]);
    assert_eq!(lacks("ext4", "nodatacow"), ["btrfs"]);
    assert_eq!(lacks("btrfs", "fsync_mode=strict"), ["f2fs"]);
    // A driver takes different options for the types that it mounts: fs/ext4/super.c.
    assert_eq!(lacks("ext2", "data=journal"), ["ext3", "ext4", "reiserfs"]);
    assert_eq!(lacks("ext3", "nodelalloc"), ["ext2", "ext4"]);
    assert_eq!(lacks("ext3", "journal_checksum"), ["ext4"]);
    assert_eq!(lacks("ext4", "xip"), ["ext2"]);
    // They have these, in one form or the other. Nobody is known to have the last; what looks like
    // an option of btrfs before it is a value of `rescue`.
    for (filesystem, option) in [
        ("ext4", "commit=60"),
        ("ext4", "nobarrier"),
        ("ext2", "noauto_da_alloc"),
        ("ext3", "journal_path=/dev/vdb"),
        ("btrfs", "nobarrier"),
        ("btrfs", "check_int"),
        ("btrfs", "noatime"),
        ("xfs", "noatime"),
        ("xfs", "lazytime"),
        ("xfs", "nodiscard"),
        ("bcachefs", "commit=60"),
        ("jfs", "nointegrity"),
        ("nilfs2", "order=strict"),
        ("reiserfs", "notail"),
        ("ext4", "ignorebadroots"),
        ("xfs", "nosuchthing"),
    ] {
        assert!(lacks(filesystem, option).is_empty(), "{filesystem}: {option}");
    }
}

#[test]
fn how_options_are_listed_is_said_of_options_that_exist() {
    for filesystem in ALL {
        let own = &filesystem.mount_options;
        // ext2, ext3 and ext4 share how options are listed, but not all options.
        let alike = ALL.map(|other| &other.mount_options);
        let alike = alike.into_iter().filter(|other| other.aliases == own.aliases);
        let asked = own.aliases.iter().map(|alias| alias.asked).chain(own.unlisted.iter().copied());
        for option in asked {
            let is_known = alike.clone().any(|other| other.have(super::name(option)));
            assert!(is_known, "{}: {option}", filesystem.name);
        }
        let shown = [filesystem.discard_on, filesystem.discard_off];
        for option in shown.into_iter().flatten() {
            assert!(filesystem.lacks_option(option).is_empty(), "{}: {option}", filesystem.name);
        }
    }
}

//! reiserfs: one balanced tree and a journal that cannot be switched off; no discard.
//!
//! Sources: mkreiserfs(8) of reiserfsprogs 3.6.27; fs/reiserfs in Linux 6.1, which has neither a
//! mount option for discards nor FITRIM. Linux 6.13 removed the filesystem.

use super::facts::{feature, limit};
use super::mount_option::{MountOptions, unlisted};
use super::{Facts, Filesystem, JournalSupport, MkfsCall, Setting, layout, uuid};

const SOURCE: &str = "fs/reiserfs in Linux 6.1";

/// Of defaults the kernel lists nothing.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&[
        "acl",
        "alloc",
        "attrs",
        "barrier",
        "block-allocator",
        "commit",
        "conv",
        "data",
        "errors",
        "expose_privroot",
        "grpjquota",
        "grpquota",
        "jdev",
        "jqfmt",
        "nolargeio",
        "noquota",
        "notail",
        "replayonly",
        "resize",
        "tails",
        "user_xattr",
        "usrjquota",
        "usrquota",
    ]],
    unlisted: &["alloc", "block-allocator", "conv", "nolargeio"],
    aliases: &[
        unlisted("barrier=flush"),
        // No interval means that of the journal, 30 s.
        unlisted("commit=0"),
        unlisted("commit=30"),
        unlisted("data=ordered"),
        unlisted("errors=ro-remount"),
        unlisted("tails=small"),
    ],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "reiserfs",
    mkfs: "mkfs.reiserfs",
    package: "reiserfsprogs",
    mkfs_options: &[
        "-b",
        "-h",
        "-l",
        "-s",
        "-t",
        "--block-size",
        "--hash",
        "--journal-size",
        "--label",
        "--transaction-max-size",
    ],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::Always,
    checksums: Setting::NEVER,
    compression: Setting::NEVER,
    drivers: &[],
    discard_on: None,
    discard_off: None,
    postponed: None,
    // It commits each block of a direct write separately.
    writes_directly: false,
    smallest_bytes: 33 << 20,
    made_bytes: Some(|_| 36_000_000),
    check: Some(MkfsCall { program: "reiserfsck", arguments: &["--check", "--yes", "--quiet"] }),
    replay: None,
    // -q: without it mkfs asks for confirmation. It refuses a whole sd or hd disk without force, so
    // the device lab needs a partition there. The default format depends on the running kernel.
    format: |format| {
        format.arguments(&["-q", "--format", "3.6", "-h", "r5", "-u", &uuid(format.seed)])
    },
    layout: Some(&layout::reiserfs::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(17_592_186_040_320, SOURCE),
        // It writes pointers for every block of a hole.
        has_holes: false,
        largest_volume: limit(16 << 40, SOURCE),
        checksums: feature("no", SOURCE),
        snapshots: feature("no", SOURCE),
        devices: feature("no", SOURCE),
        compression: feature("no", SOURCE),
        journal: feature("of metadata; data by mount option", "mount(8)"),
        discard: feature("no", SOURCE),
        reflink: feature("no", SOURCE),
        encryption: feature("no", SOURCE),
    },
};

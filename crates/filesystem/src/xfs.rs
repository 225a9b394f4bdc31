//! XFS: allocation groups and a metadata log that cannot be switched off.
//!
//! Source: mkfs.xfs(8) of xfsprogs 6.1, which refuses filesystems below 300 MB.

use std::time::Duration;

use super::facts::{OFFSETS, feature, limit};
use super::mount_option::{MountOptions, listed_as, perhaps_listed, unlisted};
use super::{
    Bits, Facts, Filesystem, JournalSupport, MkfsCall, Postponed, Setting, SettingLevel, layout,
    uuid,
};

const SOURCE: &str = "fs/xfs in Linux 6.1";

/// Metadata checksums. Without them it is a version 4 filesystem, which has no reflinks, sparse
/// inodes, free inode tree or timestamps after 2038, and which kernels may not support.
const CHECKSUMS: Setting = Setting {
    levels: &[
        SettingLevel::made("on", &["-m", "crc=1"], 5),
        SettingLevel::made("off", &["-m", "crc=0"], 4),
    ],
    words: &["crc="],
    // The low bits of sb_versionnum, in fs/xfs/libxfs/xfs_format.h.
    superblock: Some(Bits { at: 101, mask: 0x0f }),
};

/// Sizes are listed in KiB.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&[
        "align",
        "allocsize",
        "attr2",
        "bsdgroups",
        "dax",
        "discard",
        "filestreams",
        "gqnoenforce",
        "gquota",
        "grpid",
        "grpquota",
        "ikeep",
        "inode32",
        "inode64",
        "largeio",
        "lifetime",
        "logbsize",
        "logbufs",
        "logdev",
        "max_atomic_write",
        "max_open_zones",
        "norecovery",
        "pqnoenforce",
        "pquota",
        "prjquota",
        "qnoenforce",
        "quota",
        "rtdev",
        "sunit",
        "swalloc",
        "swidth",
        "sysvgroups",
        "uqnoenforce",
        "uquota",
        "usrquota",
        "uuid",
        "wsync",
    ]],
    unlisted: &[],
    aliases: &[
        // Version 5 of the format always has it.
        perhaps_listed("attr2", &["attr2"]),
        listed_as("bsdgroups", &["grpid"]),
        unlisted("nogrpid"),
        unlisted("sysvgroups"),
        listed_as("dax", &["dax=always"]),
        unlisted("dax=inode"),
        unlisted("lifetime"),
        listed_as("quota", &["usrquota"]),
        listed_as("uquota", &["usrquota"]),
        listed_as("gquota", &["grpquota"]),
        listed_as("pquota", &["prjquota"]),
        listed_as("qnoenforce", &["uqnoenforce"]),
        perhaps_listed("noquota", &["noquota"]),
        unlisted("sunit=0"),
        unlisted("swidth=0"),
    ],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "xfs",
    mkfs: "mkfs.xfs",
    package: "xfsprogs",
    mkfs_options: &["-b", "-d", "-i", "-l", "-L", "-m", "-n", "-s"],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: CHECKSUMS,
    compression: Setting::NEVER,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: None,
    postponed: Some(Postponed {
        option: "discard",
        is_default: false,
        // Extents are discarded once the transaction that frees them is in the log. Files are
        // freed in the background, so a sync may not force it; the log's worker does.
        longest: Duration::from_secs(30),
        source: "fs.xfs.xfssyncd_centisecs in Documentation/admin-guide/xfs.rst in Linux",
    }),
    writes_directly: true,
    smallest_bytes: 300 << 20,
    made_bytes: Some(|device| (device / 2048).clamp(64 << 20, 2 << 30)),
    check: Some(MkfsCall { program: "xfs_repair", arguments: &["-n"] }),
    replay: None,
    format: |format| format.arguments(&["-q", "-K", "-m", &format!("uuid={}", uuid(format.seed))]),
    layout: Some(&layout::xfs::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(OFFSETS, SOURCE),
        has_holes: true,
        largest_volume: limit(OFFSETS, SOURCE),
        checksums: feature("of metadata", "mkfs.xfs(8)"),
        snapshots: feature("no", SOURCE),
        devices: feature("no: log and real-time data only", "mkfs.xfs(8)"),
        compression: feature("no", SOURCE),
        journal: feature("of metadata", "mkfs.xfs(8)"),
        discard: feature("by mount option or fstrim", "xfs(5)"),
        reflink: feature("yes", "mkfs.xfs(8)"),
        encryption: feature("no", SOURCE),
    },
};

//! btrfs: copy-on-write with checksums; its log tree is not a journal in the sense of the factor.
//!
//! Sources: mkfs.btrfs(8); btrfs(5): since Linux 6.2 discard=async is the default where the device
//! can discard, so off must be explicit.

use std::time::Duration;

use super::facts::{OFFSETS, feature, limit};
use super::mount_option::{MountOptions, listed_as, perhaps_listed, unlisted};
use super::{
    Bits, Facts, Filesystem, JournalSupport, MkfsCall, Postponed, Setting, SettingLevel,
    SnapshotSupport, layout, uuid,
};

/// The algorithms cover data and metadata; `off` affects only data. Without data checksums the
/// kernel does not compress.
const CHECKSUMS: Setting = Setting {
    levels: &[
        SettingLevel::made("crc32c", &["--csum", "crc32c"], 0),
        SettingLevel::made("xxhash", &["--csum", "xxhash"], 1),
        SettingLevel::made("sha256", &["--csum", "sha256"], 2),
        SettingLevel::made("blake2", &["--csum", "blake2"], 3),
        SettingLevel { hinders_compression: true, ..SettingLevel::mounted("off", &["nodatasum"]) },
    ],
    words: &["csum", "checksum", "datasum", "datacow"],
    // csum_type, in include/uapi/linux/btrfs_tree.h.
    superblock: Some(Bits { at: 65536 + 196, mask: 0xff }),
};

const COMPRESSION: Setting = Setting {
    levels: &[
        SettingLevel::OFF,
        SettingLevel::mounted("zlib", &["compress=zlib"]),
        SettingLevel::mounted("lzo", &["compress=lzo"]),
        SettingLevel::mounted("zstd", &["compress=zstd"]),
    ],
    words: &["compress"],
    superblock: None,
};

/// Of several names of an option the kernel lists one, and of a default nothing.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&[
        "acl",
        "autodefrag",
        "barrier",
        "check_int",
        "check_int_data",
        "check_int_print_mask",
        "clear_cache",
        "commit",
        "compress",
        "compress-force",
        "datacow",
        "datasum",
        "degraded",
        "device",
        "discard",
        "enospc_debug",
        "fatal_errors",
        "flushoncommit",
        "fragment",
        "inode_cache",
        "logreplay",
        "max_inline",
        "metadata_ratio",
        "norecovery",
        "recovery",
        "ref_tracker",
        "ref_verify",
        "rescan_uuid_tree",
        "rescue",
        "skip_balance",
        "space_cache",
        "ssd",
        "ssd_spread",
        "subvol",
        "subvolid",
        "thread_pool",
        "treelog",
        "usebackuproot",
        "user_subvol_rm_allowed",
    ]],
    // The default number of threads depends on that of processors. A device is not shown; the
    // others take effect once, or are ignored.
    unlisted: &[
        "device",
        "inode_cache",
        "recovery",
        "thread_pool",
        // These take effect once: btrfs_clear_oneshot_options in fs/btrfs/disk-io.c.
        "clear_cache",
        "rescue=usebackuproot",
        "usebackuproot",
    ],
    aliases: &[
        // btrfs(5): "If the value is not specified, it is the same as sync".
        listed_as("discard", &["discard"]),
        listed_as("discard=sync", &["discard"]),
        listed_as("compress", &["compress=zlib"]),
        listed_as("compress-force", &["compress-force=zlib"]),
        unlisted("compress=no"),
        unlisted("compress=none"),
        unlisted("compress-force=no"),
        unlisted("compress-force=none"),
        // No interval means that of 30 s.
        unlisted("commit=0"),
        unlisted("commit=30"),
        perhaps_listed("max_inline=2048", &["max_inline=2048"]),
        perhaps_listed("max_inline=2k", &["max_inline=2048"]),
        unlisted("metadata_ratio=0"),
        unlisted("fatal_errors=bug"),
        listed_as("fragment=all", &["fragment=data"]),
        listed_as("space_cache", &["space_cache"]),
        listed_as("space_cache=v1", &["space_cache"]),
        listed_as("norecovery", &["rescue=nologreplay", "norecovery", "nologreplay"]),
        listed_as("nologreplay", &["rescue=nologreplay", "nologreplay"]),
        unlisted("acl"),
        unlisted("barrier"),
        unlisted("datacow"),
        unlisted("datasum"),
        unlisted("treelog"),
    ],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "btrfs",
    mkfs: "mkfs.btrfs",
    package: "btrfs-progs",
    mkfs_options: &[
        "-d",
        "-L",
        "-m",
        "-n",
        "-O",
        "-R",
        "-s",
        "--csum",
        "--checksum",
        "--data",
        "--features",
        "--label",
        "--metadata",
        "--nodesize",
        "--runtime-features",
        "--sectorsize",
    ],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: CHECKSUMS,
    compression: COMPRESSION,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: Some("nodiscard"),
    postponed: Some(Postponed {
        option: "discard=async",
        // Since Linux 6.2, where the device can discard.
        is_default: true,
        longest: Duration::from_mins(2),
        source: "BTRFS_DISCARD_DELAY in fs/btrfs/discard.c of Linux",
    }),
    writes_directly: true,
    smallest_bytes: 114_294_784,
    made_bytes: Some(|_| 5_800_000),
    check: Some(MkfsCall { program: "btrfs", arguments: &["check", "--readonly"] }),
    replay: None,
    format: |format| format.arguments(&["-q", "-K", "-U", &uuid(format.seed)]),
    layout: Some(&layout::btrfs::LAYOUT),
    snapshot: Some(SnapshotSupport::Directory(MkfsCall {
        program: "btrfs",
        arguments: &["subvolume", "snapshot", "."],
    })),
    facts: Facts {
        longest_name: limit(255, "btrfs(5)"),
        largest_file: limit(OFFSETS, "btrfs(5)"),
        has_holes: true,
        largest_volume: limit(1 << 64, "btrfs(5)"),
        checksums: feature("of data and metadata", "btrfs(5)"),
        snapshots: feature("writable", "btrfs-subvolume(8)"),
        devices: feature("mirroring, striping, RAID 5 and 6", "mkfs.btrfs(8)"),
        compression: feature("zlib, lzo, zstd", "btrfs(5)"),
        journal: feature("no: copy-on-write, with an fsync log", "btrfs(5)"),
        discard: feature("by default, or fstrim", "btrfs(5)"),
        reflink: feature("yes", "btrfs(5)"),
        encryption: feature("no", "btrfs(5)"),
    },
};

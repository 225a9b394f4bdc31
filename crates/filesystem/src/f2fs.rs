//! f2fs: a log-structured flash filesystem that cleans and discards in kernel threads.
//!
//! Sources: mkfs.f2fs(8) and the usage of f2fs-tools 1.15; Documentation/filesystems/f2fs.rst in
//! the kernel: discard is on by default, so off must be explicit.

use std::time::Duration;

use super::facts::{feature, limit};
use super::mount_option::{MountOptions, perhaps_listed, unlisted};
use super::{
    Bits, Facts, Filesystem, JournalSupport, MkfsCall, Postponed, Setting, SettingLevel, layout,
    uuid,
};

const MANUAL: &str = "Documentation/filesystems/f2fs.rst in Linux";
const SOURCE: &str = "fs/f2fs in Linux 6.1";

/// Inode checksums.
const CHECKSUMS: Setting = Setting {
    levels: &[
        SettingLevel::made("on", &["-O", "extra_attr,inode_checksum"], 0x20),
        SettingLevel::OFF,
    ],
    words: &["inode_checksum"],
    superblock: Some(Bits { at: FEATURES, mask: 0x20 }),
};

/// Compresses all files. It reduces writes but frees no space.
const COMPRESSION: Setting = Setting {
    levels: &[
        SettingLevel::OFF,
        compression("lzo", &["compress_algorithm=lzo", "compress_extension=*"]),
        compression("lz4", &["compress_algorithm=lz4", "compress_extension=*"]),
        compression("zstd", &["compress_algorithm=zstd", "compress_extension=*"]),
    ],
    words: &["compress"],
    superblock: Some(Bits { at: FEATURES + 1, mask: 0x20 }),
};

const fn compression(name: &'static str, mount: &'static [&'static str]) -> SettingLevel {
    SettingLevel { mount, ..SettingLevel::made(name, &["-O", "extra_attr,compression"], 0x20) }
}

/// Offset of the superblock's feature bits, in bytes from the start of the device: the field
/// `feature` of `struct f2fs_super_block` in `include/linux/f2fs_fs.h`.
const FEATURES: u64 = 1024 + 2180;

/// The kernel lists nearly all of them, defaults, too.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&[
        "acl",
        "active_logs",
        "age_extent_cache",
        "alloc_mode",
        "atgc",
        "background_gc",
        "barrier",
        "checkpoint",
        "checkpoint_merge",
        "compress_algorithm",
        "compress_cache",
        "compress_chksum",
        "compress_extension",
        "compress_log_size",
        "compress_mode",
        "data_flush",
        "disable_ext_identify",
        "disable_roll_forward",
        "discard",
        "discard_unit",
        "errors",
        "extent_cache",
        "fastboot",
        "fault_injection",
        "fault_type",
        "flush_merge",
        "fsync_mode",
        "gc_merge",
        "grpjquota",
        "grpquota",
        "heap",
        "inline_data",
        "inline_dentry",
        "inline_xattr",
        "inline_xattr_size",
        "inlinecrypt",
        "io_bits",
        "jqfmt",
        "lookup_mode",
        "memory",
        "mode",
        "nat_bits",
        "no_heap",
        "nocompress_extension",
        "norecovery",
        "prjjquota",
        "prjquota",
        "quota",
        "reserve_node",
        "reserve_root",
        "resgid",
        "resuid",
        "test_dummy_encryption",
        "user_xattr",
        "usrjquota",
        "usrquota",
        "whint_mode",
    ]],
    unlisted: &[],
    aliases: &[
        perhaps_listed("heap", &["heap"]),
        perhaps_listed("no_heap", &["no_heap"]),
        perhaps_listed("checkpoint=enable", &["checkpoint=enable"]),
        // No file of this name: the quota is in none.
        unlisted("grpjquota="),
        unlisted("prjjquota="),
        unlisted("usrjquota="),
    ],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "f2fs",
    mkfs: "mkfs.f2fs",
    package: "f2fs-tools",
    // Without -g: its only value, android, implies force.
    mkfs_options: &["-C", "-e", "-E", "-l", "-o", "-O", "-s", "-w", "-z"],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: CHECKSUMS,
    compression: COMPRESSION,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: Some("nodiscard"),
    postponed: Some(Postponed {
        option: "discard",
        is_default: true,
        // The discard thread looks once a minute, and then waits for 5 s without I/O.
        longest: Duration::from_secs(65),
        source: "max_discard_issue_time and discard_idle_interval in \
                 Documentation/ABI/testing/sysfs-fs-f2fs in Linux, their values in fs/f2fs/f2fs.h",
    }),
    writes_directly: true,
    smallest_bytes: 52 << 20,
    made_bytes: Some(|device| (device / 20).min(126_000_000)),
    check: Some(MkfsCall { program: "fsck.f2fs", arguments: &["--dry-run"] }),
    replay: None,
    // -t 0: no discards. -r: the first checkpoint's version is not random.
    format: |format| format.arguments(&["-q", "-t", "0", "-r", "-U", &uuid(format.seed)]),
    layout: Some(&layout::f2fs::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(4_329_687_105_536, "max_file_blocks in fs/f2fs/super.c of Linux"),
        has_holes: true,
        largest_volume: limit(16 << 40, SOURCE),
        checksums: feature("of checkpoints; of inodes, if enabled by mkfs", MANUAL),
        snapshots: feature("no", MANUAL),
        devices: feature("concatenation, also zoned with conventional", "mkfs.f2fs(8)"),
        compression: feature("lzo, lz4, zstd, if enabled by mkfs", MANUAL),
        journal: feature("no: a log with checkpoints", MANUAL),
        discard: feature("by default, or fstrim", MANUAL),
        reflink: feature("no", SOURCE),
        encryption: feature("of directories, if enabled by mkfs", MANUAL),
    },
};

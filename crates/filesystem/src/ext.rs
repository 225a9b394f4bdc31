//! What ext2, ext3 and ext4 share: one mkfs (mke2fs) and its extended options.
//!
//! Sources: mke2fs(8) of e2fsprogs 1.47; Documentation/filesystems/ext4, fs/ext4/super.c and
//! fs/ext2/super.c in the kernel.

use super::mount_option::{MountOptions, listed_as, perhaps_listed, unlisted};
use super::{Driver, MkfsCall, MkfsOptions, uuid};

/// Options that shape the filesystem, without those that name devices or files, force, or only
/// print.
pub const OPTIONS: &[&str] =
    &["-b", "-C", "-E", "-g", "-G", "-i", "-I", "-J", "-L", "-m", "-N", "-O", "-T"];

/// Options that ext4's driver takes for each of the types that it mounts; ext2's own driver knows
/// some of them.
const OF_ALL: &[&str] = &[
    "abort",
    "acl",
    "auto_da_alloc",
    "barrier",
    "bh",
    "block_validity",
    "bsddf",
    "bsdgroups",
    "check",
    "dax",
    "debug",
    "debug_want_extra_isize",
    "discard",
    "errors",
    "fc_debug_max_replay",
    "grpid",
    "grpjquota",
    "grpquota",
    "i_version",
    "init_itable",
    "inlinecrypt",
    "inode_readahead_blks",
    "journal",
    "jqfmt",
    "max_batch_time",
    "max_dir_size_kb",
    "mb_optimize_scan",
    "mblk_io_submit",
    "min_batch_time",
    "minixdf",
    "no_mbcache",
    "no_prefetch_block_bitmaps",
    "nombcache",
    "nouid32",
    "oldalloc",
    "orlov",
    "prefetch_block_bitmaps",
    "prjquota",
    "quota",
    "reservation",
    "resgid",
    "resuid",
    "sb",
    "stripe",
    "sysvgroups",
    "test_dummy_encryption",
    "user_xattr",
    "usrjquota",
    "usrquota",
    "warn_on_error",
];

/// Options of a journal: `MOPT_NO_EXT2` in fs/ext4/super.c.
const OF_JOURNAL: &[&str] = &[
    "commit",
    "data",
    "data_err",
    "journal_dev",
    "journal_ioprio",
    "journal_path",
    "noload",
    "norecovery",
];

/// Options that ext4's driver takes for its own type only (`MOPT_EXT4_ONLY` there), as which it
/// also mounts ext2.
const OF_TYPE_EXT4: &[&str] = &["delalloc", "dioread_lock", "dioread_nolock", "fc_debug_force"];

pub const EXT2_OPTIONS: MountOptions =
    MountOptions { names: &[OF_ALL, OF_TYPE_EXT4, &["xip"]], ..SHOWN };

pub const EXT3_OPTIONS: MountOptions = MountOptions { names: &[OF_ALL, OF_JOURNAL], ..SHOWN };

pub const EXT4_OPTIONS: MountOptions = MountOptions {
    names: &[OF_ALL, OF_JOURNAL, OF_TYPE_EXT4, &["journal_async_commit", "journal_checksum"]],
    ..SHOWN
};

/// How options are shown. The driver of ext4 lists one by its first name, and all of them in
/// `/proc/fs/ext4/DEVICE/options`.
const SHOWN: MountOptions = MountOptions {
    names: &[],
    unlisted: &[
        // Ignored, because each is what the driver always does, or no longer can.
        "bh",
        "check",
        "i_version",
        "journal",
        "mblk_io_submit",
        "oldalloc",
        "orlov",
        "prefetch_block_bitmaps",
        "reservation",
        // In force, but not shown.
        "debug_want_extra_isize",
        "fc_debug_max_replay",
        "journal_dev",
        "journal_ioprio",
        "journal_path",
        // Only a value that differs from what the number of block groups suggests is shown.
        "mb_optimize_scan",
    ],
    aliases: &[
        listed_as("barrier=1", &["barrier"]),
        listed_as("barrier=0", &["nobarrier"]),
        listed_as("auto_da_alloc=1", &["auto_da_alloc"]),
        listed_as("auto_da_alloc=0", &["noauto_da_alloc"]),
        unlisted("bsddf"),
        listed_as("bsdgroups", &["grpid"]),
        perhaps_listed("nogrpid", &["nogrpid", "sysvgroups"]),
        perhaps_listed("sysvgroups", &["nogrpid"]),
        // No interval means that of 5 s.
        perhaps_listed("commit=0", &["commit=5"]),
        perhaps_listed("commit=5", &["commit=5"]),
        perhaps_listed("data=ordered", &["data=ordered"]),
        unlisted("data_err=ignore"),
        listed_as("dax", &["dax", "dax=always"]),
        perhaps_listed("dioread_lock", &["nodioread_nolock", "dioread_lock"]),
        // The driver of ext2 lists only what differs from the superblock.
        perhaps_listed("errors=continue", &["errors=continue"]),
        perhaps_listed("init_itable", &["init_itable=10"]),
        listed_as("no_mbcache", &["no_mbcache", "nombcache"]),
        listed_as("nombcache", &["no_mbcache", "nombcache"]),
        listed_as("noload", &["norecovery", "noload"]),
        listed_as("norecovery", &["norecovery", "noload"]),
        listed_as("quota", &["quota", "usrquota"]),
        perhaps_listed("acl", &["acl"]),
        perhaps_listed("user_xattr", &["user_xattr"]),
        perhaps_listed("resgid=0", &["resgid=0"]),
        perhaps_listed("resuid=0", &["resuid=0"]),
        unlisted("sb=1"),
        // No file of this name: the quota is in none.
        unlisted("grpjquota="),
        unlisted("usrjquota="),
    ],
};

/// The driver that publishes itself in `/sys/fs/ext4`, `/proc/fs/ext4` and `/proc/fs/jbd2`.
pub const EXT4: &str = "ext4";

/// -n answers every question with no.
pub const CHECK: MkfsCall = MkfsCall { program: "e2fsck", arguments: &["-f", "-n"] };

/// The driver of ext4, asked for by one of the types that it mounts.
pub const fn driver(kind: &'static str) -> Driver {
    Driver { name: EXT4, kind, mount: &[], discards: true }
}

/// The inode tables on a device, in bytes: 256 for every 16 KiB, or for every 4 KiB of a device
/// below 512 MiB (mke2fs.conf(5)).
pub fn tables_bytes(device_bytes: u64) -> u64 {
    let per_inode = if device_bytes < 512 << 20 { 4096 } else { 16384 };
    device_bytes / per_inode * 256
}

/// The usual journal of a device, in bytes (`ext2fs_default_journal_size` in e2fsprogs).
pub fn journal_bytes(device_bytes: u64) -> u64 {
    const SIZES: [(u64, u64); 7] = [
        (128 << 30, 1 << 30),
        (64 << 30, 512 << 20),
        (32 << 30, 256 << 20),
        (16 << 30, 128 << 20),
        (2 << 30, 64 << 20),
        (1 << 30, 32 << 20),
        (512 << 20, 16 << 20),
    ];
    let of_size = SIZES.iter().find(|(least, _)| device_bytes >= *least);
    of_size.map_or(device_bytes / 64, |(_, journal)| *journal)
}

/// mke2fs arguments: quiet, no discard (the lab prepares the device itself), inode tables and
/// journal written now instead of by a kernel thread during the measurement, and a UUID and a
/// directory hash seed drawn from the trial's seed instead of the system's random pool.
pub fn arguments(format: &MkfsOptions) -> Vec<String> {
    let uuid = uuid(format.seed);
    let mut extended = format!("nodiscard,lazy_itable_init=0,lazy_journal_init=0,hash_seed={uuid}");
    // mke2fs uses only the last -E, so the plan's options are merged into ours.
    let mut others = Vec::new();
    let mut words = format.extra.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("-E") {
            Some("") => extended.extend(words.next().map(|options| format!(",{options}"))),
            Some(options) => extended.extend([",", options]),
            None => others.push(word.clone()),
        }
    }
    let mut arguments = ["-q", "-U", &uuid, "-E", &extended].map(str::to_owned).to_vec();
    if let Some(journal) = format.journal {
        let feature = if journal { "has_journal" } else { "^has_journal" };
        arguments.extend(["-O".to_owned(), feature.to_owned()]);
    }
    arguments.extend(others);
    arguments
}

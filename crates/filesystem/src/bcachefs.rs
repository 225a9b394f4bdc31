//! bcachefs: a copy-on-write B-tree with checksums, compression and multiple devices.
//!
//! It was part of Linux 6.7 to 6.17 and has been an out-of-tree module since. Debian 12 has neither
//! the module nor the tools, so no test makes one.
//!
//! Sources: bcachefs(8) of bcachefs-tools 1.9; fs/bcachefs in Linux 6.12.

use super::facts::{OFFSETS, feature, limit};
use super::{
    Facts, Filesystem, JournalSupport, MkfsCall, MountOptions, Setting, SnapshotSupport, uuid,
};

const MANUAL: &str = "bcachefs(8)";
const SOURCE: &str = "fs/bcachefs in Linux 6.12";

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "bcachefs",
    mkfs: "mkfs.bcachefs",
    package: "bcachefs-tools",
    mkfs_options: &[
        "--block_size",
        "--btree_node_size",
        "--compression",
        "--data_checksum",
        "--fs_label",
        "--metadata_checksum",
        "--str_hash",
    ],
    mount_options: MountOptions::UNKNOWN,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: Setting::UNKNOWN,
    compression: Setting::UNKNOWN,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: Some("nodiscard"),
    postponed: None,
    writes_directly: true,
    smallest_bytes: 64 << 20,
    // Nobody has measured it here.
    made_bytes: None,
    check: Some(MkfsCall { program: "bcachefs", arguments: &["fsck", "-n"] }),
    replay: None,
    format: |format| format.arguments(&["--quiet", "--uuid", &uuid(format.seed)]),
    layout: None,
    snapshot: Some(SnapshotSupport::Directory(MkfsCall {
        program: "bcachefs",
        arguments: &["subvolume", "snapshot", "."],
    })),
    facts: Facts {
        longest_name: limit(512, SOURCE),
        largest_file: limit(OFFSETS, SOURCE),
        has_holes: true,
        largest_volume: limit(0, ""),
        checksums: feature("of data and metadata", MANUAL),
        snapshots: feature("writable", MANUAL),
        devices: feature("mirroring, striping", MANUAL),
        compression: feature("lz4, gzip, zstd", MANUAL),
        journal: feature("of metadata", SOURCE),
        discard: feature("by mount option or fstrim", MANUAL),
        reflink: feature("yes", SOURCE),
        encryption: feature("if enabled by mkfs", MANUAL),
    },
};

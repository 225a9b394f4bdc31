//! nilfs2: a log-structured filesystem with continuous checkpoints.
//!
//! A user-space cleaner, `nilfs_cleanerd`, reclaims deleted data. mount(8) starts it; mount(2),
//! which the labs call, does not. So nothing is cleaned, every write takes new space, and all data
//! of a trial, deleted or not, must fit on the device. Online discard applies to cleaned segments
//! and therefore sends nothing; fstrim trims segments never used. There is no fsck.
//!
//! Sources: mkfs.nilfs2(8), mount.nilfs2(8) of nilfs-utils 2.2, whose mkfs has no option for the
//! UUID; Documentation/filesystems/nilfs2.rst in the kernel.

use super::facts::{OFFSETS, feature, limit};
use super::mount_option::{MountOptions, unlisted};
use super::{Facts, Filesystem, JournalSupport, MkfsCall, Setting, SnapshotSupport, layout};

const MANUAL: &str = "Documentation/filesystems/nilfs2.rst in Linux";
const SOURCE: &str = "fs/nilfs2 in Linux 6.1";

/// Of defaults the kernel lists nothing.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&["barrier", "cp", "discard", "errors", "norecovery", "order"]],
    unlisted: &[],
    aliases: &[unlisted("barrier"), unlisted("errors=remount-ro"), unlisted("order=relaxed")],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "nilfs2",
    mkfs: "mkfs.nilfs2",
    package: "nilfs-tools",
    mkfs_options: &["-b", "-B", "-L", "-m", "-O"],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: Setting::UNKNOWN,
    compression: Setting::NEVER,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: None,
    postponed: None,
    writes_directly: true,
    smallest_bytes: 134_221_824,
    made_bytes: Some(|_| 2_300_000),
    check: None,
    replay: None,
    format: |format| format.arguments(&["-q", "-K"]),
    layout: Some(&layout::nilfs2::LAYOUT),
    snapshot: Some(SnapshotSupport::Device(MkfsCall { program: "mkcp", arguments: &["-s"] })),
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(OFFSETS, SOURCE),
        has_holes: true,
        largest_volume: limit(OFFSETS, SOURCE),
        checksums: feature("of segments, for recovery", MANUAL),
        snapshots: feature("continuous, read-only", MANUAL),
        devices: feature("no", MANUAL),
        compression: feature("no", MANUAL),
        journal: feature("no: a log with checkpoints", MANUAL),
        discard: feature("of cleaned segments, or fstrim", MANUAL),
        reflink: feature("no", SOURCE),
        encryption: feature("no", MANUAL),
    },
};

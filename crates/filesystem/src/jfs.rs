//! jfs: extents and a metadata log inside the filesystem.
//!
//! Sources: mkfs.jfs(8) of jfsutils 1.1.15, which refuses filesystems below 16 MiB;
//! Documentation/admin-guide/jfs.rst in the kernel. mkfs has no option for the UUID.

use super::facts::{feature, limit};
use super::mount_option::{MountOptions, listed_as, unlisted};
use super::{Facts, Filesystem, JournalSupport, MkfsCall, Setting, layout};

const SOURCE: &str = "fs/jfs in Linux 6.1";

/// Of defaults the kernel lists nothing.
const MOUNT_OPTIONS: MountOptions = MountOptions {
    names: &[&[
        "discard",
        "errors",
        "gid",
        "grpquota",
        "integrity",
        "iocharset",
        "quota",
        "resize",
        "uid",
        "umask",
        "usrquota",
    ]],
    unlisted: &[],
    aliases: &[
        unlisted("errors=remount-ro"),
        unlisted("integrity"),
        unlisted("iocharset=none"),
        listed_as("quota", &["usrquota"]),
    ],
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "jfs",
    mkfs: "mkfs.jfs",
    package: "jfsutils",
    mkfs_options: &["-L", "-s"],
    mount_options: MOUNT_OPTIONS,
    pool: None,
    journal: JournalSupport::Always,
    checksums: Setting::NEVER,
    compression: Setting::NEVER,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: None,
    postponed: None,
    writes_directly: true,
    smallest_bytes: 16 << 20,
    made_bytes: Some(|device| (device / 250).min(150_000_000)),
    check: Some(MkfsCall { program: "jfs_fsck", arguments: &["-n", "-f"] }),
    replay: Some(MkfsCall { program: "jfs_fsck", arguments: &["-a"] }),
    // -q: without it mkfs asks for confirmation.
    format: |format| format.arguments(&["-q"]),
    layout: Some(&layout::jfs::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(1 << 52, SOURCE),
        has_holes: true,
        largest_volume: limit(1 << 52, SOURCE),
        checksums: feature("no", SOURCE),
        snapshots: feature("no", SOURCE),
        devices: feature("no", SOURCE),
        compression: feature("no", SOURCE),
        journal: feature("of metadata", "Documentation/admin-guide/jfs.rst in Linux"),
        discard: feature("by mount option or fstrim", "Documentation/admin-guide/jfs.rst in Linux"),
        reflink: feature("no", SOURCE),
        encryption: feature("no", SOURCE),
    },
};

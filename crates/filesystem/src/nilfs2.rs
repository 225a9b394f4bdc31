//! nilfs2: a log-structured filesystem of continuous checkpoints.
//!
//! A cleaner in user space, `nilfs_cleanerd`, reclaims what is deleted. mount(8) starts it and
//! mount(2), which is what the labs call, does not: here nothing is cleaned, so every write takes
//! new space and a trial must fit on the device with all it deletes. Online discard is of cleaned
//! segments and therefore sends nothing; fstrim trims what no segment has taken yet. There is no
//! fsck either.
//!
//! Sources: mkfs.nilfs2(8), mount.nilfs2(8) of nilfs-utils 2.2, whose mkfs has no option for the
//! UUID; Documentation/filesystems/nilfs2.rst in the kernel.

use super::facts::{OFFSETS, feature, limit};
use super::{Call, Driver, Facts, Filesystem, Journal, Setting, Snapshot, layout};

const SOURCE: &str = "fs/nilfs2 in Linux 6.1";

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "nilfs2",
    mkfs: "mkfs.nilfs2",
    package: "nilfs-tools",
    mkfs_options: &["-b", "-B", "-L", "-m", "-O"],
    pool: None,
    journal: Journal::NotApplicable,
    checksums: Setting::UNKNOWN,
    compression: Setting::NEVER,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: None,
    writes_directly: true,
    smallest_bytes: 134_221_824,
    check: None,
    format: |format| {
        let ours = ["-q", "-K"].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
    layout: Some(&layout::nilfs2::LAYOUT),
    snapshot: Some(Snapshot::Device(Call { program: "mkcp", arguments: &["-s"] })),
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(OFFSETS, SOURCE),
        has_holes: true,
        largest_volume: limit(OFFSETS, SOURCE),
        checksums: feature(
            "of segments, for recovery",
            "Documentation/filesystems/nilfs2.rst in Linux",
        ),
        snapshots: feature(
            "continuous, read-only",
            "Documentation/filesystems/nilfs2.rst in Linux",
        ),
        devices: feature("no", "Documentation/filesystems/nilfs2.rst in Linux"),
        compression: feature("no", "Documentation/filesystems/nilfs2.rst in Linux"),
        journal: feature(
            "no: a log with checkpoints",
            "Documentation/filesystems/nilfs2.rst in Linux",
        ),
        discard: feature(
            "of cleaned segments, or fstrim",
            "Documentation/filesystems/nilfs2.rst in Linux",
        ),
        reflink: feature("no", SOURCE),
        encryption: feature("no", "Documentation/filesystems/nilfs2.rst in Linux"),
    },
};

//! XFS: allocation groups and a metadata log that cannot be switched off.
//!
//! Source: mkfs.xfs(8) of xfsprogs 6.1, which refuses filesystems below 300 MB.

use super::facts::{OFFSETS, feature, limit};
use super::{Call, Driver, Facts, Filesystem, Journal, uuid};

const SOURCE: &str = "fs/xfs in Linux 6.1";

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "xfs",
    mkfs: "mkfs.xfs",
    package: "xfsprogs",
    mkfs_options: &["-b", "-d", "-i", "-l", "-L", "-m", "-n", "-s"],
    pool: None,
    journal: Journal::NotApplicable,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: None,
    writes_directly: true,
    smallest_bytes: 300 << 20,
    check: Some(Call { program: "xfs_repair", arguments: &["-n"] }),
    format: |format| {
        let ours = ["-q", "-K", "-m", &format!("uuid={}", uuid(format.seed))].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
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

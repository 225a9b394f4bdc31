//! XFS: allocation groups and a metadata log that cannot be switched off.
//!
//! Source: mkfs.xfs(8) of xfsprogs 6.1, which refuses filesystems below 300 MB.

use super::{Check, Driver, Filesystem, Journal, uuid};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "xfs",
    mkfs: "mkfs.xfs",
    package: "xfsprogs",
    mkfs_options: &["-b", "-d", "-i", "-l", "-L", "-m", "-n", "-s"],
    journal: Journal::NotApplicable,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 300 << 20,
    check: Some(Check { program: "xfs_repair", arguments: &["-n"] }),
    format: |format| {
        let ours = ["-q", "-K", "-m", &format!("uuid={}", uuid(format.seed))].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

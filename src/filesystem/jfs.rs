//! jfs: extents and a metadata log of its own, inside the filesystem.
//!
//! Sources: mkfs.jfs(8) of jfsutils 1.1.15, which refuses filesystems below 16 MiB;
//! Documentation/admin-guide/jfs.rst in the kernel. mkfs has no option for the UUID.

use super::{Check, Driver, Filesystem, Journal};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "jfs",
    mkfs: "mkfs.jfs",
    package: "jfsutils",
    mkfs_options: &["-L", "-s"],
    journal: Journal::Always,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 16 << 20,
    check: Some(Check { program: "jfs_fsck", arguments: &["-n", "-f"] }),
    // -q: without it mkfs asks whether to go on.
    format: |format| {
        let ours = ["-q"].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

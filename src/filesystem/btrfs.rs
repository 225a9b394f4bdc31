//! btrfs: copy-on-write with checksums; its log tree is no journal in the sense of the factor.
//!
//! Sources: mkfs.btrfs(8); btrfs(5): since Linux 6.2 discard=async is on by default where the
//! device can discard, so off has to be said.

use super::{Check, Driver, Filesystem, Journal, uuid};

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
    journal: Journal::NotApplicable,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: Some("nodiscard"),
    smallest_bytes: 114_294_784,
    check: Some(Check { program: "btrfs", arguments: &["check", "--readonly"] }),
    format: |format| {
        let ours = ["-q", "-K", "-U", &uuid(format.seed)].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

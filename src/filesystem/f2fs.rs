//! f2fs: a log-structured filesystem for flash, which cleans and discards in kernel threads.
//!
//! Sources: mkfs.f2fs(8) and the usage of f2fs-tools 1.15; Documentation/filesystems/f2fs.rst in
//! the kernel: discard is on by default, so off has to be said.

use super::{Check, Driver, Filesystem, Journal, uuid};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "f2fs",
    mkfs: "mkfs.f2fs",
    package: "f2fs-tools",
    // Left out is -g, whose one value, android, contains the option to force.
    mkfs_options: &["-C", "-e", "-E", "-l", "-o", "-O", "-s", "-w", "-z"],
    journal: Journal::NotApplicable,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: Some("nodiscard"),
    smallest_bytes: 52 << 20,
    check: Some(Check { program: "fsck.f2fs", arguments: &["--dry-run"] }),
    // -t 0: mkfs discards nothing. -r: the version of the first checkpoint is not drawn at random.
    format: |format| {
        let ours = ["-q", "-t", "0", "-r", "-U", &uuid(format.seed)].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

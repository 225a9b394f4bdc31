//! reiserfs: one balanced tree and a journal that cannot be switched off; it knows no discard.
//!
//! Sources: mkreiserfs(8) of reiserfsprogs 3.6.27; fs/reiserfs in Linux 6.1, which has neither a
//! mount option for discards nor FITRIM. Linux 6.13 removed the filesystem.

use super::{Check, Driver, Filesystem, Journal, uuid};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "reiserfs",
    mkfs: "mkfs.reiserfs",
    package: "reiserfsprogs",
    mkfs_options: &[
        "-b",
        "-h",
        "-l",
        "-s",
        "-t",
        "--block-size",
        "--hash",
        "--journal-size",
        "--label",
        "--transaction-max-size",
    ],
    journal: Journal::Always,
    driver: Driver::Other,
    discard_on: None,
    discard_off: None,
    smallest_bytes: 33 << 20,
    check: Some(Check { program: "reiserfsck", arguments: &["--check", "--yes", "--quiet"] }),
    // -q: without it mkfs asks whether to go on. It takes a whole sd or hd disk only by force, so
    // there the device lab needs a partition. Which format it would choose depends on the kernel.
    format: |format| {
        let ours = ["-q", "--format", "3.6", "-h", "r5", "-u", &uuid(format.seed)];
        ours.map(str::to_owned).into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

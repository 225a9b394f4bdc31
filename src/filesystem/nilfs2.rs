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

use super::{Driver, Filesystem, Journal};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "nilfs2",
    mkfs: "mkfs.nilfs2",
    package: "nilfs-tools",
    mkfs_options: &["-b", "-B", "-L", "-m", "-O"],
    journal: Journal::NotApplicable,
    driver: Driver::Other,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 134_221_824,
    check: None,
    format: |format| {
        let ours = ["-q", "-K"].map(str::to_owned);
        ours.into_iter().chain(format.extra.iter().cloned()).collect()
    },
};

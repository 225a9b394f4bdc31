//! ext2: no journal; served by the kernel's ext4 driver on most distributions.

use super::{Driver, Filesystem, Journal, ext};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext2",
    mkfs: "mkfs.ext2",
    package: "e2fsprogs",
    mkfs_options: ext::OPTIONS,
    journal: Journal::Never,
    driver: Driver::Ext4,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 8 << 20,
    check: Some(ext::CHECK),
    // The feature is named even where it is the default, so that a changed mke2fs.conf cannot
    // hand out another filesystem than the one asked for.
    format: |format| ext::arguments(&super::Format { journal: Some(false), ..format.clone() }),
};

//! ext4: extents, delayed allocation, a journal that can be left out.

use super::{Driver, Filesystem, Journal, ext};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext4",
    mkfs: "mkfs.ext4",
    package: "e2fsprogs",
    mkfs_options: ext::OPTIONS,
    journal: Journal::Optional,
    driver: Driver::Ext4,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 16 << 20,
    check: Some(ext::CHECK),
    format: ext::arguments,
};

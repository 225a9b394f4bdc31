//! ext3: ext2 with a journal, served by the kernel's ext4 driver since Linux 4.3.

use super::{Driver, Filesystem, Journal, ext};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext3",
    mkfs: "mkfs.ext3",
    package: "e2fsprogs",
    mkfs_options: ext::OPTIONS,
    journal: Journal::Always,
    driver: Driver::Ext4,
    discard_on: Some("discard"),
    discard_off: None,
    smallest_bytes: 16 << 20,
    check: Some(ext::CHECK),
    format: |format| ext::arguments(&super::Format { journal: Some(true), ..format.clone() }),
};

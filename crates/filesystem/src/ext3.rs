//! ext3: ext2 with a journal, mounted by the kernel's ext4 driver since Linux 4.3.

use super::facts::{feature, limit};
use super::{Facts, Filesystem, Journal, Setting, ext, layout};

const SOURCE: &str = "ext4(5)";

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext3",
    mkfs: "mkfs.ext3",
    package: "e2fsprogs",
    mkfs_options: ext::OPTIONS,
    pool: None,
    journal: Journal::Always,
    // The driver refuses to mount a filesystem with metadata_csum as ext3.
    checksums: Setting::NEVER,
    compression: Setting::NEVER,
    drivers: &[ext::driver("ext3")],
    discard_on: Some("discard"),
    discard_off: None,
    writes_directly: true,
    smallest_bytes: 16 << 20,
    check: Some(ext::CHECK),
    replay: None,
    format: |format| ext::arguments(&super::Format { journal: Some(true), ..format.clone() }),
    layout: Some(&layout::ext::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, "Documentation/filesystems/ext4/directory.rst in Linux"),
        largest_file: limit(2_196_873_666_560, "ext4_max_bitmap_size in fs/ext4/super.c of Linux"),
        has_holes: true,
        largest_volume: limit(16 << 40, "Documentation/filesystems/ext4/blocks.rst in Linux"),
        checksums: feature("no", SOURCE),
        snapshots: feature("no", SOURCE),
        devices: feature("no", SOURCE),
        compression: feature("no", SOURCE),
        journal: feature("of metadata; data by mount option", "ext4(5)"),
        discard: feature("by mount option or fstrim", "ext4(5)"),
        reflink: feature("no", SOURCE),
        encryption: feature("no: not enabled by default", "ext4(5)"),
    },
};

//! ext3: ext2 with a journal, mounted by the kernel's ext4 driver since Linux 4.3.

use super::facts::{feature, limit};
use super::{Facts, Filesystem, JournalSupport, Setting, ext, ext4};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext3",
    mkfs: "mkfs.ext3",
    mount_options: ext::EXT3_OPTIONS,
    journal: JournalSupport::Always,
    // The driver refuses to mount a filesystem with metadata_csum as ext3.
    checksums: Setting::NEVER,
    drivers: &[ext::driver("ext3")],
    format: |format| ext::arguments(&super::MkfsOptions { journal: Some(true), ..format.clone() }),
    facts: Facts {
        largest_file: limit(2_196_873_666_560, "ext4_max_bitmap_size in fs/ext4/super.c of Linux"),
        largest_volume: limit(16 << 40, "Documentation/filesystems/ext4/blocks.rst in Linux"),
        checksums: feature("no", "ext4(5)"),
        journal: feature("of metadata; data by mount option", "ext4(5)"),
        encryption: feature("no: not enabled by default", "ext4(5)"),
        ..ext4::FILESYSTEM.facts
    },
    ..ext4::FILESYSTEM
};

//! ext2: no journal; its own driver, which some kernels have, or ext4's, as on most distributions.

use super::facts::{feature, limit};
use super::{Driver, Facts, Filesystem, JournalSupport, Setting, ext, ext4};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext2",
    mkfs: "mkfs.ext2",
    mount_options: ext::EXT2_OPTIONS,
    journal: JournalSupport::Never,
    // Neither driver mounts a filesystem with metadata_csum as ext2.
    checksums: Setting::NEVER,
    drivers: &[
        Driver { name: "ext2", kind: "ext2", mount: &[], discards: false },
        // What ext4's driver does by default where it is asked for ext2.
        Driver { mount: &["nodelalloc"], ..ext::driver("ext4") },
    ],
    smallest_bytes: 8 << 20,
    made_bytes: Some(ext::tables_bytes),
    // The feature is explicit even where it is the default, so that a changed mke2fs.conf cannot
    // produce a different filesystem.
    format: |format| ext::arguments(&super::MkfsOptions { journal: Some(false), ..format.clone() }),
    facts: Facts {
        largest_file: limit(2_196_873_666_560, "ext4_max_bitmap_size in fs/ext4/super.c of Linux"),
        largest_volume: limit(16 << 40, "Documentation/filesystems/ext2.rst in Linux"),
        checksums: feature("no", "ext4(5)"),
        journal: feature("no", "ext4(5)"),
        discard: feature(
            "by mount option or fstrim, with the driver of ext4 only",
            "ext4(5), ext2(5)",
        ),
        encryption: feature("no: not enabled by default", "ext4(5)"),
        ..ext4::FILESYSTEM.facts
    },
    ..ext4::FILESYSTEM
};

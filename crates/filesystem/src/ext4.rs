//! ext4: extents, delayed allocation and an optional journal.

use super::facts::{feature, limit};
use super::{Bits, Facts, Filesystem, JournalSupport, Setting, SettingLevel, ext, layout};

const SOURCE: &str = "ext4(5)";

/// Metadata checksums. Newer defaults add a checksum seed, which must go when they do.
const CHECKSUMS: Setting = Setting {
    levels: &[
        SettingLevel::made("on", &["-O", "metadata_csum"], 4),
        SettingLevel::made("off", &["-O", "^metadata_csum,^metadata_csum_seed"], 0),
    ],
    words: &["metadata_csum"],
    // The second byte of s_feature_ro_compat: Documentation/filesystems/ext4/super.rst of Linux.
    superblock: Some(Bits { at: 1024 + 0x65, mask: 4 }),
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "ext4",
    mkfs: "mkfs.ext4",
    package: "e2fsprogs",
    mkfs_options: ext::OPTIONS,
    mount_options: ext::EXT4_OPTIONS,
    pool: None,
    journal: JournalSupport::Optional,
    checksums: CHECKSUMS,
    compression: Setting::NEVER,
    drivers: &[ext::driver("ext4")],
    discard_on: Some("discard"),
    discard_off: None,
    postponed: None,
    writes_directly: true,
    smallest_bytes: 16 << 20,
    made_bytes: Some(|device| ext::tables_bytes(device) + ext::journal_bytes(device)),
    check: Some(ext::CHECK),
    replay: None,
    format: ext::arguments,
    layout: Some(&layout::ext::LAYOUT),
    snapshot: None,
    facts: Facts {
        longest_name: limit(255, "Documentation/filesystems/ext4/directory.rst in Linux"),
        largest_file: limit(
            17_592_186_040_320,
            "Documentation/filesystems/ext4/blocks.rst in Linux",
        ),
        has_holes: true,
        largest_volume: limit(
            1 << 60,
            "Documentation/filesystems/ext4/ifork.rst in Linux: 48-bit block numbers",
        ),
        checksums: feature("of metadata", "ext4(5)"),
        snapshots: feature("no", SOURCE),
        devices: feature("no", SOURCE),
        compression: feature("no", SOURCE),
        journal: feature("of metadata, or none; data by mount option", "ext4(5)"),
        discard: feature("by mount option or fstrim", "ext4(5)"),
        reflink: feature("no", SOURCE),
        encryption: feature("of directories, if enabled by mkfs", "ext4(5)"),
    },
};

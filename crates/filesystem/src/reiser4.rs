//! reiser4: a balanced tree with plugins and transactions; a patch that was never merged into
//! Linux.
//!
//! A lab kernel has it if it is built from a patched source tree: `ssdlab kernel build --source`.
//!
//! Source: mkfs.reiser4(8), fsck.reiser4(8) of reiser4progs 1.2.

use super::facts::{feature, limit};
use super::{Facts, Filesystem, JournalSupport, MkfsCall, MountOptions, Setting, uuid};

const MANUAL: &str = "mkfs.reiser4(8)";
const COMPARISON: &str = "Wikipedia, Comparison of file systems";

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "reiser4",
    mkfs: "mkfs.reiser4",
    package: "reiser4progs",
    mkfs_options: &["-L", "-o", "--label", "--override"],
    mount_options: MountOptions::UNKNOWN,
    pool: None,
    journal: JournalSupport::NotApplicable,
    checksums: Setting::UNKNOWN,
    compression: Setting::UNKNOWN,
    drivers: &[],
    discard_on: Some("discard"),
    discard_off: None,
    postponed: None,
    writes_directly: true,
    smallest_bytes: 16 << 20,
    // Nobody has measured it here.
    made_bytes: None,
    check: Some(MkfsCall { program: "fsck.reiser4", arguments: &["--check", "--yes", "--quiet"] }),
    replay: None,
    // --yes: without it mkfs asks for confirmation.
    format: |format| format.arguments(&["--yes", "-U", &uuid(format.seed)]),
    layout: None,
    snapshot: None,
    facts: Facts {
        longest_name: limit(3976, COMPARISON),
        largest_file: limit(8 << 40, COMPARISON),
        has_holes: true,
        largest_volume: limit(0, ""),
        checksums: feature("of nodes, if enabled by mkfs", MANUAL),
        snapshots: feature("no", COMPARISON),
        devices: feature("no", MANUAL),
        compression: feature("lzo, gzip, if enabled by mkfs", MANUAL),
        journal: feature("no: transactions that move blocks or log them", COMPARISON),
        discard: feature("by mount option", MANUAL),
        reflink: feature("no", COMPARISON),
        encryption: feature("no", MANUAL),
    },
};

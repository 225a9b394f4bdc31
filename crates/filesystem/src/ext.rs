//! What ext2, ext3 and ext4 share: one mkfs (mke2fs) and its extended options.
//!
//! Sources: mke2fs(8) of e2fsprogs 1.47; Documentation/filesystems/ext4 in the kernel.

use super::{Call, Driver, Format, uuid};

/// Options that shape the filesystem, without those that name devices or files, force, or only
/// print.
pub const OPTIONS: &[&str] =
    &["-b", "-C", "-E", "-g", "-G", "-i", "-I", "-J", "-L", "-m", "-N", "-O", "-T"];

/// The driver that publishes itself in `/sys/fs/ext4`, `/proc/fs/ext4` and `/proc/fs/jbd2`.
pub const EXT4: &str = "ext4";

/// -n answers every question with no.
pub const CHECK: Call = Call { program: "e2fsck", arguments: &["-f", "-n"] };

/// The driver of ext4, asked for by one of the types that it mounts.
pub const fn driver(kind: &'static str) -> Driver {
    Driver { name: EXT4, kind, mount: &[], discards: true }
}

/// mke2fs arguments: quiet, no discard (the lab prepares the device itself), inode tables and
/// journal written now instead of by a kernel thread during the measurement, and a UUID and a
/// directory hash seed drawn from the trial's seed instead of the system's random pool.
pub fn arguments(format: &Format) -> Vec<String> {
    let uuid = uuid(format.seed);
    let mut extended = format!("nodiscard,lazy_itable_init=0,lazy_journal_init=0,hash_seed={uuid}");
    // mke2fs uses only the last -E, so the plan's options are merged into ours.
    let mut others = Vec::new();
    let mut words = format.extra.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("-E") {
            Some("") => extended.extend(words.next().map(|options| format!(",{options}"))),
            Some(options) => extended.extend([",", options]),
            None => others.push(word.clone()),
        }
    }
    let mut arguments = ["-q", "-U", &uuid, "-E", &extended].map(str::to_owned).to_vec();
    if let Some(journal) = format.journal {
        let feature = if journal { "has_journal" } else { "^has_journal" };
        arguments.extend(["-O".to_owned(), feature.to_owned()]);
    }
    arguments.extend(others);
    arguments
}

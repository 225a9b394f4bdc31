//! ext4's own count of what it wrote: `lifetime_write_kbytes`.
//!
//! Source: fs/ext4/sysfs.c. It counts the sectors written to the partition since the mount, on top
//! of the superblock's total, in KiB rounded down. It is derived from the device's counter, so
//! agreement shows that the counters read are those of the device under the filesystem; it is not
//! an independent measurement.

use std::fs;
use std::path::Path;

/// KiB written over the life of the filesystem mounted from this device; `None` where no ext4
/// driver runs it.
#[must_use]
pub fn lifetime_kib(device_name: &str) -> Option<u64> {
    let path = Path::new("/sys/fs/ext4").join(device_name).join("lifetime_write_kbytes");
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

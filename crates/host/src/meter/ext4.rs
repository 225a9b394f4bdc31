//! What ext3 and ext4 count: transactions of their journal, and what they wrote.
//!
//! Sources: fs/jbd2/journal.c in the kernel, `jbd2_seq_info_show`: the first line of
//! `/proc/fs/jbd2/DEVICE-INODE/info` is `N transactions (M requested), ...`; fs/ext4/sysfs.c on
//! `lifetime_write_kbytes`: the sectors written to the partition since the mount, on top of the
//! superblock's total, in KiB rounded down. That is derived from the device's counter, so agreement
//! shows that the counters read are those of the device under the filesystem; it is not an
//! independent measurement.

use std::fs;
use std::path::Path;

/// The inode of a journal that lies on the filesystem's own device.
const INODE: u32 = 8;

/// The transactions that the journal of the filesystem on a device, by its kernel name, has
/// committed since it was mounted; `None` if it has no such journal.
pub fn commits(device: &str) -> Option<u64> {
    let path = Path::new("/proc/fs/jbd2").join(format!("{device}-{INODE}")).join("info");
    parse(&fs::read_to_string(path).ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let (count, rest) = text.split_once(' ')?;
    count.parse().ok().filter(|_| rest.starts_with("transactions"))
}

/// KiB written over the life of the filesystem mounted from this device; `None` where no ext4
/// driver runs it.
pub fn lifetime_kib(device_name: &str) -> Option<u64> {
    let path = Path::new("/sys/fs/ext4").join(device_name).join("lifetime_write_kbytes");
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests;

//! How many transactions the journal of ext3 or ext4 has committed since it was mounted.
//!
//! Source: fs/jbd2/journal.c in the kernel, `jbd2_seq_info_show`: the first line of
//! `/proc/fs/jbd2/DEVICE-INODE/info` is `N transactions (M requested), ...`.

use std::fs;
use std::path::Path;

/// The inode of a journal that lies on the filesystem's own device.
const INODE: u32 = 8;

/// The count of the filesystem on a device, by its kernel name; `None` if it has no such journal.
#[must_use]
pub fn commits(device: &str) -> Option<u64> {
    let path = Path::new("/proc/fs/jbd2").join(format!("{device}-{INODE}")).join("info");
    parse(&fs::read_to_string(path).ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let (count, rest) = text.split_once(' ')?;
    count.parse().ok().filter(|_| rest.starts_with("transactions"))
}

#[cfg(test)]
mod tests;

//! Block device ioctls on an open descriptor: no name is resolved twice.
//!
//! Source: include/uapi/linux/fs.h; `BLKGETDISKSEQ` needs Linux 5.15.

use std::fs::File;
use std::io;

use rustix::ioctl::{self, Getter, NoArg, Setter};

const BLKFLSBUF: ioctl::Opcode = 0x1261;
const BLKDISCARD: ioctl::Opcode = 0x1277;
const BLKGETSIZE64: ioctl::Opcode = 0x8008_1272;
const BLKGETDISKSEQ: ioctl::Opcode = 0x8008_1280;

pub fn size_bytes(device: &File) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 fills a u64, for which all bit patterns are valid.
    Ok(unsafe { ioctl::ioctl(device, Getter::<BLKGETSIZE64, u64>::new()) }?)
}

/// The disk sequence number, which the kernel assigns to every disk and medium that ever appeared;
/// `None` if the kernel is too old.
pub fn disk_sequence(device: &File) -> Option<u64> {
    // SAFETY: BLKGETDISKSEQ fills a u64, for which all bit patterns are valid.
    unsafe { ioctl::ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

/// Discards the first `length_bytes` of the device.
pub fn discard(device: &File, length_bytes: u64) -> io::Result<()> {
    let range = [0, length_bytes];
    // SAFETY: BLKDISCARD takes a pointer to two u64, start and length, which the kernel only
    // reads.
    Ok(unsafe { ioctl::ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }?)
}

/// Writes back and drops the block device's page cache. Caches of filesystems on it stay.
pub fn drop_caches(device: &File) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    Ok(unsafe { ioctl::ioctl(device, NoArg::<BLKFLSBUF>::new()) }?)
}

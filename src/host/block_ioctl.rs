//! Block devices through their ioctls, on a descriptor that is held: no name is looked up twice.
//!
//! Source: include/uapi/linux/fs.h; `BLKGETDISKSEQ` needs Linux 5.15.

use std::fs::File;
use std::io;

use rustix::ioctl::{self, Getter, NoArg, Setter};

const BLKFLSBUF: ioctl::Opcode = 0x1261;
const BLKDISCARD: ioctl::Opcode = 0x1277;
const BLKGETSIZE64: ioctl::Opcode = 0x8008_1272;
const BLKGETDISKSEQ: ioctl::Opcode = 0x8008_1280;

/// The size in bytes.
pub fn size_bytes(device: &File) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 fills a u64, for which all bit patterns are valid.
    Ok(unsafe { ioctl::ioctl(device, Getter::<BLKGETSIZE64, u64>::new()) }?)
}

/// The number that the kernel gives to every disk and every medium that ever appeared; `None`
/// where the kernel is too old to.
#[must_use]
pub fn disk_sequence(device: &File) -> Option<u64> {
    // SAFETY: BLKGETDISKSEQ fills a u64, for which all bit patterns are valid.
    unsafe { ioctl::ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

/// Gives `length_bytes` from the beginning on back to the drive.
pub fn discard(device: &File, length_bytes: u64) -> io::Result<()> {
    let range = [0, length_bytes];
    // SAFETY: BLKDISCARD takes a pointer to two u64, start and length, which the kernel only
    // reads.
    Ok(unsafe { ioctl::ioctl(device, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }?)
}

/// Writes what the device's own cache holds, and drops it. Caches of filesystems on it stay.
pub fn drop_caches(device: &File) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    Ok(unsafe { ioctl::ioctl(device, NoArg::<BLKFLSBUF>::new()) }?)
}

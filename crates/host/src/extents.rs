//! The device addresses of a file's blocks: FIEMAP, and FIBMAP where a filesystem lacks it.
//!
//! Source: Documentation/filesystems/fiemap.rst and include/uapi/linux/fiemap.h. FIBMAP asks for
//! one block at a time and needs root.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::io::Errno;
use rustix::ioctl::{self, Updater};

/// `FS_IOC_FIEMAP`.
const FIEMAP: ioctl::Opcode = 0xc020_660b;
const FIBMAP: ioctl::Opcode = 1;

/// Extents asked for at once.
const BATCH: u32 = 128;

const FLAG_SYNC: u32 = 1;

/// Set in the last extent of a file.
const LAST: u32 = 0x1;

/// Extents without an address: unknown, delayed allocation, encoded (compressed), encrypted, or
/// inside the inode or another block.
const WITHOUT_PLACE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// `struct fiemap` with room for some extents.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH as usize],
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The device addresses of a file's data, in bytes and in file order; data without an address are
/// left out. `None` if the filesystem does not support this.
pub fn extents(file: &File, block_bytes: u64) -> io::Result<Option<Vec<Range<u64>>>> {
    match by_fiemap(file) {
        Ok(places) => Ok(Some(places)),
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => match by_fibmap(file, block_bytes) {
            Ok(places) => Ok(Some(places)),
            Err(error) if is_unable(&error) => Ok(None),
            Err(error) => Err(error),
        },
        Err(errno) => Err(errno.into()),
    }
}

fn is_unable(error: &io::Error) -> bool {
    let unable = [Errno::OPNOTSUPP, Errno::NOTTY, Errno::INVAL, Errno::PERM];
    unable.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn by_fiemap(file: &File) -> Result<Vec<Range<u64>>, Errno> {
    let mut places = Vec::new();
    let mut start = 0;
    loop {
        let mut map = Fiemap {
            start,
            length: u64::MAX - start,
            flags: FLAG_SYNC,
            mapped_extents: 0,
            extent_count: BATCH,
            reserved: 0,
            extents: [Extent::default(); BATCH as usize],
        };
        // SAFETY: FIEMAP reads the header of a struct fiemap and writes it and at most
        // `extent_count` extents behind it, for which there is room.
        unsafe { ioctl::ioctl(file, Updater::<FIEMAP, Fiemap>::new(&mut map)) }?;
        let mapped = &map.extents[..map.mapped_extents.min(BATCH) as usize];
        let with_place = mapped.iter().filter(|extent| extent.flags & WITHOUT_PLACE == 0);
        places.extend(with_place.map(|extent| extent.physical..extent.physical + extent.length));
        match mapped.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical + last.length,
            _ => return Ok(places),
        }
    }
}

fn by_fibmap(file: &File, block_bytes: u64) -> io::Result<Vec<Range<u64>>> {
    let mut places: Vec<Range<u64>> = Vec::new();
    for number in 0..file.metadata()?.len().div_ceil(block_bytes) {
        // The kernel knows numbers of 31 bits here.
        let mut block = i32::try_from(number).map_err(io::Error::other)?;
        // SAFETY: FIBMAP reads an int and writes it.
        unsafe { ioctl::ioctl(file, Updater::<FIBMAP, i32>::new(&mut block)) }?;
        // 0 is a hole.
        if block != 0 {
            let start = u64::from(block.cast_unsigned()) * block_bytes;
            match places.last_mut() {
                Some(last) if last.end == start => last.end += block_bytes,
                _ => places.push(start..start + block_bytes),
            }
        }
    }
    Ok(places)
}

//! What a mounted btrfs filesystem says of itself: chunks, devices, and paths of inodes.
//!
//! Sources: `include/uapi/linux/btrfs.h` and `btrfs_tree.h`. The chunk tree is read as it is in
//! memory, so chunks that were just allocated are in it; the device itself is not opened.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::ioctl::{self, Getter, Updater};

/// `BTRFS_IOC_TREE_SEARCH`, `BTRFS_IOC_INO_LOOKUP`, `BTRFS_IOC_FS_INFO`, `BTRFS_IOC_DEV_INFO`.
const TREE_SEARCH: ioctl::Opcode = 0xd000_9411;
const INO_LOOKUP: ioctl::Opcode = 0xd000_9412;
const FS_INFO: ioctl::Opcode = 0x8400_941f;
const DEV_INFO: ioctl::Opcode = 0xd000_941e;

const CHUNK_TREE: u64 = 3;
const CHUNKS: u64 = 256;
const CHUNK_ITEM: u32 = 228;
/// The first inode of every subvolume.
const ROOT_FOLDER: u64 = 256;
/// Profiles whose stripes are parts, not copies: RAID0, RAID10, RAID5, RAID6.
const STRIPED: u64 = 1 << 3 | 1 << 6 | 1 << 7 | 1 << 8;
/// The bytes before the stripes of a chunk item, and of a stripe.
const CHUNK_HEAD: usize = 48;
const STRIPE: usize = 32;

/// `struct btrfs_ioctl_search_args`.
#[repr(C)]
struct Search {
    tree: u64,
    min_objectid: u64,
    max_objectid: u64,
    min_offset: u64,
    max_offset: u64,
    min_transid: u64,
    max_transid: u64,
    min_type: u32,
    max_type: u32,
    items: u32,
    unused: u32,
    unused_more: [u64; 4],
    buffer: [u8; 3992],
}

/// `struct btrfs_ioctl_ino_lookup_args`.
#[repr(C)]
struct Lookup {
    tree: u64,
    inode: u64,
    name: [u8; 4080],
}

/// `struct btrfs_ioctl_fs_info_args`.
#[repr(C)]
struct FilesystemInfo {
    last_device: u64,
    devices: u64,
    fsid: [u8; 16],
    node_bytes: u32,
    rest: [u8; 988],
}

/// `struct btrfs_ioctl_dev_info_args`.
#[repr(C)]
struct DeviceInfo {
    id: u64,
    uuid: [u8; 16],
    sizes: [u64; 2],
    rest: [u64; 379],
    path: [u8; 1024],
}

/// A chunk, and where its copies are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkPlace {
    /// Its logical addresses.
    pub logical: Range<u64>,
    /// The device's number and the first byte there, of each copy.
    pub copies: Vec<(u64, u64)>,
}

/// A mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BtrfsFacts {
    /// Its identifier.
    pub fsid: [u8; 16],
    /// The length of a tree's block.
    pub node_bytes: u64,
    /// The number and the node of each device.
    pub devices: Vec<(u64, PathBuf)>,
    /// The name of its backing device.
    pub backing: Option<String>,
}

/// Facts about a mounted filesystem, given any of its files.
pub fn facts(file: &File) -> io::Result<BtrfsFacts> {
    // SAFETY: FS_INFO fills a struct of 1024 bytes, for which all bit patterns are valid.
    let info = unsafe { ioctl::ioctl(file, Getter::<FS_INFO, FilesystemInfo>::new()) }?;
    let devices = (1..=info.last_device).filter_map(|id| Some((id, device(file, id)?))).collect();
    let hex = hex::encode(info.fsid);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    let link = fs::canonicalize(Path::new("/sys/fs/btrfs").join(parts).join("bdi"));
    let backing = link.ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
    Ok(BtrfsFacts { fsid: info.fsid, node_bytes: info.node_bytes.into(), devices, backing })
}

fn device(file: &File, id: u64) -> Option<PathBuf> {
    let (uuid, sizes, rest) = ([0; 16], [0; 2], [0; 379]);
    let mut info = DeviceInfo { id, uuid, sizes, rest, path: [0; 1024] };
    // SAFETY: DEV_INFO reads and writes a struct of 4096 bytes.
    unsafe { ioctl::ioctl(file, Updater::<DEV_INFO, DeviceInfo>::new(&mut info)) }.ok()?;
    let path = info.path.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(String::from_utf8(path.to_vec()).ok()?))
}

/// The chunks of a mounted filesystem whose stripes are whole copies.
pub fn chunks(file: &File) -> io::Result<Vec<ChunkPlace>> {
    let mut chunks = Vec::new();
    let mut from = 0;
    loop {
        let mut search = Search {
            tree: CHUNK_TREE,
            min_objectid: CHUNKS,
            max_objectid: CHUNKS,
            min_offset: from,
            max_offset: u64::MAX,
            min_transid: 0,
            max_transid: u64::MAX,
            min_type: CHUNK_ITEM,
            max_type: CHUNK_ITEM,
            items: 4096,
            unused: 0,
            unused_more: [0; 4],
            buffer: [0; 3992],
        };
        // SAFETY: TREE_SEARCH reads and writes a struct of 4096 bytes.
        unsafe { ioctl::ioctl(file, Updater::<TREE_SEARCH, Search>::new(&mut search)) }?;
        let mut rest = &search.buffer[..];
        for _ in 0..search.items {
            // The head: transid, objectid and offset of 8 bytes, type and length of 4.
            let (Some(start), Some(length)) = (number(rest, 16, 8), number(rest, 28, 4)) else {
                break;
            };
            let end = 32_usize.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
            let Some(item) = rest.get(32..end) else { break };
            chunks.extend(chunk(start, item));
            rest = &rest[end..];
            from = start.saturating_add(1);
        }
        if search.items == 0 {
            return Ok(chunks);
        }
    }
}

/// A chunk item: length, owner, stripe length, type, three numbers of 4 bytes, the number of
/// stripes and of their parts; then the stripes.
fn chunk(start: u64, item: &[u8]) -> Option<ChunkPlace> {
    let (length, kind) = (number(item, 0, 8)?, number(item, 24, 8)?);
    if kind & STRIPED != 0 {
        return None;
    }
    let stripes = usize::try_from(number(item, 44, 2)?).ok()?;
    let copies = (0..stripes).map(|index| {
        let at = CHUNK_HEAD + index * STRIPE;
        Some((number(item, at, 8)?, number(item, at + 8, 8)?))
    });
    let logical = start..start.checked_add(length)?;
    Some(ChunkPlace { logical, copies: copies.collect::<Option<_>>()? })
}

fn number(bytes: &[u8], offset: usize, size: usize) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..size)?.copy_from_slice(bytes.get(offset..offset.checked_add(size)?)?);
    Some(u64::from_le_bytes(wide))
}

/// The number of the subvolume that an open folder is in.
pub fn subvolume(file: &File) -> io::Result<u64> {
    Ok(look_up(file, 0, ROOT_FOLDER)?.tree)
}

/// The path of an inode within its subvolume; `None` if it was deleted.
pub fn path_of(file: &File, tree: u64, inode: u64) -> io::Result<Option<PathBuf>> {
    let found = match look_up(file, tree, inode) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let name = found.name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = String::from_utf8_lossy(name.strip_suffix(b"/").unwrap_or(name)).into_owned();
    Ok((!name.is_empty()).then(|| PathBuf::from(name)))
}

fn look_up(file: &File, tree: u64, inode: u64) -> Result<Box<Lookup>, Errno> {
    let mut lookup = Box::new(Lookup { tree, inode, name: [0; 4080] });
    // SAFETY: INO_LOOKUP reads and writes a struct of 4096 bytes.
    unsafe { ioctl::ioctl(file, Updater::<INO_LOOKUP, Lookup>::new(&mut lookup)) }?;
    Ok(lookup)
}

#[cfg(test)]
mod tests;

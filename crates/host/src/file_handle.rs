//! The path of a file by its inode's number.
//!
//! Sources: `open_by_handle_at(2)`; `fs/exportfs/expfs.c` and `include/linux/exportfs.h` for the
//! types of handles: ext4, F2FS and most others take 32 bits of inode and 32 of generation, where 0
//! is any; XFS takes 64 bits of inode (`fs/xfs/xfs_export.h`) and insists on the generation, which
//! `XFS_IOC_BULKSTAT` tells (`fs/xfs/libxfs/xfs_fs.h`). It needs `CAP_DAC_READ_SEARCH`.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::ioctl::{self, Updater};

/// `FILEID_INO32_GEN`.
const SHORT: i32 = 1;
/// `FILEID_INO32_GEN_PARENT`.
const SHORT_WITH_PARENT: i32 = 2;
/// The same with `XFS_FILEID_TYPE_64FLAG`.
const LONG: i32 = 0x81;
const LONG_WITH_PARENT: i32 = 0x82;
/// `FILEID_BTRFS_WITHOUT_PARENT` and `FILEID_BTRFS_WITH_PARENT`: 64 bits of inode, 64 of the
/// subvolume, 32 of generation.
const BTRFS: i32 = 0x4d;
const BTRFS_WITH_PARENT: i32 = 0x4e;
/// `XFS_IOC_BULKSTAT`: `_IOR('X', 127, struct xfs_bulkstat_req)`, whose header has 64 bytes.
const BULKSTAT: ioctl::Opcode = 0x8040_587f;

/// The longest handle (`MAX_HANDLE_SZ`).
const MOST_BYTES: usize = 128;

/// `struct file_handle` with room for the longest handle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct FileHandle {
    bytes: u32,
    kind: i32,
    words: [u32; MOST_BYTES / 4],
}

/// The file that a handle is of, in filesystems whose handles tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandledFile {
    /// The tree that its number is of: a subvolume of btrfs, 0 elsewhere.
    pub tree: u64,
    /// Its inode's number.
    pub inode: u64,
    /// The generation of that number.
    pub generation: u32,
}

impl FileHandle {
    fn new(kind: i32, words: &[u32]) -> Self {
        let mut handle = Self { bytes: 0, kind, words: [0; MOST_BYTES / 4] };
        for (own, word) in handle.words.iter_mut().zip(words) {
            *own = *word;
            handle.bytes += 4;
        }
        handle
    }

    /// Reads a `struct file_handle`, which may have other bytes behind it. Returns its length, too.
    pub(super) fn parse(bytes: &[u8]) -> Option<(Self, usize)> {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let length = usize::try_from(word(0)?).ok().filter(|length| *length <= MOST_BYTES)?;
        let end = 8 + length;
        // Lengths are whole words in every filesystem that makes handles of its inodes.
        let words: Vec<u32> = (8..end).step_by(4).map(word).collect::<Option<_>>()?;
        let handle = Self::new(word(4)?.cast_signed(), &words);
        Some((handle, end))
    }

    /// The file that it is of; `None` for a filesystem that is not known here.
    pub fn file(&self) -> Option<HandledFile> {
        let long = |at: usize| u64::from(self.words[at + 1]) << 32 | u64::from(self.words[at]);
        let [first, second, third, ..] = self.words;
        let (tree, inode, generation) = match self.kind {
            SHORT | SHORT_WITH_PARENT => (0, u64::from(first), second),
            LONG | LONG_WITH_PARENT => (0, long(0), third),
            BTRFS | BTRFS_WITH_PARENT => (long(2), long(0), self.words[4]),
            _ => return None,
        };
        Some(HandledFile { tree, inode, generation })
    }
}

/// `struct xfs_bulkstat_req` with room for one inode.
#[repr(C)]
struct Bulkstat {
    first_inode: u64,
    flags: u32,
    wanted: u32,
    found: u32,
    group: u32,
    reserved: [u64; 5],
    inode: u64,
    before_generation: [u64; 7],
    generation: u32,
    rest: [u8; 124],
}

/// How a filesystem is asked for a file by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleKind {
    /// By its number alone.
    AnyGeneration,
    Xfs,
}

/// The path of a file in a mounted filesystem, below the root of the caller. `None` if it was
/// deleted, or its name is not in memory any more.
pub fn path_of(mount: &File, kind: HandleKind, inode: u64) -> io::Result<Option<PathBuf>> {
    let handle = match kind {
        HandleKind::AnyGeneration => {
            let number = u32::try_from(inode).map_err(io::Error::other)?;
            FileHandle::new(SHORT, &[number, 0])
        }
        HandleKind::Xfs => {
            let Some(generation) = generation(mount, inode)? else { return Ok(None) };
            let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0);
            let (low, high) = (half(inode), half(inode >> 32));
            FileHandle::new(LONG, &[low, high, generation])
        }
    };
    path_by(mount, &handle)
}

/// The path of what a handle is of, as [`path_of`] gives it.
pub fn path_by(mount: &File, handle: &FileHandle) -> io::Result<Option<PathBuf>> {
    let Some(file) = open(mount, handle)? else { return Ok(None) };
    let path = fs::read_link(Path::new("/proc/self/fd").join(file.as_raw_fd().to_string()))?;
    // A file whose name the kernel has dropped from memory is at the root, as if it were that.
    let is_named = path != Path::new("/") && !path.to_string_lossy().ends_with(" (deleted)");
    Ok(is_named.then_some(path))
}

fn open(mount: &File, handle: &FileHandle) -> io::Result<Option<OwnedFd>> {
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    // SAFETY: the handle is a `struct file_handle` followed by the bytes that its head announces,
    // which the kernel only reads.
    let opened = unsafe {
        let handle = std::ptr::from_ref(handle);
        libc::syscall(libc::SYS_open_by_handle_at, mount.as_raw_fd(), handle, flags)
    };
    let Ok(descriptor) = i32::try_from(opened) else { return Ok(None) };
    if descriptor >= 0 {
        // SAFETY: the kernel has just opened it for this process.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor) }));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ESTALE | libc::ENOENT) => Ok(None),
        _ => Err(error),
    }
}

fn generation(mount: &File, inode: u64) -> io::Result<Option<u32>> {
    let mut request = Bulkstat {
        first_inode: inode,
        flags: 0,
        wanted: 1,
        found: 0,
        group: 0,
        reserved: [0; 5],
        inode: 0,
        before_generation: [0; 7],
        generation: 0,
        rest: [0; 124],
    };
    // SAFETY: BULKSTAT reads the header and writes it and at most `wanted` inodes of 192 bytes
    // behind it, for which there is room.
    unsafe { ioctl::ioctl(mount, Updater::<BULKSTAT, Bulkstat>::new(&mut request)) }?;
    Ok((request.found == 1 && request.inode == inode).then_some(request.generation))
}

#[cfg(test)]
mod tests;

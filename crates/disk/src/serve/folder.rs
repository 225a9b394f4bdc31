//! Defines the FUSE filesystem: a folder with one file, which is the disk.
//!
//! Reads and writes bypass the page cache, so that the disk sees each of them, and must be whole
//! sectors. The mapping of block requests by a loop device (`drivers/block/loop.c`) is reversed: a
//! punched hole is a discard, a zeroed range is write-zeroes, `fsync` is a flush.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::backend::lock;
use crate::{AnyBackend, BackendError, DiskShape};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;
use ssdlab_flash::{Extent, Nanos, Refusal};
use ssdlab_trace::RequestKind;

use crate::serve::answers::AnswerQueue;
use crate::serve::clock::MonotonicClock;
use crate::serve::counts::RequestCounts;

/// The name of the file.
pub const FILE: &str = "disk";

const FOLDER_NUMBER: INodeNo = INodeNo::ROOT;
const FILE_NUMBER: INodeNo = INodeNo(2);

/// The longest request; the kernel splits longer ones.
const LONGEST_BYTES: u32 = 1 << 20;

/// The maximum number of outstanding requests of the kernel: more than the default depth of any
/// block-layer queue.
const MOST_AT_ONCE: u16 = 512;

/// How long the kernel may cache attributes and entries: only data ever change.
const FOR_EVER: Duration = Duration::from_hours(24);

/// A loop device takes its discard granularity from here (`loop_update_limits`).
const BLOCK_BYTES: u32 = 4096;

/// A backend, and the counts of requests.
pub struct CountedBackend {
    pub backend: AnyBackend<'static>,
    pub counts: RequestCounts,
}

pub struct Folder {
    disk: Arc<Mutex<CountedBackend>>,
    answers: Arc<AnswerQueue>,
    clock: MonotonicClock,
    capacity_bytes: u64,
    takes_discards: bool,
    made: SystemTime,
}

/// The result of a command, and when it is due.
#[derive(Clone, Copy)]
struct CommandOutcome {
    due: Nanos,
    done: Result<(), Errno>,
}

impl Folder {
    pub fn new(
        disk: Arc<Mutex<CountedBackend>>,
        shape: &DiskShape,
        answers: Arc<AnswerQueue>,
        clock: MonotonicClock,
    ) -> Self {
        let capacity_bytes = lock(&disk).backend.capacity_bytes();
        Self {
            disk,
            answers,
            clock,
            capacity_bytes,
            takes_discards: shape.discards,
            made: SystemTime::now(),
        }
    }

    /// Performs a command. The time is read under the lock, so that it never goes backwards.
    fn perform(
        &self,
        kind: RequestKind,
        extent: Extent,
        command: impl FnOnce(&mut AnyBackend<'static>, Nanos) -> Result<Nanos, BackendError>,
    ) -> CommandOutcome {
        self.answers.take();
        let mut disk = lock(&self.disk);
        let now = self.clock.now();
        match command(&mut disk.backend, now) {
            Ok(due) => {
                disk.counts.command(kind, extent);
                CommandOutcome { due, done: Ok(()) }
            }
            Err(error) => {
                disk.counts.refused += 1;
                CommandOutcome { due: now, done: Err(errno(&error)) }
            }
        }
    }

    /// Replies when the outcome is due.
    fn answer(
        &self,
        outcome: CommandOutcome,
        reply: impl FnOnce(Result<(), Errno>) + Send + 'static,
    ) {
        self.answers.give(outcome.due, move || reply(outcome.done));
    }

    fn attributes(&self, number: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size, nlink) = match number {
            FOLDER_NUMBER => (FileType::Directory, 0o700, 0, 2),
            FILE_NUMBER => (FileType::RegularFile, 0o600, self.capacity_bytes, 1),
            _ => return None,
        };
        Some(FileAttr {
            ino: number,
            size,
            blocks: size / 512,
            atime: self.made,
            mtime: self.made,
            ctime: self.made,
            crtime: self.made,
            kind,
            perm,
            nlink,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        })
    }

    fn say_attributes(&self, number: INodeNo, reply: ReplyAttr) {
        match self.attributes(number) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }
}

/// The error for the kernel, as from a disk's own driver.
fn errno(error: &BackendError) -> Errno {
    match error {
        BackendError::Refused(Refusal::Misaligned { .. }) => Errno::EINVAL,
        BackendError::Refused(Refusal::OutOfRange { .. }) => Errno::ENOSPC,
        BackendError::Refused(Refusal::WornOut) | BackendError::File { .. } => Errno::EIO,
    }
}

impl Filesystem for Folder {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let lacking = |flags| io::Error::other(format!("this kernel's FUSE lacks {flags:?}"));
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(lacking)?;
        let is_taken = config.set_max_write(LONGEST_BYTES).is_ok()
            && config.set_max_background(MOST_AT_ONCE).is_ok()
            && config.set_congestion_threshold(MOST_AT_ONCE).is_ok();
        assert!(is_taken, "the limits are within those of the protocol");
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE_NUMBER) {
            Some(file) if parent == FOLDER_NUMBER && name == FILE => {
                reply.entry(&FOR_EVER, &file, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.say_attributes(number, reply);
    }

    /// The size cannot be changed; other attributes may be set, but are ignored.
    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match size {
            Some(size) if size != self.capacity_bytes => reply.error(Errno::EPERM),
            _ => self.say_attributes(number, reply),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), direct);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset_bytes: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        // Reading beyond the end of a file is not an error, unlike on a disk.
        let left = self.capacity_bytes.saturating_sub(offset_bytes);
        let length_bytes = u64::from(size).min(left);
        let mut data = vec![0; usize::try_from(length_bytes).expect("a u32 fits")];
        let extent = Extent { offset_bytes, length_bytes };
        let outcome = if data.is_empty() {
            return reply.data(&[]);
        } else {
            self.perform(RequestKind::Read, extent, |backend, now| {
                backend.read(now, offset_bytes, &mut data)
            })
        };
        self.answer(outcome, move |done| match done {
            Ok(()) => reply.data(&data),
            Err(errno) => reply.error(errno),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset_bytes: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let extent = Extent { offset_bytes, length_bytes: data.len() as u64 };
        let outcome = self.perform(RequestKind::Write, extent, |backend, now| {
            backend.write(now, offset_bytes, data)
        });
        let written = u32::try_from(data.len()).expect("a request is at most LONGEST_BYTES long");
        self.answer(outcome, move |done| match done {
            Ok(()) => reply.written(written),
            Err(errno) => reply.error(errno),
        });
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset_bytes: u64,
        length_bytes: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let extent = Extent { offset_bytes, length_bytes };
        let mode = FallocateFlags::from_bits_retain(mode.cast_unsigned());
        let is_discard = mode == FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let is_zeroing = mode.difference(FallocateFlags::KEEP_SIZE) == FallocateFlags::ZERO_RANGE;
        // A loop device stops offering what the disk does not support after the first error.
        let outcome = if is_discard && self.takes_discards {
            self.perform(RequestKind::Discard, extent, |backend, now| backend.discard(now, extent))
        } else if is_zeroing {
            self.perform(RequestKind::WriteZeroes, extent, |backend, now| {
                backend.write_zeroes(now, extent)
            })
        } else {
            return reply.error(Errno::EOPNOTSUPP);
        };
        self.answer(outcome, move |done| say(done, reply));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let nowhere = Extent { offset_bytes: 0, length_bytes: 0 };
        let outcome = self.perform(RequestKind::Flush, nowhere, |backend, now| backend.flush(now));
        self.answer(outcome, move |done| say(done, reply));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (FOLDER_NUMBER, FileType::Directory, "."),
            (FOLDER_NUMBER, FileType::Directory, ".."),
            (FILE_NUMBER, FileType::RegularFile, FILE),
        ];
        for ((number, kind, name), next) in entries.into_iter().zip(1..) {
            if next > offset && reply.add(number, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = self.capacity_bytes / u64::from(BLOCK_BYTES);
        reply.statfs(blocks, 0, 0, 1, 0, BLOCK_BYTES, 255, BLOCK_BYTES);
    }
}

fn say(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

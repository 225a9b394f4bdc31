//! A file on a real drive that answers the questions of a probe (`flash::probe`).
//!
//! The file has no name from the moment it is opened, so that it is gone whatever happens to this
//! program. Requests bypass the page cache, and reach whatever is below the filesystem: what that
//! answers from its own memory cannot be told from what the drive answers.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{FallocateFlags, fallocate, statfs, statvfs};
use rustix::io::Errno;
use ssdlab_flash::Nanos;
use ssdlab_flash::probe::{
    FILL_BYTES, PROBE_FILE_BYTES, PartTimes, ProbeAccess, ProbePart, ProbeQuestion, ProbedDrive,
};
use ssdlab_plan::io::{BlockSize, Io, IoContents, IoEnd, IoPattern, IoSyncPolicy, SyncBy};
use ssdlab_plan::{Bytes, Span};
use thiserror::Error;

use crate::engine::{self, Aligned, EngineError, EngineJob};

/// The free space that a probe asks for: that of its file, and as much again for filesystems that
/// never write in place.
pub const PROBE_SPACE_BYTES: u64 = 2 * PROBE_FILE_BYTES;

/// What statfs(2) calls filesystems that keep files in memory: tmpfs and ramfs (linux/magic.h).
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Why a folder cannot be probed.
#[derive(Debug, Error, Diagnostic)]
pub enum ProbeFileError {
    #[error("{}: {cause}", folder.display())]
    #[diagnostic(help("name an existing folder that you may write to"))]
    Folder { folder: PathBuf, cause: io::Error },
    #[error("{}: files of this filesystem are in memory, not on a drive", .0.display())]
    #[diagnostic(help("name a folder on a drive"))]
    InMemory(PathBuf),
    #[error("{}: {free} are free, but a probe needs {needed}", folder.display())]
    #[diagnostic(help("free some space, or name a folder on another filesystem"))]
    NoSpace { folder: PathBuf, free: Bytes, needed: Bytes },
    #[error(
        "{}: the filesystem refuses direct I/O ({cause}): its cache would answer instead of the \
         drive",
        folder.display()
    )]
    #[diagnostic(help("name a folder on another filesystem"))]
    NotDirect { folder: PathBuf, cause: io::Error },
    #[error("the probe failed: {0}")]
    Request(#[from] io::Error),
    #[error("the probe cannot start: {0}")]
    NoRing(EngineError),
    #[error("the probe failed: {0}")]
    Engine(EngineError),
}

impl From<EngineError> for ProbeFileError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::NoRing { .. } | EngineError::NotRegistered { .. } => Self::NoRing(error),
            _ => Self::Engine(error),
        }
    }
}

/// A file without a name, for a probe.
#[derive(Debug)]
pub struct ProbeFile {
    file: File,
    /// The same, opened with `O_DSYNC`.
    synced: File,
    page: Aligned,
    begun: Instant,
}

impl ProbeFile {
    /// Makes one in a folder, and reserves its space.
    pub fn create(folder: &Path) -> Result<Self, ProbeFileError> {
        let of_folder =
            |cause: io::Error| ProbeFileError::Folder { folder: folder.to_owned(), cause };
        let kind = statfs(folder).map_err(|cause| of_folder(cause.into()))?.f_type;
        if IN_MEMORY.contains(&kind) {
            return Err(ProbeFileError::InMemory(folder.to_owned()));
        }
        let space = statvfs(folder).map_err(|cause| of_folder(cause.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        if free < PROBE_SPACE_BYTES {
            return Err(ProbeFileError::NoSpace {
                folder: folder.to_owned(),
                free: Bytes(free),
                needed: Bytes(PROBE_SPACE_BYTES),
            });
        }
        let nameless = tempfile::tempfile_in(folder).map_err(of_folder)?;
        match fallocate(&nameless, FallocateFlags::KEEP_SIZE, 0, PROBE_FILE_BYTES) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(cause) => return Err(of_folder(cause.into())),
        }
        let reopened = |flags: i32| {
            let path = format!("/proc/self/fd/{}", nameless.as_raw_fd());
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
        };
        let not_direct = |cause| ProbeFileError::NotDirect { folder: folder.to_owned(), cause };
        let file = reopened(libc::O_DIRECT).map_err(not_direct)?;
        let synced = reopened(libc::O_DIRECT | libc::O_DSYNC).map_err(not_direct)?;
        let mut page = Aligned::new(engine::BLOCK_BYTES);
        Xoshiro256PlusPlus::seed_from_u64(0).fill_bytes(page.bytes());
        Ok(Self { file, synced, page, begun: Instant::now() })
    }

    /// Performs requests one at a time by system calls, as most programs do.
    fn alone(&mut self, part: &ProbePart) -> io::Result<PartTimes> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(part.seed);
        let bytes = u64::from(part.load.request_bytes);
        let places = part.load.span_bytes / bytes;
        let file = match part.load.access {
            ProbeAccess::FuaWrite => &self.synced,
            _ => &self.file,
        };
        let page = self.page.bytes();
        let mut times = PartTimes::default();
        let started = Instant::now();
        for _ in 0..part.requests {
            let offset = random.next_u64() % places * bytes;
            // No page equals another, so that nothing below can store it once.
            page[..8].copy_from_slice(&random.next_u64().to_le_bytes());
            let begun = Instant::now();
            match part.load.access {
                ProbeAccess::Read => file.read_exact_at(page, offset)?,
                _ => file.write_all_at(page, offset)?,
            }
            if part.load.access == ProbeAccess::SyncedWrite {
                let written = Instant::now();
                file.sync_data()?;
                times.flushes.push(Span(written.elapsed()).into());
            }
            times.each.push(Span(begun.elapsed()).into());
        }
        times.elapsed = Span(started.elapsed()).into();
        Ok(times)
    }

    /// Performs requests many at a time. Returns what they took.
    fn many(&self, part: &ProbePart, pattern: IoPattern, end: IoEnd) -> Result<Nanos, EngineError> {
        let load = &part.load;
        let io = Io {
            file: String::new(),
            files: 1,
            size_bytes: load.span_bytes,
            pattern,
            read_share: if load.access == ProbeAccess::Read { 1.0 } else { 0.0 },
            blocks: vec![BlockSize { bytes: load.request_bytes, weight: 1 }],
            contents: IoContents::Random,
            depth: load.depth,
            direct: true,
            sync: IoSyncPolicy::Never,
            sync_by: SyncBy::Fdatasync,
            end,
            period_ns: None,
        };
        let files = std::slice::from_ref(&self.file);
        let job = EngineJob { io: &io, files, text: &[], seed: part.seed };
        Ok(Span(engine::run(&job, &mut |_| true)?.moved().took).into())
    }
}

impl ProbedDrive for ProbeFile {
    type Error = ProbeFileError;

    fn fill(&mut self, offset_bytes: u64) -> Result<Nanos, ProbeFileError> {
        let load = ProbeQuestion::SequentialWrite.load(PROBE_FILE_BYTES);
        let part = ProbePart { load, requests: 0, seed: offset_bytes };
        Ok(self.many(&part, IoPattern::Append, IoEnd::Bytes(FILL_BYTES))?)
    }

    fn perform(&mut self, part: &ProbePart) -> Result<PartTimes, ProbeFileError> {
        if part.load.depth == 1 {
            return Ok(self.alone(part)?);
        }
        let pattern =
            if part.load.is_sequential { IoPattern::Sequential } else { IoPattern::Random };
        let elapsed = self.many(part, pattern, IoEnd::Operations(part.requests))?;
        Ok(PartTimes { elapsed, ..PartTimes::default() })
    }

    fn settle(&mut self, pause: Nanos) -> Result<(), ProbeFileError> {
        self.file.sync_data()?;
        sleep(Duration::from_nanos(pause.0));
        Ok(())
    }

    fn now(&self) -> Nanos {
        Span(self.begun.elapsed()).into()
    }
}

#[cfg(test)]
mod tests;

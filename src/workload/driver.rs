//! The driver: performs operations on a directory, and counts what it writes.
//!
//! This is the code between the clock's two readings. It makes the system calls that a plain
//! program would make, one after the other, and nothing else: contents come from a pool or
//! from the decoded archive, paths are made before the clock starts.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{
    Advice, AtFlags, CWD, Dir, FileType, Mode, OFlags, SeekFrom, Timespec, Timestamps, UTIME_OMIT,
    fadvise, fdatasync, futimens, linkat, mkdirat, openat, renameat, seek, symlinkat, syncfs,
    unlinkat,
};
use rustix::io::{Errno, pwrite, read, write};
use ssdlab_engine::{Aligned, BLOCK_BYTES};

use super::WorkloadError;
use super::operation::{Content, Operation};
use super::synthetic::churn::Step;
use super::synthetic::content::ContentPool;
use crate::host::interrupt::Interrupt;

/// How much is generated and written, or read, by one system call.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// The permission bits of every directory.
pub(super) const DIRECTORY_MODE: u32 = 0o755;

/// The size of a file of zeros, and of the system call that writes it.
const ZEROS_BYTES: usize = 16 << 20;

/// Operations between two looks at the clock and the interrupt.
const GLANCE: usize = 64;

/// What file contents are made from.
#[derive(Debug)]
pub struct Contents {
    /// For synthetic files.
    pub pool: ContentPool,
    /// The plain tar that an archive's files are in.
    pub archive: Option<File>,
}

impl Contents {
    /// The bytes of a file from `offset` on.
    pub fn fill(&self, content: Content, offset: u64, chunk: &mut [u8]) -> Result<(), Errno> {
        match content {
            Content::Text { seed } => self.pool.fill_text(seed, offset, chunk),
            Content::Binary { seed } => self.pool.fill_binary(seed, offset, chunk),
            Content::Bonnie(data) => data.fill(offset, chunk),
            Content::Archive { offset: start } => {
                // A driver with operations of an archive has the archive.
                let tar = self.archive.as_ref().ok_or(Errno::BADF)?;
                tar.read_exact_at(chunk, start + offset).map_err(|_| Errno::IO)?;
            }
        }
        Ok(())
    }
}

/// When to stop before the work is done.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    /// The request to stop.
    pub interrupt: &'a Interrupt,
    /// The longest the work may take.
    pub limit: Duration,
}

impl Bounds<'_> {
    /// The error by which work ends that began then, if it is to.
    pub fn check(&self, started: Instant) -> Result<(), WorkloadError> {
        if self.interrupt.is_set() {
            return Err(WorkloadError::Interrupted);
        }
        if started.elapsed() > self.limit {
            return Err(WorkloadError::Limit { limit: self.limit });
        }
        Ok(())
    }
}

/// Performs operations on one directory.
#[derive(Debug)]
pub struct Driver<'a> {
    directory: OwnedFd,
    contents: &'a Contents,
    bounds: Bounds<'a>,
    started: Instant,
    buffer: Vec<u8>,
    written_bytes: u64,
}

impl<'a> Driver<'a> {
    /// A driver for the directory at `path`.
    pub fn new(
        path: &Path,
        contents: &'a Contents,
        bounds: Bounds<'a>,
    ) -> Result<Self, WorkloadError> {
        let name = path.display().to_string();
        // The path itself may be a link: that of an open descriptor.
        let directory = openat(CWD, path, DIRECTORY - OFlags::NOFOLLOW, Mode::empty())
            .map_err(WorkloadError::operation("open", &name))?;
        let buffer = vec![0; CHUNK_BYTES];
        Ok(Self { directory, contents, bounds, started: Instant::now(), buffer, written_bytes: 0 })
    }

    /// Bytes handed to write(2) so far.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Performs the operations in order.
    pub fn perform(&mut self, operations: &[Operation]) -> Result<(), WorkloadError> {
        for some in operations.chunks(GLANCE) {
            self.check_bounds()?;
            for operation in some {
                self.one(operation)?;
            }
        }
        Ok(())
    }

    /// Deletes everything in the directory, as `rm -rf` does: each directory is read, and its
    /// entries are unlinked in the order the filesystem names them.
    pub fn delete_all(&mut self) -> Result<(), WorkloadError> {
        let directory = openat(&self.directory, ".", DIRECTORY, Mode::empty())
            .map_err(WorkloadError::operation("open", "."))?;
        self.empty(&directory)
    }

    /// Writes files of zeros, this many bytes in all; each is on the device before the next begins,
    /// so that they take no memory.
    pub fn fill_with_zeros(&mut self, bytes: u64, is_direct: bool) -> Result<(), WorkloadError> {
        let flags = if is_direct { CREATE | OFlags::DIRECT } else { CREATE };
        let mut zeros = Aligned::new(ZEROS_BYTES);
        let mut left = usize::try_from(bytes).unwrap_or(usize::MAX).next_multiple_of(BLOCK_BYTES);
        for number in 0_u32.. {
            if left == 0 {
                break;
            }
            self.check_bounds()?;
            let name = format!("zeros-{number}");
            let error = WorkloadError::operation("write", &name);
            let piece = left.min(ZEROS_BYTES);
            openat(&self.directory, name.as_str(), flags, Mode::RUSR)
                .and_then(|file| {
                    write_all(&file, &zeros.bytes()[..piece])?;
                    if is_direct {
                        return Ok(());
                    }
                    fdatasync(&file)?;
                    fadvise(&file, 0, None, Advice::DontNeed)
                })
                .map_err(error)?;
            left -= piece;
        }
        Ok(())
    }

    /// Performs steps of ageing. Files are of zeros.
    pub fn churn(&mut self, steps: &[Step]) -> Result<(), WorkloadError> {
        self.buffer.fill(0);
        for some in steps.chunks(GLANCE) {
            self.check_bounds()?;
            for step in some {
                self.step(step)?;
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step) -> Result<(), WorkloadError> {
        let at = self.directory.as_fd();
        let error = WorkloadError::operation;
        match step {
            Step::MakeDir { path } => mkdirat(at, &**path, Mode::from_raw_mode(DIRECTORY_MODE))
                .map_err(error("make", path)),
            Step::Write { path, offset, bytes } => {
                self.write_zeros_at(path, *offset, *bytes).map_err(error("write", path))
            }
            Step::Remove { path } => {
                unlinkat(at, &**path, AtFlags::empty()).map_err(error("remove", path))
            }
            Step::Sync => sync_filesystem(&self.directory),
        }
    }

    /// Writes zeros, which are in the buffer.
    fn write_zeros_at(&self, path: &str, offset: u64, bytes: u64) -> Result<(), Errno> {
        let flags = CREATE - OFlags::EXCL;
        let file = openat(&self.directory, path, flags, Mode::RUSR | Mode::WUSR)?;
        seek(&file, SeekFrom::Start(offset))?;
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            write_all(&file, &self.buffer[..length])?;
            left -= length as u64;
        }
        Ok(())
    }

    /// The directory it works on.
    pub fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    fn check_bounds(&self) -> Result<(), WorkloadError> {
        self.bounds.check(self.started)
    }

    fn one(&mut self, operation: &Operation) -> Result<(), WorkloadError> {
        let at = self.directory.as_fd();
        let error = WorkloadError::operation;
        match operation {
            Operation::MakeDir { path } => {
                mkdirat(at, &**path, Mode::from_raw_mode(DIRECTORY_MODE))
                    .map_err(error("make", path))
            }
            Operation::WriteFile { path, bytes, content, mode, mtime_s } => self
                .write_file(path, *bytes, *content, *mode, *mtime_s)
                .map_err(error("write", path)),
            Operation::Symlink { path, target } => {
                symlinkat(&**target, at, &**path).map_err(error("link", path))
            }
            Operation::HardLink { path, existing } => {
                linkat(at, &**existing, at, &**path, AtFlags::empty()).map_err(error("link", path))
            }
            Operation::ReadFile { path } => self.read_file(path).map_err(error("read", path)),
            Operation::Rename { from, to } => {
                renameat(at, &**from, at, &**to).map_err(error("rename", from))
            }
            Operation::Remove { path } => {
                unlinkat(at, &**path, AtFlags::empty()).map_err(error("remove", path))
            }
            Operation::ListDir { path } => list(at, path).map_err(error("list", path)),
        }
    }

    fn write_file(
        &mut self,
        path: &str,
        bytes: u64,
        content: Content,
        mode: u32,
        mtime_s: Option<i64>,
    ) -> Result<(), Errno> {
        let file = openat(&self.directory, path, CREATE, Mode::from_raw_mode(mode))?;
        let mut offset = 0;
        while offset < bytes {
            let length = usize::try_from(bytes - offset).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            let chunk = &mut self.buffer[..length];
            self.contents.fill(content, offset, chunk)?;
            write_all(&file, chunk)?;
            offset += length as u64;
            self.written_bytes += length as u64;
        }
        if let Some(seconds) = mtime_s {
            let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let modified = Timespec { tv_sec: seconds, tv_nsec: 0 };
            futimens(&file, &Timestamps { last_access: unchanged, last_modification: modified })?;
        }
        Ok(())
    }

    fn read_file(&mut self, path: &str) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, path, flags, Mode::empty())?;
        while read(&file, &mut self.buffer[..])? > 0 {}
        Ok(())
    }

    /// Empties a directory. Entries are collected first: a filesystem need not keep its place
    /// in a directory that changes.
    fn empty(&self, directory: &OwnedFd) -> Result<(), WorkloadError> {
        let shown = |name: &CStr| name.to_string_lossy().into_owned();
        let error = |step, name: &CStr| WorkloadError::operation(step, &shown(name));
        for some in entries(directory)
            .map_err(WorkloadError::operation("list", "a directory"))?
            .chunks(GLANCE)
        {
            self.check_bounds()?;
            for (name, is_directory) in some {
                if *is_directory {
                    let inner = openat(directory, name, DIRECTORY, Mode::empty())
                        .map_err(error("open", name))?;
                    self.empty(&inner)?;
                    unlinkat(directory, name, AtFlags::REMOVEDIR).map_err(error("remove", name))?;
                } else {
                    unlinkat(directory, name, AtFlags::empty()).map_err(error("remove", name))?;
                }
            }
        }
        Ok(())
    }
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Syncs the filesystem of an open directory.
pub(super) fn sync_filesystem(directory: impl AsFd) -> Result<(), WorkloadError> {
    syncfs(directory).map_err(WorkloadError::operation("sync", "the filesystem"))
}

/// Writes all of the buffer at a place.
pub(super) fn write_all_at(file: impl AsFd, mut data: &[u8], mut at: u64) -> Result<(), Errno> {
    while !data.is_empty() {
        match pwrite(file.as_fd(), data, at) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => {
                data = &data[written..];
                at += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

pub(super) fn write_all(file: &OwnedFd, mut data: &[u8]) -> Result<(), Errno> {
    while !data.is_empty() {
        match write(file, data) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => data = &data[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn list(at: BorrowedFd<'_>, path: &str) -> Result<(), Errno> {
    let directory = openat(at, path, DIRECTORY, Mode::empty())?;
    for entry in Dir::new(directory)? {
        entry?;
    }
    Ok(())
}

/// The names in a directory, and whether each is a directory itself.
fn entries(directory: &OwnedFd) -> Result<Vec<(CString, bool)>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let is_directory = match entry.file_type() {
            // Some filesystems leave the type out of the directory.
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            }
            kind => kind == FileType::Directory,
        };
        entries.push((name.to_owned(), is_directory));
    }
    Ok(entries)
}

#[cfg(test)]
impl Contents {
    /// With an archive that holds `from the archive`.
    pub fn sample() -> Self {
        let mut archive = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut archive, b"from the archive").unwrap();
        Self { pool: ContentPool::new(1), archive: Some(archive) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn perform(place: &Path, operations: &[Operation]) -> Result<u64, WorkloadError> {
        let (contents, interrupt) = (Contents::sample(), Interrupt::default());
        let bounds = Bounds { interrupt: &interrupt, limit: Duration::from_mins(1) };
        let mut driver = Driver::new(place, &contents, bounds)?;
        driver.perform(operations)?;
        Ok(driver.written_bytes())
    }

    fn file(path: &str, bytes: u64, content: Content) -> Operation {
        Operation::WriteFile { path: path.into(), bytes, content, mode: 0o644, mtime_s: Some(7) }
    }

    #[test]
    fn every_operation_does_what_it_says() {
        let place = tempfile::tempdir().unwrap();
        let operations = [
            Operation::MakeDir { path: "d".into() },
            file("d/a", 2_500_000, Content::Text { seed: 1 }),
            file("d/b", 7, Content::Archive { offset: 9 }),
            Operation::ReadFile { path: "d/a".into() },
            Operation::HardLink { path: "d/c".into(), existing: "d/b".into() },
            Operation::Symlink { path: "d/s".into(), target: "b".into() },
            Operation::Rename { from: "d/b".into(), to: "d/e".into() },
            Operation::ListDir { path: "d".into() },
            Operation::Remove { path: "d/a".into() },
        ];
        assert_eq!(perform(place.path(), &operations[..3]).unwrap(), 2_500_007);
        assert_eq!(fs::metadata(place.path().join("d/a")).unwrap().len(), 2_500_000);
        assert_eq!(perform(place.path(), &operations[3..]).unwrap(), 0);
        let of = |name: &str| fs::read(place.path().join("d").join(name));
        assert_eq!(of("e").unwrap(), b"archive");
        assert_eq!(of("c").unwrap(), b"archive");
        assert!(of("a").is_err() && of("b").is_err());
        assert!(fs::read_link(place.path().join("d/s")).is_ok());
    }

    #[test]
    fn delete_takes_everything_and_follows_no_link() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("keep"), "x").unwrap();
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("a/b/c")).unwrap();
        fs::write(place.path().join("a/b/f"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), place.path().join("a/out")).unwrap();
        let (contents, interrupt) = (Contents::sample(), Interrupt::default());
        let bounds = Bounds { interrupt: &interrupt, limit: Duration::from_mins(1) };
        Driver::new(place.path(), &contents, bounds).unwrap().delete_all().unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(outside.path().join("keep").exists());
    }

    #[test]
    fn a_failing_operation_names_its_path() {
        let place = tempfile::tempdir().unwrap();
        let missing = [Operation::ReadFile { path: "no/such".into() }];
        let message = perform(place.path(), &missing).unwrap_err().to_string();
        assert!(message.contains("read no/such"), "{message}");
        // A file in the way is never overwritten.
        fs::write(place.path().join("x"), "mine").unwrap();
        assert!(perform(place.path(), &[file("x", 1, Content::Text { seed: 0 })]).is_err());
        assert_eq!(fs::read(place.path().join("x")).unwrap(), b"mine");
    }

    #[test]
    fn work_stops_at_its_limit_and_on_an_interrupt() {
        let place = tempfile::tempdir().unwrap();
        let (contents, interrupt) = (Contents::sample(), Interrupt::default());
        let operations = [Operation::MakeDir { path: "d".into() }];
        let driver = |limit| {
            let bounds = Bounds { interrupt: &interrupt, limit };
            Driver::new(place.path(), &contents, bounds).unwrap().perform(&operations)
        };
        assert!(matches!(driver(Duration::ZERO), Err(WorkloadError::Limit { .. })));
        interrupt.set();
        let long = Duration::from_mins(1);
        assert!(matches!(driver(long), Err(WorkloadError::Interrupted)));
    }
}

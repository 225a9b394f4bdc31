//! The player: performs scripts on a directory, and counts what it writes.
//!
//! This is the code between the clock's two readings. It makes the system calls that a plain
//! program would make, in order, and nothing else: contents come from a pool or from the decoded
//! archive, paths are prepared before the clock starts. Even a hostile log cannot leave the
//! directory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, SeekFrom,
    Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, chmodat, fallocate, fchmod, fdatasync,
    fsync, ftruncate, futimens, linkat, mkdirat, openat, openat2, readlinkat, renameat,
    renameat_with, seek, statat, symlinkat, syncfs, unlinkat, utimensat,
};
use rustix::io::{Errno, pread, pwrite, read, write};
use rustix::process::umask;
use ssdlab_host::program::Rules;
use ssdlab_operations::{
    Allocation, Handle, OpenFlags, Operation, OperationTarget, RelativePath, Transfer,
};

use super::WorkloadError;
use super::calls::{CHUNK_BYTES, FailedCall, File, PendingCalls};
use super::content::{Content, FileContents};
use super::script::Script;

/// The number of operations between checks of the clock and the interrupt.
pub(super) const CALLS_PER_CHECK: usize = 64;

/// Nothing is opened outside the directory, nor through a link.
const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// A log does not record times, so the current one is set.
const TIMES: Timestamps = Timestamps {
    last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
    last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
};

/// How a directory is opened, if need be through a link.
pub(super) const DIRECTORY_OR_LINK: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How a directory is opened, never through a link.
pub(super) const DIRECTORY: OFlags = DIRECTORY_OR_LINK.union(OFlags::NOFOLLOW);

/// Performs operations on one directory.
#[derive(Debug)]
pub struct Player<'a> {
    pub(super) directory: OwnedFd,
    contents: &'a FileContents,
    rules: Rules<'a>,
    started: Instant,
    files: Vec<Option<Opened>>,
    buffer: Vec<u8>,
    /// Calls that wait to be handed over together.
    pub(super) calls: Option<PendingCalls>,
    written_bytes: u64,
    /// Whether the script is recorded.
    is_recorded: bool,
}

/// An open file, and the contents to write.
#[derive(Debug)]
struct Opened {
    file: File,
    content: Content,
    path: RelativePath,
}

impl<'a> Player<'a> {
    /// A player for the directory at `path`.
    pub fn new(
        path: &Path,
        contents: &'a FileContents,
        rules: Rules<'a>,
    ) -> Result<Self, WorkloadError> {
        Ok(Self {
            directory: open_directory(path)?,
            contents,
            rules,
            started: Instant::now(),
            files: Vec::new(),
            buffer: vec![0; CHUNK_BYTES],
            calls: None,
            written_bytes: 0,
            is_recorded: false,
        })
    }

    /// Hands calls to the lab kernel together, where a script allows it.
    pub fn hand_over(mut self) -> Self {
        self.calls = Some(PendingCalls::new());
        self
    }

    /// Bytes passed to write(2) so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Performs the operations in order, then closes open files.
    pub fn perform(&mut self, script: &Script) -> Result<(), WorkloadError> {
        self.go_on(script)?;
        self.files.clear();
        Ok(())
    }

    /// Performs the operations in order; what they leave open is open for the next script.
    pub fn go_on(&mut self, script: &Script) -> Result<(), WorkloadError> {
        self.is_recorded = script.is_recorded;
        let _all_bits = script.is_recorded.then(Unmasked::new);
        let mut count = 0;
        for (index, (operation, content)) in script.steps().enumerate() {
            // Not between operations on one open file.
            if self.is_recorded || operation.handle().is_none() {
                if count % CALLS_PER_CHECK == 0 {
                    self.check_rules()?;
                }
                count += 1;
            }
            if !self.wait(index, content, &script.operations)? {
                self.make_calls(&script.operations)?;
                self.call(operation, content).map_err(|errno| self.failed(operation, errno))?;
            }
        }
        self.make_calls(&script.operations)
    }

    pub(super) fn check_rules(&self) -> Result<(), WorkloadError> {
        check_rules(self.rules, self.started.elapsed())
    }

    /// The error for a failed operation, which may have been interrupted.
    fn failed(&self, operation: &Operation, errno: Errno) -> WorkloadError {
        let opened = || self.opened(operation.handle()?).ok().map(|opened| &opened.path);
        let path = operation.path().or_else(opened);
        let path = path.map_or_else(|| "the filesystem".to_owned(), ToString::to_string);
        let failed = || WorkloadError::operation(operation.name(), &path)(errno);
        self.check_rules().err().unwrap_or_else(failed)
    }

    /// Lets an operation wait for others, to be handed over with them. Returns whether it can.
    fn wait(
        &mut self,
        index: usize,
        content: Content,
        operations: &[Operation],
    ) -> Result<bool, WorkloadError> {
        let operation = &operations[index];
        let data_bytes = match operation {
            Operation::Write(transfer) => usize::try_from(transfer.bytes()).unwrap_or(usize::MAX),
            _ => 0,
        };
        if self.is_recorded || data_bytes > CHUNK_BYTES {
            return Ok(false);
        }
        if self.calls.as_ref().is_some_and(|calls| !calls.have_room(data_bytes)) {
            self.make_calls(operations)?;
        }
        let Self { calls: Some(calls), directory, files, contents, .. } = self else {
            return Ok(false);
        };
        let at = directory.as_fd();
        let opened = operation.handle().and_then(|handle| files.get_mut(handle.number() as usize));
        match operation {
            Operation::MakeDirectory { mode, path } => {
                calls.mkdirat(index, at, path.as_bytes(), Mode::from_raw_mode(*mode));
            }
            Operation::RemoveDirectory { path } => {
                calls.unlinkat(index, at, path.as_bytes(), AtFlags::REMOVEDIR);
            }
            Operation::Unlink { path } => {
                calls.unlinkat(index, at, path.as_bytes(), AtFlags::empty());
            }
            Operation::Rename { from, to } => {
                calls.renameat(index, at, from.as_bytes(), to.as_bytes());
            }
            Operation::Link { existing, path } => {
                calls.linkat(index, at, existing.as_bytes(), path.as_bytes());
            }
            Operation::Symlink { target, path } => {
                calls.symlinkat(index, target, at, path.as_bytes());
            }
            Operation::Open { handle, flags, create, path } => {
                let mode = Mode::from_raw_mode(create.unwrap_or(0));
                let flags = open_flags(*flags, create.is_some());
                let file = calls.openat(index, at, path.as_bytes(), flags, mode);
                self.enter(*handle, Opened { file, content, path: path.clone() });
            }
            Operation::Seek { offset, .. } => {
                let Some(Some(Opened { file, .. })) = opened else { return Ok(false) };
                calls.seek(index, file, *offset);
            }
            Operation::Write(Transfer { offset, length, count: 1, .. }) => {
                let Some(Some(Opened { file, content, .. })) = opened else {
                    return Ok(false);
                };
                calls
                    .write(index, file, data_bytes, |data| contents.fill(*content, *offset, data))
                    .map_err(|errno| self.failed(operation, errno))?;
                self.written_bytes += *length;
            }
            Operation::SetModified { seconds, .. } => {
                let Some(Some(Opened { file, .. })) = opened else { return Ok(false) };
                calls.futimens(index, file, &modified(*seconds));
            }
            Operation::Close { .. } => {
                let Some(Opened { file, .. }) = opened.and_then(Option::take) else {
                    return Ok(false);
                };
                calls.close(index, file);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Makes the calls that wait, of some of these operations.
    fn make_calls(&mut self, operations: &[Operation]) -> Result<(), WorkloadError> {
        let Some(calls) = &mut self.calls else { return Ok(()) };
        let made = calls.make();
        let results =
            made.map_err(|FailedCall { owner, errno }| self.failed(&operations[owner], errno))?;
        for opened in self.files.iter_mut().flatten() {
            opened.file.opened(&results);
        }
        Ok(())
    }

    fn enter(&mut self, handle: Handle, opened: Opened) {
        let place = handle.number() as usize;
        if self.files.len() <= place {
            self.files.resize_with(place + 1, || None);
        }
        self.files[place] = Some(opened);
    }

    fn call(&mut self, operation: &Operation, content: Content) -> Result<(), Errno> {
        match operation {
            Operation::MakeDirectory { mode, path } => {
                self.on(path, |at, name| mkdirat(at, name, Mode::from_raw_mode(*mode)))
            }
            Operation::RemoveDirectory { path } => {
                self.on(path, |at, name| unlinkat(at, name, AtFlags::REMOVEDIR))
            }
            Operation::Open { handle, flags, create, path } => {
                let file = self.open(path, *flags, *create)?;
                self.enter(
                    *handle,
                    Opened { file: File::Opened(file), content, path: path.clone() },
                );
                Ok(())
            }
            Operation::Seek { handle, offset } => {
                seek(self.file(*handle)?, SeekFrom::Start(*offset)).map(drop)
            }
            Operation::Close { handle } => {
                let opened = self.files.get_mut(handle.number() as usize).and_then(Option::take);
                opened.map(drop).ok_or(Errno::BADF)
            }
            Operation::Read(transfer) => self.each(*transfer, Self::read_range),
            Operation::Write(transfer) => self.each(*transfer, Self::write_range),
            Operation::ReadFile { path } => {
                let flags = OpenFlags { read: true, ..OpenFlags::default() };
                let file = self.open(path, flags, None)?;
                while read(&file, &mut self.buffer[..])? > 0 {}
                Ok(())
            }
            Operation::Truncate { target, size_bytes } => match target {
                OperationTarget::Handle(handle) => ftruncate(self.file(*handle)?, *size_bytes),
                OperationTarget::Path(path) => {
                    let flags = OpenFlags { write: true, ..OpenFlags::default() };
                    ftruncate(self.open(path, flags, None)?, *size_bytes)
                }
            },
            Operation::Allocate { handle, allocation, offset, length } => {
                fallocate(self.file(*handle)?, self::allocation(*allocation), *offset, *length)
            }
            Operation::Sync { handle, only_data: false } => fsync(self.file(*handle)?),
            Operation::Sync { handle, only_data: true } => fdatasync(self.file(*handle)?),
            Operation::SyncFilesystem => syncfs(&self.directory),
            Operation::Rename { from, to } => self.on(from, |at, name| {
                self.on(to, |to_at, to_name| renameat(at, name, to_at, to_name))
            }),
            Operation::Exchange { from, to } => self.on(from, |at, name| {
                let exchange = RenameFlags::EXCHANGE;
                self.on(to, |to_at, to_name| renameat_with(at, name, to_at, to_name, exchange))
            }),
            Operation::Link { existing, path } => self.on(existing, |at, name| {
                self.on(path, |to_at, to_name| linkat(at, name, to_at, to_name, AtFlags::empty()))
            }),
            Operation::Symlink { target, path } => {
                self.on(path, |at, name| symlinkat(&target[..], at, name))
            }
            Operation::Unlink { path } => {
                self.on(path, |at, name| unlinkat(at, name, AtFlags::empty()))
            }
            Operation::Stat { path } => self.on(path, |at, name| stat(at, name).map(drop)),
            Operation::ReadLink { path } => {
                self.on(path, |at, name| readlinkat(at, name, Vec::new()).map(drop))
            }
            Operation::List { handle } => list(Dir::read_from(self.file(*handle)?)?),
            Operation::ListDirectory { path } => {
                let flags = OpenFlags { read: true, directory: true, ..OpenFlags::default() };
                list(Dir::new(self.open(path, flags, None)?)?)
            }
            Operation::SetMode { target, mode } => {
                let mode = Mode::from_raw_mode(*mode);
                match target {
                    OperationTarget::Handle(handle) => fchmod(self.file(*handle)?, mode),
                    // It would follow a link; a valid log has none.
                    OperationTarget::Path(path) => self.on(path, |at, name| {
                        match FileType::from_raw_mode(stat(at, name)?.st_mode) {
                            FileType::Symlink => Err(Errno::LOOP),
                            _ => chmodat(at, name, mode, AtFlags::empty()),
                        }
                    }),
                }
            }
            Operation::SetTimes { target } => match target {
                OperationTarget::Handle(handle) => futimens(self.file(*handle)?, &TIMES),
                OperationTarget::Path(path) => {
                    self.on(path, |at, name| utimensat(at, name, &TIMES, AtFlags::SYMLINK_NOFOLLOW))
                }
            },
            Operation::SetModified { handle, seconds } => {
                futimens(self.file(*handle)?, &modified(*seconds))
            }
        }
    }

    /// Calls a function for a name in its opened directory. The path is resolved safely, because a
    /// log or a modified directory may contain links.
    fn on<T>(
        &self,
        path: &RelativePath,
        call: impl FnOnce(BorrowedFd<'_>, &[u8]) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_bytes();
        let slash = path.iter().rposition(|byte| *byte == b'/').filter(|_| self.is_recorded);
        let Some(slash) = slash else {
            return call(self.directory.as_fd(), path);
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat2(&self.directory, &path[..slash], flags, Mode::empty(), WITHIN)?;
        call(parent.as_fd(), &path[slash + 1..])
    }

    fn open(
        &self,
        path: &RelativePath,
        how: OpenFlags,
        create: Option<u32>,
    ) -> Result<OwnedFd, Errno> {
        let flags = open_flags(how, create.is_some());
        let mode = Mode::from_raw_mode(create.unwrap_or(0));
        if self.is_recorded {
            openat2(&self.directory, path.as_bytes(), flags, mode, WITHIN)
        } else {
            openat(&self.directory, path.as_bytes(), flags, mode)
        }
    }

    fn opened(&self, handle: Handle) -> Result<&Opened, Errno> {
        self.files.get(handle.number() as usize).and_then(Option::as_ref).ok_or(Errno::BADF)
    }

    fn file(&self, handle: Handle) -> Result<BorrowedFd<'_>, Errno> {
        self.opened(handle)?.file()
    }

    /// Makes a system call for each range of a transfer, or several if it is long.
    fn each(
        &mut self,
        transfer: Transfer,
        call: fn(&mut Self, Handle, u64, usize) -> Result<u64, Errno>,
    ) -> Result<(), Errno> {
        let Transfer { handle, mut offset, length, count } = transfer;
        let mut calls = 0;
        for _ in 0..count {
            let end = offset + length;
            while offset < end {
                calls += 1;
                if calls % CALLS_PER_CHECK == 0 && self.check_rules().is_err() {
                    return Err(Errno::INTR);
                }
                let left = usize::try_from(end - offset).unwrap_or(CHUNK_BYTES);
                offset += call(self, handle, offset, left.min(CHUNK_BYTES))?;
            }
        }
        Ok(())
    }

    /// Reads a range; stops at the end of a file that is shorter than it was.
    fn read_range(&mut self, from: Handle, offset: u64, length: usize) -> Result<u64, Errno> {
        let opened = self.files.get(from.number() as usize).and_then(Option::as_ref);
        let range = &mut self.buffer[..length];
        match pread(opened.ok_or(Errno::BADF)?.file()?, range, offset)? {
            0 => Ok(length as u64),
            read => Ok(read as u64),
        }
    }

    /// Writes a range; generated scripts write at the current offset.
    fn write_range(&mut self, to: Handle, offset: u64, length: usize) -> Result<u64, Errno> {
        let opened = self.files.get(to.number() as usize).and_then(Option::as_ref);
        let Opened { file, content, .. } = opened.ok_or(Errno::BADF)?;
        let range = &mut self.buffer[..length];
        self.contents.fill(*content, offset, range)?;
        let File::Opened(file) = file else { return Err(Errno::BADF) };
        if self.is_recorded {
            write_all_at(file, range, offset)?;
        } else {
            write_all(file, range)?;
        }
        self.written_bytes += length as u64;
        Ok(length as u64)
    }
}

impl Opened {
    /// The file, which no call that waits has still to open.
    fn file(&self) -> Result<BorrowedFd<'_>, Errno> {
        match &self.file {
            File::Opened(file) => Ok(file.as_fd()),
            File::Awaited(_) => Err(Errno::BADF),
        }
    }
}

/// Clears the umask while it lives, because modes in a log are final. The umask is per process, so
/// only one may exist at a time.
struct Unmasked {
    before: Mode,
    _turn: MutexGuard<'static, ()>,
}

impl Unmasked {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { before: umask(Mode::empty()), _turn: turn }
    }
}

impl Drop for Unmasked {
    fn drop(&mut self) {
        umask(self.before);
    }
}

/// Returns an error if work that has taken this long must stop.
pub(super) fn check_rules(rules: Rules<'_>, elapsed: Duration) -> Result<(), WorkloadError> {
    if rules.interrupt.is_set() {
        return Err(WorkloadError::Interrupted);
    }
    if elapsed > rules.limit {
        return Err(WorkloadError::Limit { limit: rules.limit });
    }
    Ok(())
}

/// Opens a trial's directory. Its path may be a link to an open descriptor.
pub(super) fn open_directory(path: &Path) -> Result<OwnedFd, WorkloadError> {
    openat(CWD, path, DIRECTORY_OR_LINK, Mode::empty())
        .map_err(WorkloadError::operation("open", &path.display().to_string()))
}

/// Syncs the filesystem of an open directory.
pub(super) fn sync_filesystem(directory: impl AsFd) -> Result<(), WorkloadError> {
    syncfs(directory).map_err(WorkloadError::operation("sync", "the filesystem"))
}

/// Writes all of the buffer at an offset.
pub(super) fn write_all_at(file: impl AsFd, data: &[u8], at: u64) -> Result<(), Errno> {
    transfer(data.len(), Errno::NOSPC, |done| pwrite(&file, &data[done..], at + done as u64))
}

/// Writes all of the buffer at the file's offset.
pub(super) fn write_all(file: &OwnedFd, data: &[u8]) -> Result<(), Errno> {
    transfer(data.len(), Errno::NOSPC, |done| write(file, &data[done..]))
}

/// Fills the buffer from an offset. A file that is too short is an I/O error.
pub(super) fn read_exact_at(file: impl AsFd, buffer: &mut [u8], at: u64) -> Result<(), Errno> {
    transfer(buffer.len(), Errno::IO, |done| pread(&file, &mut buffer[done..], at + done as u64))
}

/// Fills the buffer from the file's offset. A file that is too short is an I/O error.
pub(super) fn read_exact(file: &OwnedFd, buffer: &mut [u8]) -> Result<(), Errno> {
    transfer(buffer.len(), Errno::IO, |done| read(file, &mut buffer[done..]))
}

/// Makes calls, each with what is done already, until this many bytes are transferred; `stuck` is
/// the error if one transfers nothing.
fn transfer(
    bytes: usize,
    stuck: Errno,
    mut call: impl FnMut(usize) -> Result<usize, Errno>,
) -> Result<(), Errno> {
    let mut done = 0;
    while done < bytes {
        match call(done) {
            Ok(0) => return Err(stuck),
            Ok(some) => done += some,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// The metadata of a name; links are not followed.
fn stat(at: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn open_flags(how: OpenFlags, creates: bool) -> OFlags {
    let mut flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
    flags |= match (how.read, how.write) {
        (_, false) => OFlags::RDONLY,
        (false, true) => OFlags::WRONLY,
        (true, true) => OFlags::RDWR,
    };
    for (is_set, flag) in [
        (creates, OFlags::CREATE),
        (creates && !how.or_existing, OFlags::EXCL),
        (how.truncate, OFlags::TRUNC),
        (how.append, OFlags::APPEND),
        (how.sync, OFlags::SYNC),
        (how.data_sync, OFlags::DSYNC),
        (how.directory, OFlags::DIRECTORY),
    ] {
        flags.set(flag, is_set || flags.contains(flag));
    }
    flags
}

/// This modification time, in seconds since 1970, and the time of access that the file has.
fn modified(seconds: i64) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: 0 },
    }
}

fn list(mut directory: Dir) -> Result<(), Errno> {
    directory.try_for_each(|entry| entry.map(drop))
}

fn allocation(allocation: Allocation) -> FallocateFlags {
    let keep = FallocateFlags::KEEP_SIZE;
    match allocation {
        Allocation::Extend => FallocateFlags::empty(),
        Allocation::KeepSize => keep,
        Allocation::PunchHole => FallocateFlags::PUNCH_HOLE | keep,
        Allocation::ZeroRange => FallocateFlags::ZERO_RANGE,
        Allocation::ZeroRangeKeepSize => FallocateFlags::ZERO_RANGE | keep,
        Allocation::CollapseRange => FallocateFlags::COLLAPSE_RANGE,
        Allocation::InsertRange => FallocateFlags::INSERT_RANGE,
    }
}

#[cfg(test)]
mod tests;

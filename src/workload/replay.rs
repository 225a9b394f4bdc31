//! The replay of recorded programs: performs operation logs on a directory.
//!
//! Logs are read and checked before the clock starts: every operation of one must fit the directory
//! as those before leave it. What is performed stays in the directory, whoever wrote the log. A log
//! begins with the directory that the one before left; what the first begins with is laid out
//! beforehand. Contents are made up, as logs have none.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::fs::{
    AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat,
    Timespec, Timestamps, UTIME_NOW, chmodat, fallocate, fchmod, fdatasync, fsync, ftruncate,
    futimens, linkat, mkdirat, openat, openat2, readlinkat, renameat, renameat_with, statat,
    symlinkat, syncfs, unlinkat, utimensat,
};
use rustix::io::{Errno, pread, pwrite};
use rustix::process::umask;
use ssdlab_operations::{
    Allocation, Entry, Handle, OpenFlags, Operation, RelativePath, Target, Transfer, Tree,
};

use super::bounds::Budget;
use super::driver::{Bounds, Contents};
use super::log;
use super::operation::Content;
use super::synthetic::random::mix;
use super::{Place, WorkloadError};
use crate::plan::recordings::Recording;
use crate::plan::schedule::{Action, Hashes, Phase};

/// The most that one system call reads or writes.
const CHUNK_BYTES: u64 = 1 << 20;

/// Nothing is opened outside the directory, nor through a link.
const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

/// A log does not say which times were set: now.
const TIMES: Timestamps = Timestamps {
    last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
    last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
};

/// Operations between two looks at the clock and the interrupt.
const GLANCE: usize = 64;

/// The logs of a workload, in the order of its phases.
#[derive(Debug, Default)]
pub struct Replay {
    /// What the first log begins with.
    before: Vec<Entry>,
    logs: Vec<(Recording, Vec<Operation>)>,
}

impl Replay {
    /// Reads the logs that phases perform.
    pub fn read(phases: &[Phase], hashes: &Hashes) -> Result<Self, WorkloadError> {
        let mut replay = Self::default();
        // All logs are in memory together.
        let mut budget = Budget::default();
        let mut tree: Option<Tree> = None;
        for phase in phases {
            let recording = match &phase.action {
                Action::Replay { log } => log,
                Action::Delete => {
                    tree = Some(Tree::default());
                    continue;
                }
                _ => continue,
            };
            let wrong =
                |what: String| WorkloadError::Recording { log: recording.to_string(), what };
            let text = log::text(recording, hashes)?;
            let (before, operations) =
                log::read(text, &mut budget).map_err(|error| wrong(error.to_string()))?;
            let mut left = Tree::new(&before)
                .map_err(|_| wrong("what it begins with is no directory".to_owned()))?;
            match &tree {
                None => replay.before.clone_from(&before),
                Some(tree) if tree.entries().eq(left.entries()) => {}
                Some(_) => {
                    let what = "it does not begin with what the phases before it leave";
                    return Err(wrong(what.to_owned()));
                }
            }
            for (number, operation) in operations.iter().enumerate() {
                left.apply(operation).map_err(|_| {
                    let (number, name) = (number + 1, operation.name());
                    wrong(format!("operation {number}, {name}, does not fit the directory by then"))
                })?;
            }
            tree = Some(left);
            replay.logs.push((recording.clone(), operations));
        }
        Ok(replay)
    }

    /// Whether there is a directory to be made before the first log.
    pub fn begins_with_files(&self) -> bool {
        !self.before.is_empty()
    }

    /// Makes the directory that the first log begins with.
    pub fn lay_out(&self, contents: &Contents, place: Place<'_>) -> Result<(), WorkloadError> {
        let _open = Unmasked::new();
        let mut player = Player::new(contents, place)?;
        self.before.iter().try_for_each(|entry| player.make(entry))
    }

    /// Performs a log that was read; returns the bytes written.
    pub fn perform(
        &self,
        log: &Recording,
        contents: &Contents,
        place: Place<'_>,
    ) -> Result<u64, WorkloadError> {
        let _open = Unmasked::new();
        let mut player = Player::new(contents, place)?;
        let found = self.logs.iter().find(|(recording, _)| recording == log);
        let (_, operations) = found.expect("the logs of all phases were read");
        for some in operations.chunks(GLANCE) {
            player.check_bounds()?;
            some.iter().try_for_each(|operation| player.perform(operation))?;
        }
        Ok(player.written_bytes)
    }
}

/// Modes in a log are those that files got.
struct Unmasked(Mode);

impl Unmasked {
    fn new() -> Self {
        Self(umask(Mode::empty()))
    }
}

impl Drop for Unmasked {
    fn drop(&mut self) {
        umask(self.0);
    }
}

/// Performs operations.
struct Player<'a> {
    directory: OwnedFd,
    contents: &'a Contents,
    bounds: Bounds<'a>,
    started: Instant,
    open: Vec<Option<Opened>>,
    buffer: Vec<u8>,
    written_bytes: u64,
}

/// An open file, and what its contents are made from.
struct Opened {
    file: OwnedFd,
    content: Content,
}

impl<'a> Player<'a> {
    fn new(contents: &'a Contents, place: Place<'a>) -> Result<Self, WorkloadError> {
        let name = place.directory.display().to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, place.directory, flags, Mode::empty())
            .map_err(WorkloadError::operation("open", &name))?;
        Ok(Self {
            directory,
            contents,
            bounds: Bounds { interrupt: place.rules.interrupt, limit: place.rules.limit },
            started: Instant::now(),
            open: Vec::new(),
            buffer: Vec::new(),
            written_bytes: 0,
        })
    }

    fn check_bounds(&self) -> Result<(), WorkloadError> {
        self.bounds.check(self.started)
    }

    /// Makes a name of the directory as it was before.
    fn make(&mut self, entry: &Entry) -> Result<(), WorkloadError> {
        self.check_bounds()?;
        let (path, made) = match entry {
            Entry::Directory { mode, path } => (path, self.make_directory(path, *mode)),
            Entry::File { mode, size_bytes, path } => {
                (path, self.make_file(path, *mode, *size_bytes))
            }
            Entry::Symlink { target, path } => (path, self.symlink(target, path)),
            Entry::Link { existing, path } => (path, self.link(existing, path)),
        };
        made.map_err(|errno| self.failed("lay out", &path.to_string(), errno))
    }

    fn make_file(&mut self, path: &RelativePath, mode: u32, size: u64) -> Result<(), Errno> {
        let flags = OpenFlags { write: true, ..OpenFlags::default() };
        let opened = self.opened(path, flags, Some(mode))?;
        let mut offset = 0;
        while offset < size {
            if self.check_bounds().is_err() {
                return Err(Errno::INTR);
            }
            let length = (size - offset).min(CHUNK_BYTES);
            offset += self.write_range(&opened, offset, length)?;
        }
        Ok(())
    }

    fn perform(&mut self, operation: &Operation) -> Result<(), WorkloadError> {
        let done = self.call(operation);
        done.map_err(|errno| self.failed("perform", &format!("{operation:?}"), errno))
    }

    /// Why something is not done: a long operation may have been stopped.
    fn failed(&self, step: &'static str, on: &str, errno: Errno) -> WorkloadError {
        let failed = || WorkloadError::operation(step, on)(errno);
        self.check_bounds().err().unwrap_or_else(failed)
    }

    fn call(&mut self, operation: &Operation) -> Result<(), Errno> {
        let at = self.directory.as_fd();
        match operation {
            Operation::MakeDirectory { mode, path } => self.make_directory(path, *mode),
            Operation::RemoveDirectory { path } => {
                self.on(path, |at, name| unlinkat(at, name, AtFlags::REMOVEDIR))
            }
            Operation::Open { handle, flags, create, path } => {
                let opened = self.opened(path, *flags, *create)?;
                let place = handle.number() as usize;
                if self.open.len() <= place {
                    self.open.resize_with(place + 1, || None);
                }
                self.open[place] = Some(opened);
                Ok(())
            }
            Operation::Close { handle } => {
                drop(self.take(*handle)?);
                Ok(())
            }
            Operation::Read(transfer) => self.each(*transfer, Self::read_range),
            Operation::Write(transfer) => self.each(*transfer, Self::write_range),
            Operation::Truncate { target, size_bytes } => match target {
                Target::Handle(handle) => ftruncate(self.file(*handle)?, *size_bytes),
                Target::Path(path) => {
                    let flags = OpenFlags { write: true, ..OpenFlags::default() };
                    ftruncate(self.opened(path, flags, None)?.file, *size_bytes)
                }
            },
            Operation::Allocate { handle, allocation, offset, length } => {
                fallocate(self.file(*handle)?, self::allocation(*allocation), *offset, *length)
            }
            Operation::Sync { handle, only_data: false } => fsync(self.file(*handle)?),
            Operation::Sync { handle, only_data: true } => fdatasync(self.file(*handle)?),
            Operation::SyncFilesystem => syncfs(at),
            Operation::Rename { from, to } => self.on(from, |at, name| {
                self.on(to, |to_at, to_name| renameat(at, name, to_at, to_name))
            }),
            Operation::Exchange { from, to } => self.on(from, |at, name| {
                let exchange = RenameFlags::EXCHANGE;
                self.on(to, |to_at, to_name| renameat_with(at, name, to_at, to_name, exchange))
            }),
            Operation::Link { existing, path } => self.link(existing, path),
            Operation::Symlink { target, path } => self.symlink(target, path),
            Operation::Unlink { path } => {
                self.on(path, |at, name| unlinkat(at, name, AtFlags::empty()))
            }
            Operation::Stat { path } => self.on(path, |at, name| stat(at, name).map(drop)),
            Operation::ReadLink { path } => {
                self.on(path, |at, name| readlinkat(at, name, Vec::new()).map(drop))
            }
            Operation::List { handle } => {
                Dir::read_from(self.file(*handle)?)?.try_for_each(|entry| entry.map(drop))
            }
            Operation::SetMode { target, mode } => {
                let mode = Mode::from_raw_mode(*mode);
                match target {
                    Target::Handle(handle) => fchmod(self.file(*handle)?, mode),
                    // It would follow a link, and there is none to follow in a sound log.
                    Target::Path(path) => self.on(path, |at, name| {
                        match FileType::from_raw_mode(stat(at, name)?.st_mode) {
                            FileType::Symlink => Err(Errno::LOOP),
                            _ => chmodat(at, name, mode, AtFlags::empty()),
                        }
                    }),
                }
            }
            Operation::SetTimes { target } => match target {
                Target::Handle(handle) => futimens(self.file(*handle)?, &TIMES),
                Target::Path(path) => {
                    self.on(path, |at, name| utimensat(at, name, &TIMES, AtFlags::SYMLINK_NOFOLLOW))
                }
            },
        }
    }

    fn make_directory(&self, path: &RelativePath, mode: u32) -> Result<(), Errno> {
        self.on(path, |at, name| mkdirat(at, name, Mode::from_raw_mode(mode)))
    }

    /// Does something with a name in the directory that it is in. Nothing that a log leads to is
    /// outside: whoever made the directory other than the log has it may have put links there.
    fn on<T>(
        &self,
        path: &RelativePath,
        call: impl FnOnce(BorrowedFd<'_>, &[u8]) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_bytes();
        let Some(slash) = path.iter().rposition(|byte| *byte == b'/') else {
            return call(self.directory.as_fd(), path);
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat2(&self.directory, &path[..slash], flags, Mode::empty(), WITHIN)?;
        call(parent.as_fd(), &path[slash + 1..])
    }

    fn link(&self, existing: &RelativePath, path: &RelativePath) -> Result<(), Errno> {
        self.on(existing, |at, name| {
            self.on(path, |to_at, to_name| linkat(at, name, to_at, to_name, AtFlags::empty()))
        })
    }

    fn symlink(&self, target: &[u8], path: &RelativePath) -> Result<(), Errno> {
        self.on(path, |at, name| symlinkat(target, at, name))
    }

    fn opened(
        &self,
        path: &RelativePath,
        how: OpenFlags,
        create: Option<u32>,
    ) -> Result<Opened, Errno> {
        let mut flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        flags |= match (how.read, how.write) {
            (_, false) => OFlags::RDONLY,
            (false, true) => OFlags::WRONLY,
            (true, true) => OFlags::RDWR,
        };
        for (is_set, flag) in [
            (create.is_some(), OFlags::CREATE | OFlags::EXCL),
            (how.truncate, OFlags::TRUNC),
            (how.append, OFlags::APPEND),
            (how.sync, OFlags::SYNC),
            (how.data_sync, OFlags::DSYNC),
            (how.directory, OFlags::DIRECTORY),
        ] {
            flags.set(flag, is_set || flags.contains(flag));
        }
        let mode = Mode::from_raw_mode(create.unwrap_or(0));
        let file = openat2(&self.directory, path.as_bytes(), flags, mode, WITHIN)?;
        let seed = path.as_bytes().iter().fold(0, |seed, byte| mix(seed ^ u64::from(*byte)));
        Ok(Opened { file, content: Content::Text { seed } })
    }

    fn take(&mut self, handle: Handle) -> Result<Opened, Errno> {
        self.open.get_mut(handle.number() as usize).and_then(Option::take).ok_or(Errno::BADF)
    }

    fn file(&self, handle: Handle) -> Result<BorrowedFd<'_>, Errno> {
        let opened = self.open.get(handle.number() as usize).and_then(Option::as_ref);
        opened.map(|opened| opened.file.as_fd()).ok_or(Errno::BADF)
    }

    /// Makes a system call for each range of a transfer, or several where it is a long one.
    fn each(
        &mut self,
        transfer: Transfer,
        call: fn(&mut Self, &Opened, u64, u64) -> Result<u64, Errno>,
    ) -> Result<(), Errno> {
        let Transfer { handle, mut offset, length, count } = transfer;
        let opened = self.take(handle)?;
        let mut calls = 0;
        for _ in 0..count {
            let end = offset + length;
            while offset < end {
                calls += 1;
                if calls % GLANCE == 0 && self.check_bounds().is_err() {
                    return Err(Errno::INTR);
                }
                offset += call(self, &opened, offset, (end - offset).min(CHUNK_BYTES))?;
            }
        }
        self.open[handle.number() as usize] = Some(opened);
        Ok(())
    }

    /// Reads; where a file is shorter than it was, what is missing is passed over.
    fn read_range(&mut self, from: &Opened, offset: u64, length: u64) -> Result<u64, Errno> {
        let range = self.range(length);
        match pread(&from.file, range, offset)? {
            0 => Ok(length),
            read => Ok(read as u64),
        }
    }

    fn write_range(&mut self, to: &Opened, offset: u64, length: u64) -> Result<u64, Errno> {
        let contents = self.contents;
        let range = self.range(length);
        contents.fill(to.content, offset, range)?;
        let written = pwrite(&to.file, range, offset)? as u64;
        self.written_bytes += written;
        Ok(written)
    }

    /// So many bytes of the buffer.
    fn range(&mut self, length: u64) -> &mut [u8] {
        let length = usize::try_from(length).expect("a chunk fits memory");
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        &mut self.buffer[..length]
    }
}

/// What a name is, a link itself.
fn stat(at: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
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
mod tests {
    use std::path::Path;

    use tempfile::NamedTempFile;

    use super::*;
    use crate::host::interrupt::Interrupt;
    use crate::host::program::Rules;
    use crate::workload::snapshot::Snapshot;
    use crate::workload::synthetic::content::ContentPool;

    fn phases(names: &[&str]) -> Vec<Phase> {
        let replay = |name: &str| Action::Replay { log: Recording::Shipped(name.to_owned()) };
        let phase = |name: &&str| Phase::new(name, replay(name), 0);
        names.iter().map(phase).collect()
    }

    /// Performs a log in a directory; returns the bytes written.
    fn perform(
        replay: &Replay,
        log: &Recording,
        directory: &Path,
        interrupt: &Interrupt,
    ) -> Result<u64, WorkloadError> {
        let contents = Contents { pool: ContentPool::new(7), archive: None };
        let limit = std::time::Duration::from_hours(1);
        let rules = Rules { marker: "replay", limit, interrupt };
        replay.perform(
            log,
            &contents,
            Place { directory, mounted_at: directory, commit: &[], rules },
        )
    }

    /// A log with these lines between its first and its last; it is there as long as the file.
    fn written(lines: &str) -> (Replay, Recording, NamedTempFile) {
        let file = NamedTempFile::new().unwrap();
        let log = format!("ssdlab operation log 1\ntitle x\n{lines}end\n");
        std::fs::write(file.path(), log).unwrap();
        let recording = Recording::File(file.path().to_owned());
        let phase = Phase::new("x", Action::Replay { log: recording.clone() }, 0);
        (Replay::read(&[phase], &Hashes::new()).unwrap(), recording, file)
    }

    /// What a log says is left is what it leaves, and the same again.
    #[test]
    fn a_replay_leaves_the_tree_that_was_recorded() {
        let names = ["zstd-clone", "zstd-make", "zstd-clean"];
        let replay = Replay::read(&phases(&names), &Hashes::new()).unwrap();
        let trees = [(); 2].map(|()| {
            let directory = tempfile::tempdir().unwrap();
            let mut tree = Tree::default();
            for (recording, operations) in &replay.logs {
                let done = perform(&replay, recording, directory.path(), &Interrupt::default());
                assert!(done.unwrap() > 0);
                for operation in operations {
                    tree.apply(operation).unwrap();
                }
                let found = Snapshot::of(directory.path()).unwrap().entries;
                assert_eq!(found, tree.entries().collect::<Vec<_>>(), "after {recording}");
            }
            std::fs::read(directory.path().join("lib/zstd.h")).unwrap()
        });
        assert_eq!(trees[0], trees[1]);
        assert!(!trees[0].is_empty());
    }

    /// What somebody else puts in the way of a replay leads nowhere.
    #[test]
    fn a_planted_link_is_not_followed() {
        let (replay, recording, _log) = written(
            "before\ndirectory 755 d\noperations\ncreate 0 write 644 d/x\nwrite 0 0 4\nclose 0\n",
        );
        let [directory, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), directory.path().join("d")).unwrap();
        let ended = perform(&replay, &recording, directory.path(), &Interrupt::default());
        assert!(ended.unwrap_err().to_string().contains("d/x"));
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    /// One operation may write for hours: its chunks are looked between.
    #[test]
    fn an_interrupt_ends_a_long_write() {
        let (replay, recording, _log) =
            written("before\noperations\ncreate 0 write 644 x\nwrite 0 0 1000000000\nclose 0\n");
        let directory = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let path = directory.path().join("x");
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| perform(&replay, &recording, directory.path(), &interrupt));
            while !writer.is_finished() && !path.metadata().is_ok_and(|file| file.len() > 0) {
                std::thread::yield_now();
            }
            interrupt.set();
            let ended = writer.join().unwrap();
            assert!(matches!(ended, Err(WorkloadError::Interrupted)), "{ended:?}");
        });
    }

    #[test]
    fn a_log_begins_where_the_one_before_ends_and_stays_in_its_directory() {
        let error =
            Replay::read(&phases(&["zstd-clone", "zstd-clean"]), &Hashes::new()).unwrap_err();
        assert!(error.to_string().contains("does not begin with what"), "{error}");
        // Alone it begins with what it was recorded on.
        assert!(Replay::read(&phases(&["zstd-make"]), &Hashes::new()).unwrap().begins_with_files());
        let file = NamedTempFile::new().unwrap();
        let mut phases = phases(&["zstd-make"]);
        phases[0].action = Action::Replay { log: Recording::File(file.path().to_owned()) };
        for (log, expected) in [
            ("ssdlab operation log 1\ntitle x\nbefore\noperations\nunlink ../x\nend\n", "line 5"),
            ("ssdlab operation log 1\ntitle x\nbefore\noperations\nunlink x\nend\n", "operation 1"),
            ("ssdlab operation log 1\ntitle x\nbefore\noperations\nmkdir 755 x\n", "cut"),
        ] {
            std::fs::write(file.path(), log).unwrap();
            let error = Replay::read(&phases, &Hashes::new()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

//! Creates, stats and deletes many small files, sequentially and in random order.
//!
//! Source: `COpenTest` in `bon_file.cpp`. One timed operation is a file. A repeated test always
//! works on one set of files, so directories never exceed the plan's size: what a pass removes or
//! leaves behind is restored or removed between passes, outside the clock, and synced.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RawDir, fsync, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use ssdlab_plan::Bonnie;

use super::super::player::{DIRECTORY_OR_LINK, read_exact, write_all};
use super::super::script::DIRECTORY_MODE;
use super::super::{PhaseContext, PhaseOutcome, WorkloadError};
use super::clock::PassClock;
use super::transfers::FILE_MODE;
use crate::synthetic::bonnie::{BonnieData, BonnieOrder, SmallFile, shuffled, small_files};

/// The buffer size for getdents64(2), as in the C library.
const ENTRIES_BYTES: usize = 32 << 10;

/// The directory of a set of files, in the trial's.
pub(super) fn top(order: BonnieOrder) -> &'static str {
    match order {
        BonnieOrder::Sequential => "bonnie-seq",
        BonnieOrder::Random => "bonnie-random",
    }
}

/// A directory in it, if there are several.
pub(super) fn inner(number: u64) -> String {
    format!("{number:05}")
}

pub(super) fn path(sizes: &Bonnie, file: &SmallFile) -> String {
    if sizes.directories == 1 {
        return file.name.clone();
    }
    format!("{}/{}", inner(file.directory), file.name)
}

/// A set of files, which may exist or not.
#[derive(Debug)]
pub(super) struct FileSet {
    sizes: Bonnie,
    order: BonnieOrder,
    seed: u64,
    /// The trial's directory.
    parent: OwnedFd,
    /// In the order of creation: the path, the size, the directory.
    each: Vec<(CString, usize, usize)>,
    buffer: Vec<u8>,
    /// How often the files were visited, each time in a different order.
    visits: u64,
    written_bytes: u64,
    read_bytes: u64,
}

/// The directory of a set, open.
struct Open {
    top: OwnedFd,
    /// The directories in it; empty if the files are in itself.
    inner: Vec<OwnedFd>,
}

impl Open {
    fn of(&self, directory: usize) -> &OwnedFd {
        self.inner.get(directory).unwrap_or(&self.top)
    }
}

impl FileSet {
    pub fn new(
        sizes: &Bonnie,
        order: BonnieOrder,
        seed: u64,
        directory: &OwnedFd,
    ) -> Result<Self, WorkloadError> {
        let parent = openat(directory, ".", DIRECTORY_OR_LINK, Mode::empty())
            .map_err(WorkloadError::operation("open", "."))?;
        let files = small_files(sizes, order, seed).into_iter().map(|file| {
            let path = CString::new(path(sizes, &file)).expect("no name has a zero in it");
            let as_usize = |number| usize::try_from(number).expect("it is below 2^32");
            (path, as_usize(file.bytes), as_usize(file.directory))
        });
        let mut buffer = vec![0; usize::try_from(sizes.chunk_bytes).expect("it is 1 MiB at most")];
        BonnieData::Characters.fill(0, &mut buffer);
        Ok(Self {
            sizes: sizes.clone(),
            order,
            seed,
            parent,
            each: files.collect(),
            buffer,
            visits: 0,
            written_bytes: 0,
            read_bytes: 0,
        })
    }

    /// `seq_create`, `random_create`: creates each file, writes it and closes it
    /// (`COpenTest::create`). The directories are made before the clock starts; it ends with a sync
    /// of the filesystem.
    pub fn create(
        &mut self,
        mut clock: PassClock<'_>,
        place: PhaseContext<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        while clock.is_short() {
            if clock.passes() > 0 {
                self.delete_all(None, place)?;
            }
            self.create_all(Some(&mut clock), place)?;
        }
        Ok(self.done(clock))
    }

    /// `seq_stat`, `random_stat`: stats each file and reads it if it is not empty
    /// (`COpenTest::stat_file`). Sequential is the order in which the directory lists the files;
    /// reading it is part of the test. Nothing is synced.
    pub fn stat(&mut self, mut clock: PassClock<'_>) -> Result<PhaseOutcome, WorkloadError> {
        while clock.is_short() {
            let open = self.open()?;
            match self.order {
                BonnieOrder::Sequential => self.stat_shown(&open, &mut clock)?,
                BonnieOrder::Random => {
                    let visited = self.visit();
                    clock.start();
                    for (path, _) in &visited {
                        self.read_bytes += look(open.top.as_fd(), path, &mut self.buffer)
                            .map_err(error("look at", path))?;
                        clock.lap()?;
                    }
                    clock.stop();
                }
            }
        }
        // Reading has overwritten the data to write, which later tests need.
        BonnieData::Characters.fill(0, &mut self.buffer);
        Ok(self.done(clock))
    }

    /// `seq_delete`, `random_delete`: deletes each file and its directory. Sequential is the order
    /// in which the directory lists the files (`COpenTest::delete_sequential`, `delete_random`).
    /// The clock ends with a sync of the filesystem.
    pub fn delete(
        mut self,
        mut clock: PassClock<'_>,
        place: PhaseContext<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        while clock.is_short() {
            if clock.passes() > 0 {
                self.create_all(None, place)?;
            }
            self.delete_all(Some(&mut clock), place)?;
        }
        Ok(self.done(clock))
    }

    fn done(&mut self, clock: PassClock<'_>) -> PhaseOutcome {
        let (written, read) =
            (std::mem::take(&mut self.written_bytes), std::mem::take(&mut self.read_bytes));
        PhaseOutcome {
            counted: Some(clock.counted(written + read)),
            ..PhaseOutcome::wrote(written)
        }
    }

    /// Paths and directories in a new random order. They are copies in the order of access, so that
    /// cache misses are not part of a test.
    fn visit(&mut self) -> Vec<(CString, usize)> {
        self.visits += 1;
        let order = shuffled(self.each.len(), self.seed, self.visits);
        let files = order.into_iter().map(|index| &self.each[index]);
        files.map(|(path, _, directory)| (path.clone(), *directory)).collect()
    }

    fn create_all(
        &mut self,
        mut clock: Option<&mut PassClock<'_>>,
        place: PhaseContext<'_>,
    ) -> Result<(), WorkloadError> {
        let mode = Mode::from_raw_mode(DIRECTORY_MODE);
        let top = top(self.order);
        mkdirat(&self.parent, top, mode).map_err(WorkloadError::operation("make", top))?;
        if self.sizes.directories > 1 {
            for number in 0..self.sizes.directories {
                let path = format!("{top}/{}", inner(number));
                mkdirat(&self.parent, path.as_str(), mode)
                    .map_err(WorkloadError::operation("make", &path))?;
            }
        }
        let open = self.open()?;
        if let Some(clock) = &mut clock {
            clock.start();
        }
        for (path, bytes, directory) in &self.each {
            let synced = self.sizes.fsync_each.then(|| open.of(*directory));
            create(open.top.as_fd(), path, *bytes, &self.buffer, synced)
                .map_err(error("create", path))?;
            self.written_bytes += *bytes as u64;
            if let Some(clock) = &mut clock {
                clock.lap()?;
            }
        }
        self.sync(clock, place)
    }

    fn delete_all(
        &mut self,
        mut clock: Option<&mut PassClock<'_>>,
        place: PhaseContext<'_>,
    ) -> Result<(), WorkloadError> {
        let open = self.open()?;
        let visited = match self.order {
            BonnieOrder::Sequential => Vec::new(),
            BonnieOrder::Random => self.visit(),
        };
        if let Some(clock) = &mut clock {
            clock.start();
        }
        match self.order {
            BonnieOrder::Sequential => self.delete_shown(&open, &mut clock)?,
            BonnieOrder::Random => {
                for (path, directory) in &visited {
                    let synced = self.sizes.fsync_each.then(|| open.of(*directory));
                    remove(open.top.as_fd(), path, synced).map_err(error("delete", path))?;
                    if let Some(clock) = &mut clock {
                        clock.lap()?;
                    }
                }
            }
        }
        for number in 0..open.inner.len() as u64 {
            let name = inner(number);
            unlinkat(&open.top, name.as_str(), AtFlags::REMOVEDIR)
                .map_err(WorkloadError::operation("remove", &name))?;
        }
        let top = top(self.order);
        unlinkat(&self.parent, top, AtFlags::REMOVEDIR)
            .map_err(WorkloadError::operation("remove", top))?;
        self.sync(clock, place)
    }

    fn sync(
        &self,
        clock: Option<&mut PassClock<'_>>,
        place: PhaseContext<'_>,
    ) -> Result<(), WorkloadError> {
        place.sync(&self.parent)?;
        if let Some(clock) = clock {
            clock.stop();
        }
        Ok(())
    }

    fn stat_shown(&mut self, open: &Open, clock: &mut PassClock<'_>) -> Result<(), WorkloadError> {
        let mut shown = 0;
        let (buffer, read_bytes) = (&mut self.buffer, &mut self.read_bytes);
        clock.start();
        for directory in 0..self.sizes.directories {
            let directory = open.of(usize::try_from(directory).unwrap_or(usize::MAX));
            for_each_shown(directory, |name| {
                *read_bytes +=
                    look(directory.as_fd(), name, buffer).map_err(error("look at", name))?;
                shown += 1;
                clock.lap()
            })?;
        }
        clock.stop();
        self.check_shown(shown)
    }

    fn delete_shown(
        &self,
        open: &Open,
        clock: &mut Option<&mut PassClock<'_>>,
    ) -> Result<(), WorkloadError> {
        let mut shown = 0;
        for directory in 0..self.sizes.directories {
            let directory = open.of(usize::try_from(directory).unwrap_or(usize::MAX));
            let synced = self.sizes.fsync_each.then_some(directory);
            for_each_shown(directory, |name| {
                remove(directory.as_fd(), name, synced).map_err(error("delete", name))?;
                shown += 1;
                clock.as_mut().map_or(Ok(()), |clock| clock.lap())
            })?;
        }
        self.check_shown(shown)
    }

    /// A directory that is read while files are deleted from it must list each of them once.
    fn check_shown(&self, shown: u64) -> Result<(), WorkloadError> {
        if shown == self.sizes.files {
            return Ok(());
        }
        Err(WorkloadError::Shown {
            directory: top(self.order),
            files: self.sizes.files,
            found: shown,
        })
    }

    fn open(&self) -> Result<Open, WorkloadError> {
        let name = top(self.order);
        let top = openat(&self.parent, name, DIRECTORY_OR_LINK, Mode::empty())
            .map_err(WorkloadError::operation("open", name))?;
        let count = if self.sizes.directories > 1 { self.sizes.directories } else { 0 };
        let inner: Result<Vec<OwnedFd>, WorkloadError> = (0..count)
            .map(|number| {
                let name = inner(number);
                openat(&top, name.as_str(), DIRECTORY_OR_LINK, Mode::empty())
                    .map_err(WorkloadError::operation("open", &name))
            })
            .collect();
        Ok(Open { inner: inner?, top })
    }
}

const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

/// Names a file in errors.
fn error<'a>(step: &'static str, path: &'a CStr) -> impl FnOnce(Errno) -> WorkloadError + 'a {
    move |errno| WorkloadError::operation(step, &path.to_string_lossy())(errno)
}

/// `COpenTest::create_a_file`; `synced` is the directory that is to be synced with the file.
fn create(
    at: BorrowedFd<'_>,
    path: &CStr,
    bytes: usize,
    chunk: &[u8],
    synced: Option<&OwnedFd>,
) -> Result<(), Errno> {
    let file = openat(at, path, CREATE, Mode::from_raw_mode(FILE_MODE))?;
    let mut left = bytes;
    while left > 0 {
        let length = left.min(chunk.len());
        write_all(&file, &chunk[..length])?;
        left -= length;
    }
    if let Some(directory) = synced {
        fsync(&file)?;
        fsync(directory)?;
    }
    Ok(())
}

fn remove(at: BorrowedFd<'_>, path: &CStr, synced: Option<&OwnedFd>) -> Result<(), Errno> {
    unlinkat(at, path, AtFlags::empty())?;
    synced.map_or(Ok(()), fsync)
}

/// Asks for a file's size and reads all of it; returns the size.
fn look(at: BorrowedFd<'_>, path: &CStr, buffer: &mut [u8]) -> Result<u64, Errno> {
    let size = statat(at, path, AtFlags::empty())?.st_size;
    let size = u64::try_from(size).unwrap_or_default();
    if size > 0 {
        let file = openat(at, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut left = usize::try_from(size).unwrap_or(usize::MAX);
        while left > 0 {
            let length = left.min(buffer.len());
            read_exact(&file, &mut buffer[..length])?;
            left -= length;
        }
    }
    Ok(size)
}

/// Calls a function for each name in a directory, while reading it.
fn for_each_shown(
    directory: &OwnedFd,
    mut action: impl FnMut(&CStr) -> Result<(), WorkloadError>,
) -> Result<(), WorkloadError> {
    let mut entries = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
    let mut directory = RawDir::new(directory, &mut entries);
    while let Some(entry) = directory.next() {
        let entry = entry.map_err(WorkloadError::operation("list", "a directory"))?;
        let name = entry.file_name();
        // As in bonnie++: none of the files begins with a dot.
        if !name.to_bytes().starts_with(b".") {
            action(name)?;
        }
    }
    Ok(())
}

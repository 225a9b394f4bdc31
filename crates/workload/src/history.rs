//! What phases share whose files record their own history: each step is reported, each operation
//! timed, and files are made and read whole.

use std::cell::RefCell;
use std::fmt;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, read};
use ssdlab_operations::calls::FileCall;
use ssdlab_operations::cuts::{Damage, FileOperation, FileOperationStep, WatchedFile};

use super::player::write_all;
use super::transactions::wait_until;
use super::{PhaseContext, WorkloadError};
use crate::engine::OperationTally;

const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::TRUNC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

const OLD: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A read after a power cut, in bytes.
const CHUNK_BYTES: usize = 1 << 16;

/// What happens in a trial that a power cut may undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialEvent {
    /// A step of an operation on a file.
    FileOperation(FileOperation),
    /// A program printed a line.
    Said(String),
    /// A program changed or synced a file.
    Called(FileCall),
}

/// Called with all that happens.
type TrialEventSink = Box<dyn FnMut(TrialEvent)>;

/// The receiver of what happens, if any.
#[derive(Default)]
pub(super) struct TrialReporter(RefCell<Option<TrialEventSink>>);

impl TrialReporter {
    pub fn new(told: impl FnMut(TrialEvent) + 'static) -> Self {
        Self(RefCell::new(Some(Box::new(told))))
    }

    /// Whether there is one.
    pub fn is_heard(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The bytes written to files, for comparison with the kernel's count; unknown if file
    /// operations are reported, as the kernel counts the reports too.
    pub fn counted(&self, bytes: u64) -> Option<u64> {
        self.0.borrow().is_none().then_some(bytes)
    }

    pub fn tell(&self, of: WatchedFile, version: u32, step: FileOperationStep) {
        self.pass_on(|| TrialEvent::FileOperation(FileOperation { of, version, step }));
    }

    pub fn say(&self, line: &str) {
        self.pass_on(|| TrialEvent::Said(line.to_owned()));
    }

    pub fn call(&self, call: FileCall) {
        self.pass_on(|| TrialEvent::Called(call));
    }

    fn pass_on(&self, happened: impl FnOnce() -> TrialEvent) {
        if let Some(told) = &mut *self.0.borrow_mut() {
            told(happened());
        }
    }
}

impl fmt::Debug for TrialReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TrialReporter").finish_non_exhaustive()
    }
}

/// Performs operations, each timed, with a pause between them.
pub(super) fn timed<T>(
    operations: impl Iterator<Item = T>,
    think_ns: u64,
    place: PhaseContext<'_>,
    mut perform: impl FnMut(T) -> Result<(), WorkloadError>,
) -> Result<OperationTally, WorkloadError> {
    let mut counted = OperationTally::new();
    let started = Instant::now();
    let mut due = Duration::ZERO;
    for operation in operations {
        wait_until(due, started, place.rules)?;
        let since = started.elapsed();
        perform(operation)?;
        let now = started.elapsed();
        counted.count(now, now.saturating_sub(since));
        due = now + Duration::from_nanos(think_ns);
    }
    counted.took = started.elapsed();
    Ok(counted)
}

pub(super) fn make(
    directory: &OwnedFd,
    name: &str,
    contents: &[u8],
) -> Result<OwnedFd, WorkloadError> {
    let file =
        openat(directory, name, NEW, MODE).map_err(WorkloadError::operation("make", name))?;
    write_all(&file, contents).map_err(WorkloadError::operation("write", name))?;
    Ok(file)
}

/// What is wrong with a file or a directory that cannot be read.
pub(super) fn fault(errno: Errno) -> Damage {
    if errno == Errno::NOENT { Damage::Missing } else { Damage::Unreadable }
}

/// The bytes of a file, or why it has none.
pub(super) fn read_all(directory: &OwnedFd, name: &str) -> Result<Vec<u8>, Damage> {
    let file = openat(directory, name, OLD, Mode::empty()).map_err(fault)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let length = read(&file, &mut chunk[..]).map_err(fault)?;
        if length == 0 {
            return Ok(bytes);
        }
        bytes.extend(&chunk[..length]);
    }
}

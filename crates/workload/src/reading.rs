//! Reads the files of a tree, each timed.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use crate::engine::OperationTally;
use rustix::fs::{FileType, Mode, OFlags, openat};
use rustix::io::{Errno, read};
use ssdlab_host::program::Rules;
use ssdlab_operations::Operation;
use ssdlab_plan::reading::ReadOrder;

use super::clearing::entries;
use super::player::{CALLS_PER_CHECK, DIRECTORY, check_rules, open_directory};
use super::script::Script;
use super::synthetic::tree::shuffled;
use super::{PhaseContext, PhaseOutcome, WorkloadError};

/// The size of one read(2), as of cat(1) since coreutils 9 (`IO_BUFSIZE`).
const BUFFER_BYTES: usize = 128 << 10;

const FILE: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Reads the files that a script has made in the trial's directory.
pub(super) fn run(
    order: ReadOrder,
    tree: &Script,
    seed: u64,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let directory = open_directory(place.directory)?;
    let counted = match order {
        ReadOrder::Directory => {
            let made = tree.operations.iter().filter_map(Operation::path);
            let tops = made.filter_map(|path| path.names().next()).collect();
            let mut reading = Reading::new(place);
            reading.walk(&directory, Some(&tops))?;
            reading.done()
        }
        ReadOrder::Random => {
            let paths = shuffled(tree, seed);
            let mut reading = Reading::new(place);
            for path in paths {
                reading.file(&directory, path.as_bytes())?;
            }
            reading.done()
        }
    };
    Ok(PhaseOutcome { counted: Some(counted), ..PhaseOutcome::wrote(0) })
}

/// What was read so far.
struct Reading<'a> {
    rules: Rules<'a>,
    started: Instant,
    buffer: Vec<u8>,
    counted: OperationTally,
}

impl<'a> Reading<'a> {
    fn new(place: PhaseContext<'a>) -> Self {
        let (rules, buffer) = (place.rules, vec![0; BUFFER_BYTES]);
        Self { rules, started: Instant::now(), buffer, counted: OperationTally::new() }
    }

    fn done(self) -> OperationTally {
        OperationTally { took: self.started.elapsed(), ..self.counted }
    }

    /// Reads the files in a directory and below it in the order in which they are listed, but not
    /// what has other names than these.
    fn walk(
        &mut self,
        directory: &OwnedFd,
        only: Option<&BTreeSet<&[u8]>>,
    ) -> Result<(), WorkloadError> {
        let error = |step, name: &CStr| WorkloadError::operation(step, &name.to_string_lossy());
        let entries = entries(directory).map_err(WorkloadError::operation("list", "a directory"));
        for (name, kind) in entries? {
            let is_wanted = only.is_none_or(|names| names.contains(name.to_bytes()));
            match kind {
                FileType::RegularFile if is_wanted => self.file(directory, name.to_bytes())?,
                FileType::Directory if is_wanted => {
                    let inner = openat(directory, &name, DIRECTORY, Mode::empty());
                    self.walk(&inner.map_err(error("open", &name))?, None)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, directory: &OwnedFd, path: &[u8]) -> Result<(), WorkloadError> {
        if self.counted.operations.is_multiple_of(CALLS_PER_CHECK as u64) {
            check_rules(self.rules, self.started.elapsed())?;
        }
        let since = self.started.elapsed();
        let bytes = openat(directory, path, FILE, Mode::empty())
            .and_then(|file| read_all(&file, &mut self.buffer))
            .map_err(WorkloadError::operation("read", &String::from_utf8_lossy(path)))?;
        let now = self.started.elapsed();
        self.counted.count(now, now.saturating_sub(since));
        self.counted.bytes += bytes;
        Ok(())
    }
}

/// Reads a file to its end; returns how many bytes it has.
fn read_all(file: impl AsFd, buffer: &mut [u8]) -> Result<u64, Errno> {
    let mut bytes = 0;
    loop {
        match read(&file, &mut *buffer)? {
            0 => return Ok(bytes),
            length => bytes += length as u64,
        }
    }
}

#[cfg(test)]
mod tests;

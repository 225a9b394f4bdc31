//! Commits to a database as a server makes them: to a log that is recycled, synced one by one, and
//! at checkpoints to its pages.
//!
//! What is written where, and what recovery makes of it, says
//! [`ssdlab_operations::cuts::database`]. Each sync
//! that returns is reported, so that the state after a power cut can be judged.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, fdatasync, fsync, mkdirat, openat};
use ssdlab_operations::cuts::database::{
    CONTROL, Checkpoint, CommitRecord, Commits, DOUBLE_WRITE, DatabaseFiles, DatabaseShape, LOG,
    LOG_BLOCK_BYTES, TABLE, TornPages,
};
use ssdlab_operations::cuts::{Damage, FileOperationStep, FileState, WatchedFile};
use ssdlab_plan::database::Database;

use super::history::{TrialReporter, make, read_all, timed};
use super::player::{DIRECTORY, open_directory, write_all_at};
use super::{PhaseContext, PhaseOutcome, WorkloadError};

/// A write when files are laid out, in bytes.
const CHUNK_BYTES: usize = 1 << 20;

const OLD: OFlags = OFlags::RDWR.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Makes a database without commits.
pub(super) fn lay_out(
    shape: DatabaseShape,
    seed: u64,
    place: PhaseContext<'_>,
) -> Result<(), WorkloadError> {
    let name = WatchedFile::Database(shape.torn_pages).name();
    let parent = open_directory(place.directory)?;
    mkdirat(&parent, &name, Mode::RWXU).map_err(WorkloadError::operation("make", &name))?;
    let directory = enter(shape, &parent).map_err(WorkloadError::operation("open", &name))?;
    let start = Checkpoint { seed, commit: 0, log_bytes: 0 };
    make(&directory, CONTROL, &start.to_bytes())?;
    zeros(&directory, LOG, shape.log_bytes())?;
    if shape.torn_pages == TornPages::DoubleWrite {
        zeros(&directory, DOUBLE_WRITE, shape.double_write_bytes())?;
    }
    let mut table = Written::new(make(&directory, TABLE, &[])?, TABLE);
    for page in 0..shape.table_pages {
        table.write(&shape.page(page, 0), u64::from(page) * u64::from(shape.page_bytes))?;
    }
    Ok(())
}

/// Makes a file of zeros, so that its space is allocated.
fn zeros(directory: &OwnedFd, name: &'static str, bytes: u64) -> Result<(), WorkloadError> {
    let mut file = Written::new(make(directory, name, &[])?, name);
    let chunk = vec![0; CHUNK_BYTES];
    for at in (0..bytes).step_by(CHUNK_BYTES) {
        let left = usize::try_from(bytes - at).unwrap_or(CHUNK_BYTES);
        file.write(&chunk[..left.min(CHUNK_BYTES)], at)?;
    }
    Ok(())
}

/// Commits, one after the other.
pub(super) fn run(
    work: &Database,
    teller: &TrialReporter,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let mut server = Server::open(work.shape, place)?;
    let subject = WatchedFile::Database(work.shape.torn_pages);
    let counted = timed(1..=work.commits, work.think_ns, place, |commit| {
        let tell = |step| teller.tell(subject, commit, step);
        let record = server.commits.commit();
        tell(FileOperationStep::Begun);
        server.append(&record)?;
        tell(FileOperationStep::Done);
        server.log.sync()?;
        tell(FileOperationStep::Place);
        server.dirty.extend(record.pages.iter().map(|page| (*page, record.commit)));
        if commit % work.shape.checkpoint_every == 0 { server.checkpoint() } else { Ok(()) }
    })?;
    let application_bytes = teller.counted(server.written_bytes());
    Ok(PhaseOutcome { application_bytes, counted: Some(counted), ..PhaseOutcome::default() })
}

/// The state in which a database is found, after recovery.
pub(super) fn look(shape: DatabaseShape, directory: &OwnedFd) -> Result<FileState, Damage> {
    let directory = enter(shape, directory).map_err(|_| Damage::Missing)?;
    let double_write = match shape.torn_pages {
        TornPages::DoubleWrite => read_all(&directory, DOUBLE_WRITE)?,
        TornPages::Nothing | TornPages::FullPages => Vec::new(),
    };
    let files = DatabaseFiles {
        control: read_all(&directory, CONTROL)?,
        log: read_all(&directory, LOG)?,
        table: read_all(&directory, TABLE)?,
        double_write,
    };
    Ok(FileState::of_database(shape, &files))
}

/// Opens a database's directory.
fn enter(shape: DatabaseShape, directory: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let name = WatchedFile::Database(shape.torn_pages).name();
    openat(directory, &name, DIRECTORY, Mode::empty())
}

/// A file that counts what is written to it.
struct Written {
    file: OwnedFd,
    name: &'static str,
    bytes: u64,
}

impl Written {
    fn new(file: OwnedFd, name: &'static str) -> Self {
        Self { file, name, bytes: 0 }
    }

    fn open(directory: &OwnedFd, name: &'static str) -> Result<Self, WorkloadError> {
        let file = openat(directory, name, OLD, Mode::empty());
        Ok(Self::new(file.map_err(WorkloadError::operation("open", name))?, name))
    }

    fn write(&mut self, data: &[u8], at: u64) -> Result<(), WorkloadError> {
        self.bytes += data.len() as u64;
        write_all_at(&self.file, data, at).map_err(WorkloadError::operation("write", self.name))
    }

    /// Syncs a file of which only the contents change.
    fn sync(&self) -> Result<(), WorkloadError> {
        fdatasync(&self.file).map_err(WorkloadError::operation("sync", self.name))
    }
}

/// A server: what it has opened, and what it has in memory only.
struct Server {
    shape: DatabaseShape,
    commits: Commits,
    control: Written,
    log: Written,
    /// The block in which the log ends, as far as it is written.
    block: Vec<u8>,
    table: Written,
    double_write: Option<Written>,
    /// The pages that were changed since the last checkpoint, and the last commit that did so.
    dirty: BTreeMap<u32, u32>,
}

impl Server {
    /// Opens a database without commits.
    fn open(shape: DatabaseShape, place: PhaseContext<'_>) -> Result<Self, WorkloadError> {
        let name = WatchedFile::Database(shape.torn_pages).name();
        let directory = enter(shape, &open_directory(place.directory)?)
            .map_err(WorkloadError::operation("open", &name))?;
        let control =
            read_all(&directory, CONTROL).and_then(|bytes| Checkpoint::from_bytes(&bytes));
        let control = control.map_err(|fault| WorkloadError::Differs {
            path: format!("{name}/{CONTROL}"),
            how: format!("is {fault}"),
        })?;
        let double_write = (shape.torn_pages == TornPages::DoubleWrite)
            .then(|| Written::open(&directory, DOUBLE_WRITE));
        Ok(Self {
            shape,
            commits: Commits::after(shape, control),
            control: Written::open(&directory, CONTROL)?,
            log: Written::open(&directory, LOG)?,
            block: Vec::new(),
            table: Written::open(&directory, TABLE)?,
            double_write: double_write.transpose()?,
            dirty: BTreeMap::new(),
        })
    }

    /// Writes a record to the log, in whole blocks.
    fn append(&mut self, record: &CommitRecord) -> Result<(), WorkloadError> {
        let begin = record.at_bytes - self.block.len() as u64;
        self.block.extend(&record.bytes);
        let end = self.block.len();
        self.block.resize(end.next_multiple_of(LOG_BLOCK_BYTES), 0);
        let capacity = self.shape.log_bytes();
        let at = begin % capacity;
        // The log begins anew at its end.
        let until_end = usize::try_from(capacity - at).unwrap_or(usize::MAX);
        let (first, rest) = self.block.split_at(until_end.min(self.block.len()));
        self.log.write(first, at)?;
        if !rest.is_empty() {
            self.log.write(rest, 0)?;
        }
        self.block.truncate(end);
        self.block.drain(..end - end % LOG_BLOCK_BYTES);
        Ok(())
    }

    /// Writes the changed pages in place, and says in the control file that it has.
    fn checkpoint(&mut self) -> Result<(), WorkloadError> {
        let Self { shape, double_write, dirty, table, .. } = self;
        let pages = dirty.iter().map(|(page, commit)| (*page, shape.page(*page, *commit)));
        if let Some(copies) = double_write {
            // One large sequential write.
            let all: Vec<u8> = pages.clone().flat_map(|(_, page)| page).collect();
            copies.write(&all, 0)?;
            copies.sync()?;
        }
        for (page, contents) in pages {
            table.write(&contents, u64::from(page) * u64::from(shape.page_bytes))?;
        }
        fsync(&table.file).map_err(WorkloadError::operation("sync", TABLE))?;
        dirty.clear();
        self.control.write(&self.commits.checkpoint().to_bytes(), 0)?;
        fsync(&self.control.file).map_err(WorkloadError::operation("sync", CONTROL))
    }

    fn written_bytes(&self) -> u64 {
        let files = [&self.control, &self.log, &self.table].into_iter().chain(&self.double_write);
        files.map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests;

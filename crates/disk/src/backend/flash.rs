//! Defines a disk that takes the time a simulated SSD would.
//!
//! The model does not store contents, which do not affect its timing. So the drive decides when a
//! command is done, and memory keeps the data.

use ssdlab_flash::{
    Command, Drive, DriveSample, Extent, MomentSpacing, Moments, Nanos, Specification, Stream,
};

use super::{Backend, BackendError, Memory, Writes};

/// A simulated SSD with contents.
///
/// Discarded data read as zeros, even on a drive that does not honour discards; a filesystem may
/// not rely on either.
///
/// A clone is a snapshot.
#[derive(Debug, Clone)]
pub struct Flash {
    drive: Drive,
    contents: Memory,
    watched: Option<Watched>,
    writes: Option<Writes>,
}

/// A watched drive: the start, its state then, and its course since.
#[derive(Debug, Clone)]
struct Watched {
    since: Nanos,
    first: DriveSample,
    course: Moments,
}

/// The mapping entry of a flash page or a logical page.
const MAPPING_BYTES: u64 = 4;

/// The maximum state of a block.
const BLOCK_BYTES: u64 = 32;

/// The maximum state of a flash page besides its mapping.
const STATE_BYTES: u64 = 1;

impl Flash {
    /// The maximum memory of such a drive, in bytes: its contents if no page is all zeros, and the
    /// tables of the model.
    pub fn most_bytes(drive: &Specification) -> u64 {
        // The tables have as many entries for a block of the SLC cache, which has fewer pages.
        let blocks =
            u64::from(drive.blocks) + drive.slc_cache.map_or(0, |slc| u64::from(slc.blocks));
        let block_bytes =
            BLOCK_BYTES + u64::from(drive.pages_per_block) * (MAPPING_BYTES + STATE_BYTES);
        let map_bytes = u64::from(drive.logical_pages) * MAPPING_BYTES;
        let model_bytes = map_bytes + blocks * block_bytes;
        Memory::most_bytes(drive.capacity_bytes()).saturating_add(model_bytes)
    }

    /// A drive that reads as zeros everywhere, in any state: conditioning affects its flash, not
    /// its contents.
    pub fn new(drive: Drive) -> Self {
        let contents = Memory::new(drive.specification().capacity_bytes());
        Self::with_contents(drive, contents)
    }

    /// A drive with contents, which must match its capacity.
    pub const fn with_contents(drive: Drive, contents: Memory) -> Self {
        Self { drive, contents, watched: None, writes: None }
    }

    /// The drive, for its activity and wear.
    pub const fn drive(&self) -> &Drive {
        &self.drive
    }

    pub const fn contents(&self) -> &Memory {
        &self.contents
    }

    /// Gives it other contents, which must match its capacity; its flash stays as it is.
    pub fn replace_contents(&mut self, contents: Memory) {
        self.contents = contents;
    }

    /// Keeps the data of all writes from now on.
    pub fn keep_writes(&mut self) {
        self.writes = Some(Writes::default());
    }

    /// The data that were kept, which are kept no more.
    pub fn take_writes(&mut self) -> Writes {
        self.writes.take().unwrap_or_default()
    }

    /// Watches the drive from now on, keeping at most this many moments.
    pub fn watch(&mut self, now: Nanos, moments: usize) {
        let first = DriveSample::of(&self.drive, Nanos::ZERO);
        let course = Moments::new(MomentSpacing::Time, moments);
        self.watched = Some(Watched { since: now, first, course });
    }

    /// The moments seen, by the time since [`Self::watch`]: the first, those between, and the
    /// current one; empty if it was not watched.
    pub fn watched(&mut self, now: Nanos) -> Vec<DriveSample> {
        let Some(Watched { since, first, course }) = self.watched.take() else {
            return Vec::new();
        };
        let rest = course.end(&self.drive, now.since(since));
        std::iter::once(first).chain(rest).collect()
    }

    fn store(
        &mut self,
        now: Nanos,
        write: Command,
        offset_bytes: u64,
        from: &[u8],
    ) -> Result<Nanos, BackendError> {
        let done = self.submit(now, write)?;
        self.contents.store(offset_bytes, from)?;
        if let Some(writes) = &mut self.writes {
            writes.push(from);
        }
        Ok(done)
    }

    fn submit(&mut self, now: Nanos, command: Command) -> Result<Nanos, BackendError> {
        let done = self.drive.submit(now, command)?.at;
        if let Some(watched) = &mut self.watched {
            watched.course.record(&self.drive, now.since(watched.since));
        }
        Ok(done)
    }
}

impl Backend for Flash {
    fn capacity_bytes(&self) -> u64 {
        self.contents.capacity_bytes()
    }

    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        let extent = Extent { offset_bytes, length_bytes: into.len() as u64 };
        let done = self.submit(now, Command::Read(extent))?;
        self.contents.load(offset_bytes, into)?;
        Ok(done)
    }

    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        let extent = Extent { offset_bytes, length_bytes: from.len() as u64 };
        self.store(now, Command::Write(extent, Stream::default()), offset_bytes, from)
    }

    fn write_fua(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        from: &[u8],
    ) -> Result<Nanos, BackendError> {
        let extent = Extent { offset_bytes, length_bytes: from.len() as u64 };
        self.store(now, Command::WriteFua(extent), offset_bytes, from)
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        let done = self.submit(now, Command::Discard(extent))?;
        self.contents.clear(extent)?;
        Ok(done)
    }

    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        let done = self.submit(now, Command::WriteZeroes(extent))?;
        self.contents.clear(extent)?;
        Ok(done)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        self.submit(now, Command::Flush)
    }
}

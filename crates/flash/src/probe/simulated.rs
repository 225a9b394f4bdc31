//! A simulated drive that answers the questions of a probe, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ssdlab_quantity::Bytes;

use crate::command::{Command, Extent, Refusal, Stream};
use crate::drive::Drive;
use crate::drive_file::{DriveFile, DriveFileError};
use crate::probe::{FILL_BYTES, PROBE_FILE_BYTES, PartTimes, ProbeAccess, ProbePart, ProbedDrive};
use crate::random::DriveRandom;
use crate::specification::Specification;
use crate::units::Nanos;

/// The capacity of a drive that is asked: of so many superblocks, so that none has to be collected
/// for what a probe writes, and at least so many times the file, so that it fits in an SLC cache.
const BLOCKS: u64 = 32;
const FILES: u64 = 16;

/// The host's own time for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeHost {
    /// What the processor does for a request of 4 KiB. Requests under way share one processor.
    pub per_request: Nanos,
}

impl ProbeHost {
    /// From no time to that of a drive that another program serves.
    pub const ALL: [Self; 5] =
        [Self::of(0), Self::of(1_000), Self::of(2_000), Self::of(4_000), Self::of(8_000)];

    const fn of(ns: u64) -> Self {
        Self { per_request: Nanos(ns) }
    }

    /// The processor's time for a request: data have to be mapped or copied, too.
    fn issue(self, bytes: u64) -> Nanos {
        const COPIED_BYTES: u64 = 64 << 10;
        Nanos(self.per_request.0 + self.per_request.0 * bytes / COPIED_BYTES)
    }

    /// The time until a program that waits for one request runs again, which those of others
    /// overlap: an interrupt, and a change of tasks.
    fn wake(self) -> Nanos {
        Nanos(3 * self.per_request.0)
    }
}

/// A simulated drive under a host.
#[derive(Debug, Clone)]
pub struct SimulatedProbe {
    drive: Drive,
    host: ProbeHost,
    now: Nanos,
}

impl SimulatedProbe {
    pub const fn new(drive: Drive, host: ProbeHost) -> Self {
        Self { drive, host, now: Nanos::ZERO }
    }

    /// The drive of a file, empty, and of a capacity that is small enough to be asked in a moment.
    pub fn of(text: &str, host: ProbeHost, seed: u64) -> Result<Self, DriveFileError> {
        let specification = small(DriveFile::parse(text)?)?;
        Ok(Self::new(Drive::new(specification, seed), host))
    }

    /// Performs requests at the places that `next` gives.
    fn run(
        &mut self,
        part: &ProbePart,
        mut next: impl FnMut() -> u64,
    ) -> Result<PartTimes, Refusal> {
        let depth = part.load.depth as usize;
        let begun = self.now;
        let mut times = PartTimes::default();
        let mut under_way = BinaryHeap::with_capacity(depth);
        let mut end = begun;
        for _ in 0..part.requests {
            if under_way.len() == depth
                && let Some(Reverse(done)) = under_way.pop()
            {
                self.now = self.now.max(done);
            }
            let issued = self.now;
            let extent =
                Extent { offset_bytes: next(), length_bytes: part.load.request_bytes.into() };
            self.now += self.host.issue(extent.length_bytes);
            let done = self.submit(part.load.access, extent, &mut times)? + self.host.wake();
            times.each.push(done.since(issued));
            under_way.push(Reverse(done));
            end = end.max(done);
        }
        self.now = self.now.max(end);
        if depth > 1 {
            times.each.clear();
        }
        times.elapsed = self.now.since(begun);
        Ok(times)
    }

    /// Performs one request. Returns when the host learns that it is done.
    fn submit(
        &mut self,
        access: ProbeAccess,
        extent: Extent,
        times: &mut PartTimes,
    ) -> Result<Nanos, Refusal> {
        let write = Command::Write(extent, Stream::default());
        let flush = match access {
            ProbeAccess::Read => return Ok(self.drive.submit(self.now, Command::Read(extent))?.at),
            ProbeAccess::Write => return Ok(self.drive.submit(self.now, write)?.at),
            ProbeAccess::FuaWrite => {
                return Ok(self.drive.submit(self.now, Command::WriteFua(extent))?.at);
            }
            ProbeAccess::SyncedWrite => self.host.wake() + self.host.issue(0),
        };
        let written = self.drive.submit(self.now, write)?.at;
        let done = self.drive.submit(written + flush, Command::Flush)?.at;
        times.flushes.push((done + self.host.wake()).since(written + self.host.wake()));
        Ok(done)
    }
}

/// A drive with at most the capacity that a probe needs.
pub(super) fn small(mut file: DriveFile) -> Result<Specification, DriveFileError> {
    let bytes = capacity(&file)?;
    if bytes < *file.capacity.get_ref() {
        file.with_capacity(bytes);
    }
    file.resolve()
}

pub(super) fn capacity(file: &DriveFile) -> Result<Bytes, DriveFileError> {
    let whole = file.resolve()?;
    let block_bytes = u64::from(whole.pages_per_block) * u64::from(whole.page_bytes);
    let bytes = (BLOCKS * block_bytes).max(FILES * PROBE_FILE_BYTES);
    Ok(Bytes(bytes.min(whole.capacity_bytes())))
}

impl ProbedDrive for SimulatedProbe {
    type Error = Refusal;

    fn fill(&mut self, offset_bytes: u64) -> Result<Nanos, Refusal> {
        const STEP_BYTES: u64 = 1 << 20;
        let begun = self.now;
        for step in 0..FILL_BYTES / STEP_BYTES {
            let offset_bytes = offset_bytes + step * STEP_BYTES;
            let extent = Extent { offset_bytes, length_bytes: STEP_BYTES };
            let write = Command::Write(extent, Stream::default());
            self.now = self.drive.submit(self.now + self.host.issue(STEP_BYTES), write)?.at;
        }
        Ok(self.now.since(begun))
    }

    fn perform(&mut self, part: &ProbePart) -> Result<PartTimes, Refusal> {
        let bytes = u64::from(part.load.request_bytes);
        let places = part.load.span_bytes / bytes;
        if part.load.is_sequential {
            let mut number = 0;
            return self.run(part, || {
                number += 1;
                (number - 1) % places * bytes
            });
        }
        let mut random = DriveRandom::new(part.seed);
        let places = u32::try_from(places).expect("a file has few places");
        self.run(part, || u64::from(random.below(places)) * bytes)
    }

    fn settle(&mut self, pause: Nanos) -> Result<(), Refusal> {
        self.now = self.drive.submit(self.now, Command::Flush)?.at + pause;
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.now
    }
}

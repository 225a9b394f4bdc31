//! The bytes on a drive after a power cut, from its writes and their times.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};
use ssdlab_disk::{Backend, BackendError, Memory, Writes};
use ssdlab_flash::{
    Command, Extent, LoggedRequest, Nanos, PowerCut, RevertedSectors, SECTOR_BYTES, SectorContents,
    Stream, Survivor,
};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_trace::{Flags, Request, RequestKind, TraceOptions, TraceReader};

use super::failure::Failure;

/// The requests to a drive, with the data of writes.
#[derive(Debug, Default)]
pub(super) struct LoggedRequests {
    /// In the order of submission.
    pub log: Vec<LoggedRequest>,
    /// The index of each write, if its data are kept.
    write_of: Vec<Option<usize>>,
    writes: Writes,
}

impl LoggedRequests {
    /// Reads a log whose writes have these data.
    pub fn read(log: &Path, writes: Writes) -> io::Result<Self> {
        let options = TraceOptions::default();
        let mut reader = TraceReader::detect(BufReader::new(File::open(log)?), &options)
            .map_err(io::Error::other)?;
        let mut requests = Self { log: Vec::new(), write_of: Vec::new(), writes };
        let mut written = 0;
        while let Some(request) = reader.next() {
            let request = request.map_err(io::Error::other)?;
            let logged = logged(&request, reader.began_ns().unwrap_or(0));
            let is_write = matches!(logged.command, Command::Write(..));
            requests.write_of.push(is_write.then_some(written));
            written += usize::from(is_write);
            requests.log.push(logged);
        }
        Ok(requests)
    }

    /// The last of the first requests that changes what the drive holds.
    pub fn last_change(&self, first: usize) -> Option<usize> {
        let changes =
            |logged: &LoggedRequest| !matches!(logged.command, Command::Read(_) | Command::Flush);
        self.log[..first].iter().rposition(changes)
    }

    /// Adds a request, with the data of a write.
    pub fn push(&mut self, logged: LoggedRequest, data: &[u8]) {
        let is_write = matches!(logged.command, Command::Write(..));
        self.write_of.push(is_write.then(|| self.writes.push(data)));
        self.log.push(logged);
    }
}

fn logged(request: &Request, began_ns: u64) -> LoggedRequest {
    let extent = Extent { offset_bytes: request.offset_bytes, length_bytes: request.length_bytes };
    LoggedRequest {
        submitted: Nanos(request.submitted_ns + began_ns),
        completed: request.completed_ns.map(|at| Nanos(at + began_ns)),
        command: match request.kind {
            RequestKind::Read => Command::Read(extent),
            RequestKind::Write => Command::Write(extent, Stream::default()),
            RequestKind::Discard => Command::Discard(extent),
            RequestKind::WriteZeroes => Command::WriteZeroes(extent),
            RequestKind::Flush => Command::Flush,
        },
        is_fua: request.flags.contains(Flags::FUA),
    }
}

/// The contents of a drive after cuts, which are asked for in the order of time.
#[derive(Debug)]
pub(super) struct Images<'a> {
    requests: &'a LoggedRequests,
    /// The contents when the log began.
    original: &'a Memory,
    /// The contents if the first requests survive completely, up to a number of them.
    newest: Memory,
    applied: usize,
}

impl<'a> Images<'a> {
    pub fn new(requests: &'a LoggedRequests, original: &'a Memory) -> Self {
        Self { requests, original, newest: original.clone(), applied: 0 }
    }

    /// The contents of one survivor of a cut.
    pub fn of(&mut self, cut: &PowerCut<'_>, survivor: &Survivor) -> Result<Memory, BackendError> {
        while self.applied < cut.submitted() {
            apply(self.requests, self.applied, &mut self.newest)?;
            self.applied += 1;
        }
        let mut image = self.newest.clone();
        for reverted in &survivor.reverted {
            self.revert(reverted, &mut image)?;
        }
        Ok(image)
    }

    fn revert(&self, reverted: &RevertedSectors, image: &mut Memory) -> Result<(), BackendError> {
        let offset_bytes = reverted.sectors.start * SECTOR_BYTES;
        let length = (reverted.sectors.end - reverted.sectors.start) * SECTOR_BYTES;
        let mut data = vec![0; usize::try_from(length).expect("a part of a request")];
        match reverted.to {
            SectorContents::Original => self.original.load(offset_bytes, &mut data)?,
            SectorContents::Of(number) => {
                let write = self.requests.write_of[number];
                if let (Some(write), Command::Write(extent, _)) =
                    (write, self.requests.log[number].command)
                {
                    let offset = offset_bytes - extent.offset_bytes;
                    let offset = usize::try_from(offset).expect("a part of a request");
                    self.requests.writes.copy(write, offset, &mut data);
                }
            }
        }
        image.write(Nanos::ZERO, offset_bytes, &data).map(drop)
    }
}

/// The SHA-256 of what a drive holds, in hex: of its 4 KiB pages that are not all zeros, in order,
/// each after its offset in bytes, and of the capacity after the last; both as 64 bits,
/// little-endian. Of a drive of a terabyte a trial writes little, and only that is hashed.
pub(super) fn sha256(image: &Memory, interrupt: &Interrupt) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    for (offset_bytes, page) in image.pages() {
        if interrupt.is_set() {
            return Err(Failure::Interrupted);
        }
        hash.update(offset_bytes.to_le_bytes());
        hash.update(page);
    }
    hash.update(image.capacity_bytes().to_le_bytes());
    Ok(hex::encode(hash.finalize()))
}

/// Lets one request take effect.
fn apply(requests: &LoggedRequests, number: usize, image: &mut Memory) -> Result<(), BackendError> {
    match requests.log[number].command {
        Command::Write(extent, _) | Command::WriteFua(extent) => {
            let write = requests.write_of[number].expect("a write has data");
            image.write(Nanos::ZERO, extent.offset_bytes, &requests.writes.data(write))?;
        }
        Command::Discard(extent) | Command::WriteZeroes(extent) => {
            image.discard(Nanos::ZERO, extent)?;
        }
        Command::Read(_) | Command::Flush => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests;

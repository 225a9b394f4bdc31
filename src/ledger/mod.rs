//! The ledger: what the bytes are that a filesystem has written.
//!
//! The requests of a trial tell where bytes went and whose they are, the filesystem's layout what
//! lies there. The device's own counters say where each phase ends among the requests, and what
//! they must add up to: no clock is needed for it, and a request that is missing is found out. It
//! is by the bytes: among the writes of the kernel's counters are requests that only flush.

mod attribution;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use ssdlab_trace::{Kind as Does, Request, TraceError};
use thiserror::Error;

use self::attribution::Attribution;
use crate::filesystem::Layout;
use crate::filesystem::layout::Kind;
use crate::results::{ByKind, Written};

/// Tells from the beginning of a block of the filesystem's own what it is.
pub type Teller = fn(&[u8]) -> Option<Kind>;

/// Reads the device from an offset in bytes, until the slice is full.
pub type Read<'a> = &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>;

/// What is known of the filesystem whose writes are attributed.
pub struct Known<'a> {
    /// Where it keeps what.
    pub layout: &'a Layout,
    /// Tells what a block outside all areas is; `None` where its layout says that, too.
    pub teller: Option<Teller>,
    /// The device as the trial has left it.
    pub read: Read<'a>,
}

/// Why the kinds of what was written are not known.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The log of requests cannot be read.
    #[error("the log of requests: {0}")]
    Log(#[from] TraceError),
    /// The device cannot be read.
    #[error("cannot read the device at byte {offset_bytes} to see what was written there: {cause}")]
    Device {
        /// Where.
        offset_bytes: u64,
        /// Why not.
        cause: io::Error,
    },
    /// Requests are missing, or there are more than the device has counted.
    #[error(
        "the requests seen do not add up to the device's counters: expected {} bytes in {} writes, \
         found {} in {}; a driver without a request queue (dm, md) reports none: measure the disk \
         below it, or leave the requests out with --no-trace",
        expected.bytes, expected.requests, found.bytes, found.requests
    )]
    Skewed {
        /// What the device has counted.
        expected: Written,
        /// What the requests come to.
        found: Written,
    },
}

/// What was written between moments, by what it is.
///
/// `requests` are in the order of their submission, from the beginning of a trial on; `moments` are
/// what the device had counted by then, since then. The first of the results is what was written
/// before the first moment, and there is one for each moment.
pub fn by_kind(
    requests: impl IntoIterator<Item = Result<Request, TraceError>>,
    moments: &[Written],
    known: Known<'_>,
) -> Result<Vec<ByKind>, LedgerError> {
    let mut pages =
        Pages { moments, done: Vec::new(), open: ByKind::default(), sum: Written::default() };
    let mut attribution = Attribution::new(known);
    // The device counts what is completed. All that is submitted later is completed later, too.
    let mut on_their_way: BTreeMap<(u64, u64), Request> = BTreeMap::new();
    for (number, request) in (0..).zip(requests) {
        let request = request?;
        while let Some(first) = on_their_way.first_entry()
            && first.key().0 <= request.submitted_ns
        {
            pages.enter(&first.remove(), &mut attribution)?;
        }
        if let Some(completed_ns) = request.completed_ns
            && matches!(request.kind, Does::Write | Does::WriteZeroes)
        {
            on_their_way.insert((completed_ns, number), request);
        }
    }
    for request in on_their_way.into_values() {
        pages.enter(&request, &mut attribution)?;
    }
    pages.close()
}

/// The pages of the ledger: one for what comes before each moment.
struct Pages<'a> {
    moments: &'a [Written],
    done: Vec<ByKind>,
    open: ByKind,
    /// All requests so far.
    sum: Written,
}

impl Pages<'_> {
    fn enter(
        &mut self,
        request: &Request,
        attribution: &mut Attribution<'_>,
    ) -> Result<(), LedgerError> {
        self.turn()?;
        // What comes after the last moment is nobody's.
        if self.done.len() < self.moments.len() {
            attribution.add(request, &mut self.open)?;
        }
        self.sum += Written { bytes: request.length_bytes, requests: 1 };
        Ok(())
    }

    /// Begins a new page for each moment that has come.
    fn turn(&mut self) -> Result<(), LedgerError> {
        while let Some(moment) = self.moments.get(self.done.len()) {
            if moment.bytes < self.sum.bytes || moment.requests < self.sum.requests {
                return Err(LedgerError::Skewed { expected: *moment, found: self.sum });
            }
            if moment.bytes > self.sum.bytes {
                break;
            }
            self.done.push(std::mem::take(&mut self.open));
        }
        Ok(())
    }

    fn close(mut self) -> Result<Vec<ByKind>, LedgerError> {
        self.turn()?;
        match self.moments.get(self.done.len()) {
            Some(moment) => Err(LedgerError::Skewed { expected: *moment, found: self.sum }),
            None => Ok(self.done),
        }
    }
}

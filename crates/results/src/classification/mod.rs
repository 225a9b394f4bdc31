//! The ledger: classifies the bytes that a filesystem has written.
//!
//! The requests of a trial say where bytes went and to whom they belong; the filesystem's layout
//! says what is there. The device's own counters locate the end of each phase among the requests
//! and their required sum, so no clock is needed and a missing request is detected. Phases are
//! located by bytes, because the kernel's write counter includes requests that only flush.
//!
//! An area of the layout gives the kind of all bytes in it. For bytes outside areas, the kernel
//! reports how many belong to files, to directories and to the filesystem's own structures; the
//! layout gives the kind of those structures, or each block reveals it by its first bytes.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use crate::{ByKind, KindWrites};
use ssdlab_filesystem::Layout;
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_trace::{Request, RequestKind, TraceError, WriteOrigin};
use thiserror::Error;

/// How many bytes at the start of a block identify it.
const HEAD_BYTES: usize = 512;

/// Recognises a metadata block by its start.
pub type ContentsClassifier = fn(&[u8]) -> Option<BlockKind>;

/// Reads the device from an offset in bytes, until the slice is full.
pub type ReadDevice<'a> = &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<()>;

/// The knowledge about the filesystem whose writes are attributed.
pub struct KnownFilesystem<'a> {
    pub layout: &'a Layout,
    /// Recognises blocks outside all areas; `None` if the layout gives their kind.
    pub classifier: Option<ContentsClassifier>,
    /// The device after the trial.
    pub read: ReadDevice<'a>,
}

/// Why the kinds of written bytes are unknown.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The log of requests cannot be read.
    #[error("the request log: {0}")]
    Log(#[from] TraceError),
    /// The device cannot be read.
    #[error(
        "cannot read the device at byte {offset_bytes} to classify what was written there: {cause}"
    )]
    Device {
        /// Where.
        offset_bytes: u64,
        cause: io::Error,
    },
    /// Requests are missing, or there are more than the device counted.
    #[error(
        "the recorded requests do not add up to the device's counters: expected {} bytes in {} \
         writes, found {} in {}; a driver without a request queue (dm, md) reports no requests: \
         measure the disk below it, or disable recording with --no-trace",
        expected.bytes, expected.requests, found.bytes, found.requests
    )]
    Skewed {
        /// The device's counters.
        expected: KindWrites,
        /// The sums over the requests.
        found: KindWrites,
    },
}

/// The bytes written between moments, by kind.
///
/// `requests` are in submission order, from the beginning of a trial; `moments` are the device's
/// counts since then. The first result covers the writes before the first moment; there is one
/// result per moment.
pub fn by_kind(
    requests: impl IntoIterator<Item = Result<Request, TraceError>>,
    moments: &[KindWrites],
    known: KnownFilesystem<'_>,
) -> Result<Vec<ByKind>, LedgerError> {
    let mut pages =
        Pages { moments, done: Vec::new(), open: ByKind::default(), sum: KindWrites::default() };
    let mut attribution = Attribution::new(known);
    // The device counts completions, so requests are processed in completion order.
    let mut on_their_way: BTreeMap<(u64, u64), Request> = BTreeMap::new();
    for (number, request) in (0..).zip(requests) {
        let request = request?;
        while let Some(first) = on_their_way.first_entry()
            && first.key().0 <= request.submitted_ns
        {
            pages.enter(&first.remove(), &mut attribution)?;
        }
        if let Some(completed_ns) = request.completed_ns
            && matches!(request.kind, RequestKind::Write | RequestKind::WriteZeroes)
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
    moments: &'a [KindWrites],
    done: Vec<ByKind>,
    open: ByKind,
    /// All requests so far.
    sum: KindWrites,
}

impl Pages<'_> {
    fn enter(
        &mut self,
        request: &Request,
        attribution: &mut Attribution<'_>,
    ) -> Result<(), LedgerError> {
        self.turn()?;
        // Writes after the last moment belong to no phase.
        if self.done.len() < self.moments.len() {
            attribution.add(request, &mut self.open)?;
        }
        self.sum += KindWrites { bytes: request.length_bytes, requests: 1 };
        Ok(())
    }

    /// Starts a new page for each moment reached.
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

/// Attributes requests.
struct Attribution<'a> {
    known: KnownFilesystem<'a>,
}

/// Bytes of each kind, indexed by [`BlockKind`].
#[derive(Default)]
struct Bytes([u64; BlockKind::ALL.len()]);

impl Bytes {
    fn add(&mut self, kind: BlockKind, bytes: u64) {
        self.0[kind as usize] += bytes;
    }
}

impl<'a> Attribution<'a> {
    fn new(known: KnownFilesystem<'a>) -> Self {
        Self { known }
    }

    /// Adds a request to the written bytes; it counts towards the kind of most of its bytes.
    fn add(&mut self, request: &Request, to: &mut ByKind) -> Result<(), LedgerError> {
        let bytes = self.bytes(request)?;
        let most = bytes.0.iter().copied().max().unwrap_or(0);
        let first = BlockKind::ALL.into_iter().find(|kind| bytes.0[*kind as usize] == most);
        for kind in BlockKind::ALL {
            let requests = u64::from(first == Some(kind));
            *to.of_mut(kind) += KindWrites { bytes: bytes.0[kind as usize], requests };
        }
        Ok(())
    }

    fn bytes(&mut self, request: &Request) -> Result<Bytes, LedgerError> {
        let mut bytes = Bytes::default();
        let mut outside = Vec::new();
        let mut at = request.offset_bytes;
        let mut structures_inside = 0;
        let layout = self.known.layout;
        for (length, kind) in layout.split(request.offset_bytes, request.length_bytes) {
            match kind {
                Some(kind) => {
                    bytes.add(kind, length);
                    structures_inside += if kind == layout.files { 0 } else { length };
                }
                None => outside.push((at, length)),
            }
            at += length;
        }
        let outside_bytes: u64 = outside.iter().map(|(_, length)| length).sum();
        let Some(WriteOrigin { directory_bytes, metadata_bytes }) = request.origin else {
            bytes.add(BlockKind::Unattributed, outside_bytes);
            return Ok(bytes);
        };
        let directories = directory_bytes.min(outside_bytes);
        let structures =
            metadata_bytes.saturating_sub(structures_inside).min(outside_bytes - directories);
        bytes.add(BlockKind::Directory, directories);
        bytes.add(layout.files, outside_bytes - directories - structures);
        self.structures(structures, &outside, &mut bytes)?;
        Ok(bytes)
    }

    /// Adds bytes of the filesystem's own structures, which lie somewhere in these ranges.
    fn structures(
        &mut self,
        structures: u64,
        ranges: &[(u64, u64)],
        bytes: &mut Bytes,
    ) -> Result<(), LedgerError> {
        let mut left = structures;
        if let Some(tell) = self.known.classifier {
            let block_bytes = self.known.layout.block_bytes.max(1);
            for (offset, length) in ranges {
                let mut at = *offset;
                while at < offset + length && left > 0 {
                    let piece =
                        (block_bytes - at % block_bytes).min(offset + length - at).min(left);
                    if let Some(kind) = tell(&self.head(at)?) {
                        bytes.add(kind, piece);
                        left -= piece;
                    }
                    at += piece;
                }
            }
        }
        bytes.add(self.known.layout.metadata, left);
        Ok(())
    }

    fn head(&mut self, offset_bytes: u64) -> Result<[u8; HEAD_BYTES], LedgerError> {
        let mut head = [0; HEAD_BYTES];
        let read = (self.known.read)(offset_bytes, &mut head);
        read.map_err(|cause| LedgerError::Device { offset_bytes, cause })?;
        Ok(head)
    }
}

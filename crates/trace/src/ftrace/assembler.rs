//! Defines the way from sub-buffers to requests.
//!
//! Each processor has a buffer of its own, in order. A request may be queued, issued and completed
//! on three of them, so their events are brought into one order first. That needs somebody who
//! knows up to which time all of them have been read.

use std::ops::Range;

use super::FtraceError;
use super::block::{Event, Layout, Target};
use super::pairing::Pairing;
use crate::Request;
use crate::field::SECTOR_BYTES;

/// The most events that wait to be put in order: a third of a second of a million requests each.
const MOST_EVENTS: usize = 1 << 20;

/// What is missing in a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Events that the kernel overwrote before they were read; at least so many.
    pub overwritten: u64,
    /// Events and requests that were given up because about a million waited: for
    /// [`Assembler::advance`], for [`Assembler::pop`], or for one that is never completed.
    pub given_up: u64,
}

/// Makes the requests to one device of what the kernel recorded.
///
/// Times are those of the trace's clock. Offsets are from the start of the target; of a request
/// that reaches beyond it only the part within is given, and one without such a part is left out.
/// Flushes are the disk's, and given all. A discard that the kernel merged of several ranges has
/// the place of the first and the length of all: no event tells the others.
#[derive(Debug)]
pub struct Assembler {
    layout: Layout,
    target: Target,
    events: Vec<Event>,
    pairing: Pairing,
    lost: Lost,
}

impl Assembler {
    /// Begins with nothing known of what is on its way to the device.
    #[must_use]
    pub fn new(layout: Layout, target: Target) -> Self {
        let (events, pairing, lost) = (Vec::new(), Pairing::default(), Lost::default());
        Self { layout, target, events, pairing, lost }
    }

    /// Takes a sub-buffer. Those of one processor must come in order.
    ///
    /// An error says that this one cannot be understood; what came before the fault is taken.
    pub fn take(&mut self, sub_buffer: &[u8]) -> Result<(), FtraceError> {
        let records = self.layout.records(sub_buffer)?;
        self.lost.overwritten = self.lost.overwritten.saturating_add(records.lost);
        for record in records {
            if let Some(event) = self.layout.event(&record?, &self.target)? {
                if self.events.len() < MOST_EVENTS {
                    self.events.push(event);
                } else {
                    self.lost.given_up += 1;
                }
            }
        }
        Ok(())
    }

    /// Says that every event up to this time has been taken, on all processors.
    pub fn advance(&mut self, until_ns: u64) {
        self.events.sort_by_key(|event| event.time_ns);
        let known = self.events.partition_point(|event| event.time_ns <= until_ns);
        for event in self.events.drain(..known) {
            self.lost.given_up += self.pairing.take(&event);
        }
    }

    /// The next request in the order of submission, if it and all before it are known to be done.
    pub fn pop(&mut self) -> Option<Request> {
        while let Some(request) = self.pairing.pop() {
            if let Some(request) = within(request, &self.target.sectors) {
                return Some(request);
            }
        }
        None
    }

    /// Says that all events have been taken. What is not done by then is given as not completed.
    pub fn end(&mut self) {
        self.advance(u64::MAX);
        self.pairing.end();
    }

    /// What is missing so far.
    #[must_use]
    pub fn lost(&self) -> Lost {
        self.lost
    }
}

/// The part of a request to the disk that lies in a range of it, with offsets from its start.
fn within(mut request: Request, sectors: &Range<u64>) -> Option<Request> {
    if request.length_bytes == 0 {
        return Some(request);
    }
    let range_start = sectors.start.saturating_mul(SECTOR_BYTES);
    let range_end = sectors.end.saturating_mul(SECTOR_BYTES);
    let end = request.offset_bytes.saturating_add(request.length_bytes).min(range_end);
    let start = request.offset_bytes.max(range_start);
    request.length_bytes = end.checked_sub(start).filter(|length| *length > 0)?;
    request.offset_bytes = start - range_start;
    if let Some(origin) = &mut request.origin {
        origin.metadata_bytes = origin.metadata_bytes.min(request.length_bytes);
    }
    Some(request)
}

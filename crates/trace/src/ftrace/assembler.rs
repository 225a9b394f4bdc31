//! Defines how sub-buffers become requests.
//!
//! Each processor has its own ordered buffer. A request may be queued, issued and completed on
//! three different processors, so all events are merged into one order first. For that the caller
//! must say up to which time all buffers have been read.
//!
//! Every completed byte belongs to exactly one request:
//!
//! - A request may complete in parts. It is complete when the last one is.
//! - A request returned by the driver is issued again, as a new request. The completed part of the
//!   first, usually nothing, remains.
//! - A completion that matches no issue makes a request with both at the same time: it was issued
//!   before the trace began, or the issue event was lost.

use std::ops::Range;

use super::FtraceError;
use super::block::{BlockEvent, BlockStep, RecordLayout, TracedDevice};
use super::in_flight::InFlightRequests;
use super::marks::Marks;
use crate::field::SECTOR_BYTES;
use crate::{Request, RequestKind};

/// The maximum number of events waiting to be ordered: a third of a second at a million requests
/// per second.
const MOST_EVENTS: usize = 1 << 20;

/// What is missing in a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostEvents {
    /// Events that the kernel overwrote before they were read; a lower bound.
    pub overwritten: u64,
    /// Events and requests dropped because about a million were waiting: for
    /// [`Assembler::advance`], for [`Assembler::pop`], or for a request that never completes.
    pub given_up: u64,
}

/// Assembles the requests to one device from the kernel's events.
///
/// Times are those of the trace's clock. Offsets are from the start of the target; requests are
/// clipped to it, and those outside it are dropped. Flushes apply to the whole disk, and all are
/// reported. A discard that the kernel merged from several ranges has the offset of the first and
/// the total length: no event reports the others.
#[derive(Debug)]
pub struct Assembler {
    layout: RecordLayout,
    target: TracedDevice,
    events: Vec<BlockEvent>,
    pairing: Pairing,
    lost: LostEvents,
}

impl Assembler {
    /// Starts without knowledge of requests in flight.
    pub fn new(layout: RecordLayout, target: TracedDevice) -> Self {
        let (events, pairing, lost) = (Vec::new(), Pairing::default(), LostEvents::default());
        Self { layout, target, events, pairing, lost }
    }

    /// Takes a sub-buffer. Those of each processor must come in order.
    ///
    /// On an error, the events before the malformed one have been taken.
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

    /// Declares that every event up to this time has been taken, from all processors.
    pub fn advance(&mut self, until_ns: u64) {
        self.events.sort_by_key(|event| event.time_ns);
        let known = self.events.partition_point(|event| event.time_ns <= until_ns);
        for event in self.events.drain(..known) {
            self.lost.given_up += self.pairing.take(&event);
        }
    }

    /// The next request in submission order, if it and all before it are known to be complete.
    pub fn pop(&mut self) -> Option<Request> {
        while let Some(request) = self.pairing.pop() {
            if let Some(request) = within(request, &self.target.sectors) {
                return Some(request);
            }
        }
        None
    }

    /// Declares that all events have been taken. Requests still in flight are reported as
    /// incomplete.
    pub fn end(&mut self) {
        self.advance(u64::MAX);
        self.pairing.end();
    }

    /// What is missing so far.
    pub fn lost(&self) -> LostEvents {
        self.lost
    }
}

/// The part of a disk request within a range of sectors, with its offset from the start of the
/// range.
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

/// Makes requests from events.
#[derive(Debug, Default)]
pub struct Pairing {
    marks: Marks,
    in_flight: InFlightRequests,
}

impl Pairing {
    /// Takes the next event. Returns how many requests and marks were dropped because too many
    /// wait.
    pub fn take(&mut self, event: &BlockEvent) -> u64 {
        let sectors = event.sector..event.sector + event.sectors;
        match event.step {
            BlockStep::Queued => u64::from(!self.marks.put(event.kind, &sectors, event.flags)),
            BlockStep::Issued => self.in_flight.issue(event),
            BlockStep::Requeued => {
                self.in_flight.requeue(event);
                0
            }
            BlockStep::Completed => self.complete(event),
        }
    }

    fn complete(&mut self, event: &BlockEvent) -> u64 {
        let marked = self.marks.take(event.kind, &(event.sector..event.sector + event.sectors));
        if self.in_flight.complete(event, marked) || event.kind == RequestKind::Flush {
            return 0;
        }
        let given_up = self.in_flight.issue(event);
        self.in_flight.complete(event, marked);
        given_up
    }

    /// The next request, if it and all issued before it are complete.
    pub fn pop(&mut self) -> Option<Request> {
        self.in_flight.pop()
    }

    /// Releases incomplete requests as they are.
    pub fn end(&mut self) {
        self.in_flight.end();
    }
}

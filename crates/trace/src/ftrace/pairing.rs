//! Defines how ordered events become requests, with the marks of bios and paired issue and
//! completion.
//!
//! Every completed byte belongs to exactly one request:
//!
//! - A request may complete in parts. It is complete when the last one is.
//! - A request returned by the driver is issued again, as a new request. The completed part of the
//!   first, usually nothing, remains.
//! - A completion that matches no issue makes a request with both at the same time: it was issued
//!   before the trace began, or the issue event was lost.

use super::block::{BlockEvent, BlockStep};
use super::in_flight::InFlightRequests;
use super::marks::Marks;
use crate::{Request, RequestKind};

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

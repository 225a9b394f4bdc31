//! Defines how events in order become requests: marks of bios, and issue with completion.
//!
//! The rules keep account of every byte: what is completed is in one request, and in one only.
//!
//! - A request is completed in parts, too. It is done at the time of the last.
//! - What a driver gives back is issued again, and is then another request. Of the first remains
//!   what was completed of it, which mostly is nothing.
//! - A completion that fits nothing issued makes a request of its own, issued and done at once: it
//!   was issued before the trace began, or its issue was lost.

use super::block::{Event, Step};
use super::in_flight::InFlight;
use super::marks::Marks;
use crate::{Kind, Request};

/// Makes requests of events.
#[derive(Debug, Default)]
pub struct Pairing {
    marks: Marks,
    in_flight: InFlight,
}

impl Pairing {
    /// Takes the next event. Returns how much was given up because too much waits.
    pub fn take(&mut self, event: &Event) -> u64 {
        let sectors = event.sector..event.sector + event.sectors;
        match event.step {
            Step::Queued => u64::from(!self.marks.put(event.kind, &sectors, event.flags)),
            Step::Issued => self.in_flight.issue(event),
            Step::Requeued => {
                self.in_flight.requeue(event);
                0
            }
            Step::Completed => self.complete(event),
        }
    }

    fn complete(&mut self, event: &Event) -> u64 {
        let marked = self.marks.take(event.kind, &(event.sector..event.sector + event.sectors));
        if self.in_flight.complete(event, marked) || event.kind == Kind::Flush {
            return 0;
        }
        let given_up = self.in_flight.issue(event);
        self.in_flight.complete(event, marked);
        given_up
    }

    /// The next request, if it and all issued before it are done.
    pub fn pop(&mut self) -> Option<Request> {
        self.in_flight.pop()
    }

    /// Lets what is not done go as it is.
    pub fn end(&mut self) {
        self.in_flight.end();
    }
}

//! Defines how requests wait for completion, and are returned in submission order.
//!
//! Completions arrive in any order, so each request waits until all issued before it are complete.

use std::collections::{BTreeSet, VecDeque};

use super::block::BlockEvent;
use super::marks::MarkedRange;
use crate::field::SECTOR_BYTES;
use crate::{Request, WriteOrigin};

/// The maximum number of waiting requests: at 100,000 per second, those behind one that takes ten
/// seconds.
const MOST: usize = 1 << 20;

/// Requests in submission order. Offsets are on the disk.
#[derive(Debug, Default)]
pub struct InFlightRequests {
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting request, in submission order.
    first: u64,
    /// Incomplete requests, by kind, first incomplete sector, and number.
    not_done: BTreeSet<(u8, u64, u64)>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    /// The incomplete part.
    sector: u64,
    sectors: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Issued,
    Done,
    /// It never reached the drive.
    Void,
}

impl InFlightRequests {
    /// Adds a request. Returns how many were dropped to make room.
    pub fn issue(&mut self, event: &BlockEvent) -> u64 {
        let request = Request {
            submitted_ns: event.time_ns,
            completed_ns: None,
            kind: event.kind,
            offset_bytes: event.sector * SECTOR_BYTES,
            length_bytes: event.sectors * SECTOR_BYTES,
            flags: event.flags,
            origin: Some(WriteOrigin::default()),
        };
        let number = self.first + self.waiting.len() as u64;
        self.not_done.insert((event.kind as u8, event.sector, number));
        let (sector, sectors) = (event.sector, event.sectors);
        self.waiting.push_back(Waiting { request, sector, sectors, state: State::Issued });
        self.make_room()
    }

    /// Completes a request, or the first part of the rest of one. False if none matches.
    pub fn complete(&mut self, event: &BlockEvent, marked: MarkedRange) -> bool {
        let fits = |waiting: &Waiting| waiting.sectors == event.sectors;
        let reaches = |waiting: &Waiting| waiting.sectors > event.sectors;
        let found = self.find(event, fits).or_else(|| self.find(event, reaches));
        let Some(number) = found else {
            return false;
        };
        let place = (event.kind as u8, event.sector, number);
        self.not_done.remove(&place);
        let waiting = &mut self.waiting[index(self.first, number)];
        waiting.complete(event, marked);
        if waiting.state == State::Issued {
            self.not_done.insert((place.0, waiting.sector, number));
        }
        true
    }

    /// Handles a request returned by the driver: its rest will be issued again, as a new request.
    pub fn requeue(&mut self, event: &BlockEvent) {
        let fits = |waiting: &Waiting| waiting.sectors == event.sectors;
        if let Some(number) = self.find(event, fits) {
            self.not_done.remove(&(event.kind as u8, event.sector, number));
            self.waiting[index(self.first, number)].cut();
        }
    }

    /// The next request, if it and all before it are complete.
    pub fn pop(&mut self) -> Option<Request> {
        while let Some(waiting) = self.waiting.pop_front_if(|next| next.state != State::Issued) {
            self.first += 1;
            if waiting.state == State::Done {
                return Some(waiting.request);
            }
        }
        None
    }

    /// Ends the trace: what is incomplete stays incomplete.
    pub fn end(&mut self) {
        self.not_done.clear();
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.state == State::Issued) {
            waiting.request.completed_ns = None;
            waiting.state = State::Done;
        }
    }

    /// The earliest request at the event's sector that satisfies a condition.
    fn find(&self, event: &BlockEvent, is_right: impl Fn(&Waiting) -> bool) -> Option<u64> {
        let place = |number| (event.kind as u8, event.sector, number);
        let mut numbers = self.not_done.range(place(0)..=place(u64::MAX)).map(|key| key.2);
        numbers.find(|number| is_right(&self.waiting[index(self.first, *number)]))
    }

    fn make_room(&mut self) -> u64 {
        let mut given_up = 0;
        while self.waiting.len() > MOST
            && let Some(Waiting { request, sector, state, .. }) = self.waiting.pop_front()
        {
            self.not_done.remove(&(request.kind as u8, sector, self.first));
            self.first += 1;
            given_up += u64::from(state != State::Void);
        }
        given_up
    }
}

fn index(first: u64, number: u64) -> usize {
    usize::try_from(number - first).expect("no more wait than memory holds")
}

impl Waiting {
    fn complete(&mut self, event: &BlockEvent, marked: MarkedRange) {
        let request = &mut self.request;
        request.completed_ns = Some(event.time_ns.max(request.submitted_ns));
        request.flags |= marked.flags;
        let origin = request.origin.get_or_insert_default();
        origin.metadata_bytes += marked.metadata_sectors * SECTOR_BYTES;
        self.sector += event.sectors;
        self.sectors -= event.sectors;
        if self.sectors == 0 {
            self.state = State::Done;
        }
    }

    /// Cuts off the incomplete part.
    fn cut(&mut self) {
        self.request.length_bytes -= self.sectors * SECTOR_BYTES;
        let has_part = self.request.length_bytes > 0;
        self.state = if has_part { State::Done } else { State::Void };
    }
}

//! Defines how requests wait for their completion, and leave in the order of their submission.
//!
//! They are completed in any order, so each waits until all that were issued before it are done.

use std::collections::{BTreeSet, VecDeque};

use super::block::Event;
use super::marks::Marked;
use crate::field::SECTOR_BYTES;
use crate::{Origin, Request};

/// The most requests that wait: at 100,000 a second, behind one that takes ten seconds.
const MOST: usize = 1 << 20;

/// Requests in the order of their submission. Offsets are on the disk.
#[derive(Debug, Default)]
pub struct InFlight {
    waiting: VecDeque<Waiting>,
    /// The number of the first that waits; they are numbered in the order of submission.
    first: u64,
    /// Those that are not done, by kind, by the first sector that is not, and by number.
    not_done: BTreeSet<(u8, u64, u64)>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    /// What of it is not done.
    sector: u64,
    sectors: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Issued,
    Done,
    /// It never got to the drive, or was given up.
    Void,
}

impl InFlight {
    /// Notes a request. Returns how many were given up to make room.
    pub fn issue(&mut self, event: &Event) -> u64 {
        let request = Request {
            submitted_ns: event.time_ns,
            completed_ns: None,
            kind: event.kind,
            offset_bytes: event.sector * SECTOR_BYTES,
            length_bytes: event.sectors * SECTOR_BYTES,
            flags: event.flags,
            origin: Some(Origin::default()),
        };
        let number = self.first + self.waiting.len() as u64;
        self.not_done.insert((event.kind as u8, event.sector, number));
        let (sector, sectors) = (event.sector, event.sectors);
        self.waiting.push_back(Waiting { request, sector, sectors, state: State::Issued });
        self.make_room()
    }

    /// A request, or the first part of what is left of one, is completed. False if none fits.
    pub fn complete(&mut self, event: &Event, marked: Marked) -> bool {
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

    /// The driver gave a request back: what is left of it will be issued again, as another one.
    pub fn requeue(&mut self, event: &Event) {
        let fits = |waiting: &Waiting| waiting.sectors == event.sectors;
        if let Some(number) = self.find(event, fits) {
            self.not_done.remove(&(event.kind as u8, event.sector, number));
            self.waiting[index(self.first, number)].cut();
        }
    }

    /// The next request, if it and all before it are done.
    pub fn pop(&mut self) -> Option<Request> {
        while let Some(waiting) = self.waiting.pop_front_if(|next| next.state != State::Issued) {
            self.first += 1;
            if waiting.state == State::Done {
                return Some(waiting.request);
            }
        }
        None
    }

    /// No more will be completed: what is not done is as it is.
    pub fn end(&mut self) {
        self.not_done.clear();
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.state == State::Issued) {
            waiting.request.completed_ns = None;
            waiting.state = State::Done;
        }
    }

    /// The earliest request at the event's place that is as asked for.
    fn find(&self, event: &Event, is_right: impl Fn(&Waiting) -> bool) -> Option<u64> {
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

/// Where the request of this number waits.
fn index(first: u64, number: u64) -> usize {
    usize::try_from(number - first).expect("no more wait than memory holds")
}

impl Waiting {
    fn complete(&mut self, event: &Event, marked: Marked) {
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

    /// Cuts off what is not done.
    fn cut(&mut self) {
        self.request.length_bytes -= self.sectors * SECTOR_BYTES;
        let has_part = self.request.length_bytes > 0;
        self.state = if has_part { State::Done } else { State::Void };
    }
}

//! Defines how events become requests: completions find what they complete.
//!
//! A completion names its range, not its request. It completes the earliest incomplete request of
//! its kind with that range. Otherwise, of *issued* requests it completes the beginning of a longer
//! one; of *queued* ones it completes all that lie in its range, which were merged into one
//! request, or a part of one that was split. A request is complete when its last part is.
//!
//! A flush has no range. The flags of its completion are those of its submission; they distinguish
//! the drive's flush from the one that was queued.
//!
//! A request that the driver returned never reached the drive: its second issue is the request.
//!
//! Completions arrive in any order, so each request waits until all submitted before it are
//! complete, or too many wait. Completions of requests from before the trace are ignored.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::event::{TraceEvent, TraceStep};
use crate::{Request, RequestKind, TraceError, TraceFormat, TraceStage};

/// The maximum number of waiting requests: at 100,000 per second, those behind one that takes two
/// seconds.
const MOST: usize = 1 << 18;

/// Requests in submission order.
#[derive(Debug)]
pub struct Pairs {
    stage: TraceStage,
    /// Whether completions are separate events; otherwise no request waits.
    is_paired: bool,
    /// The device of the requests. Others may complete requests of which none is read.
    device: Option<u64>,
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting request, in submission order.
    first: u64,
    /// The end of the incomplete range, by kind, start (of a flush, its flags) and number.
    incomplete: BTreeMap<(RequestKind, u64, u64), u64>,
    /// When the first request was submitted, on the clock of the trace.
    began_ns: Option<u64>,
    /// How the events ended, once they did.
    ending: Option<Result<(), TraceError>>,
}

#[derive(Debug)]
struct Waiting {
    request: Request,
    incomplete_bytes: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Submitted,
    Done,
    /// It never reached the drive.
    Void,
}

impl Pairs {
    /// Of traces of this format, with requests at this stage.
    pub fn new(format: TraceFormat, stage: TraceStage) -> Self {
        Self {
            stage,
            is_paired: format.has_stages(),
            device: None,
            waiting: VecDeque::new(),
            first: 0,
            incomplete: BTreeMap::new(),
            began_ns: None,
            ending: None,
        }
    }

    /// When the first request was submitted, on the clock of the trace.
    pub fn began_ns(&self) -> Option<u64> {
        self.began_ns
    }

    /// The next request, with times since the first, out of as many events as that takes. After an
    /// error in them come the requests before it, and then the error.
    pub fn next(
        &mut self,
        mut event: impl FnMut() -> Result<Option<TraceEvent>, TraceError>,
    ) -> Result<Option<Request>, TraceError> {
        loop {
            if let Some(request) = self.pop() {
                let began_ns = *self.began_ns.get_or_insert(request.submitted_ns);
                return Ok(Some(since(began_ns, request)));
            }
            if let Some(ending) = &mut self.ending {
                return std::mem::replace(ending, Ok(())).map(|()| None);
            }
            match event() {
                Ok(Some(event)) => self.take(&event),
                Ok(None) => self.ending = Some(Ok(())),
                Err(error) => self.ending = Some(Err(error)),
            }
        }
    }

    fn take(&mut self, event: &TraceEvent) {
        let is_of = |device: u64| device == event.device;
        match event.step {
            TraceStep::Submitted(_) => self.submit(event),
            TraceStep::Completed if self.device.is_some_and(is_of) => self.complete(&event.request),
            TraceStep::Returned
                if self.device.is_some_and(is_of) && self.stage == TraceStage::Issued =>
            {
                self.return_rest(&event.request);
            }
            TraceStep::Completed | TraceStep::Returned => {}
        }
    }

    fn submit(&mut self, event: &TraceEvent) {
        let request = event.request;
        let mut state = State::Done;
        if self.is_paired {
            self.device = Some(event.device);
            let number = self.first + self.waiting.len() as u64;
            let (start, end) = place(&request);
            self.incomplete.insert((request.kind, start, number), end);
            state = State::Submitted;
        }
        let incomplete_bytes = request.length_bytes;
        self.waiting.push_back(Waiting { request, incomplete_bytes, state });
    }

    fn complete(&mut self, done: &Request) {
        let (start, end) = place(done);
        if let Some(number) = self.find(done.kind, start, |its_end| its_end == end) {
            self.pass(done, (start, number), start..end);
        } else if self.stage == TraceStage::Queued {
            self.cover(done, start..end);
        } else if let Some(number) = self.find(done.kind, start, |its_end| its_end > end) {
            self.pass(done, (start, number), start..end);
        }
    }

    /// Completes what lies in a range, of any number of requests.
    fn cover(&mut self, done: &Request, mut range: Range<u64>) {
        while !range.is_empty() {
            let found = self.reaching(done.kind, range.start).or_else(|| {
                let from = (done.kind, range.start, 0);
                let next = self.incomplete.range(from..(done.kind, range.end, 0)).next();
                next.map(|((_, start, number), end)| ((*start, *number), *end))
            });
            let Some((place, its_end)) = found else { return };
            let part = range.start.max(place.0)..range.end.min(its_end);
            range.start = part.end;
            self.pass(done, place, part);
        }
    }

    /// The last request that starts before a position, if its incomplete range reaches beyond.
    fn reaching(&self, kind: RequestKind, start: u64) -> Option<((u64, u64), u64)> {
        let before = self.incomplete.range((kind, 0, 0)..(kind, start, 0)).next_back();
        let ((_, its_start, number), end) = before?;
        (*end > start).then_some(((*its_start, *number), *end))
    }

    /// Completes a part of a request's incomplete range.
    fn pass(&mut self, done: &Request, (start, number): (u64, u64), part: Range<u64>) {
        let Some(end) = self.incomplete.remove(&(done.kind, start, number)) else { return };
        let Some(waiting) = self.at(number) else { return };
        let submitted_ns = waiting.request.submitted_ns;
        waiting.request.completed_ns = Some(done.submitted_ns.max(submitted_ns));
        let length_bytes = if done.kind == RequestKind::Flush { 0 } else { part.end - part.start };
        waiting.incomplete_bytes = waiting.incomplete_bytes.saturating_sub(length_bytes);
        if waiting.incomplete_bytes == 0 {
            waiting.state = State::Done;
            return;
        }
        // A part in the middle does not shorten the range, only what is left of it.
        let rest = match (part.start == start, part.end == end) {
            (true, _) => part.end..end,
            (false, true) => start..part.start,
            (false, false) => start..end,
        };
        self.incomplete.insert((done.kind, rest.start, number), rest.end);
    }

    /// Cuts off the rest of a request, which will be issued again, as a new one.
    fn return_rest(&mut self, rest: &Request) {
        let (start, end) = place(rest);
        let Some(number) = self.find(rest.kind, start, |its_end| its_end == end) else { return };
        self.incomplete.remove(&(rest.kind, start, number));
        if let Some(waiting) = self.at(number) {
            waiting.request.length_bytes -= waiting.incomplete_bytes;
            let has_part = waiting.request.length_bytes > 0;
            waiting.state = if has_part { State::Done } else { State::Void };
        }
    }

    /// The earliest request with this start whose end satisfies a condition.
    fn find(&self, kind: RequestKind, start: u64, is_right: impl Fn(u64) -> bool) -> Option<u64> {
        let mut found = self.incomplete.range((kind, start, 0)..=(kind, start, u64::MAX));
        found.find(|(_, end)| is_right(**end)).map(|((.., number), _)| *number)
    }

    fn at(&mut self, number: u64) -> Option<&mut Waiting> {
        usize::try_from(number - self.first).ok().and_then(|index| self.waiting.get_mut(index))
    }

    /// The next request, if it need not wait any longer. One that was not completed in whole was
    /// not completed.
    fn pop(&mut self) -> Option<Request> {
        loop {
            let must_go = self.ending.is_some() || self.waiting.len() > MOST;
            let next =
                self.waiting.pop_front_if(|next| must_go || next.state != State::Submitted)?;
            let mut request = next.request;
            if next.state == State::Submitted {
                request.completed_ns = None;
                if self.ending.is_none() {
                    self.forget(&next);
                }
            }
            self.first += 1;
            if next.state != State::Void {
                return Some(request);
            }
        }
    }

    /// Removes the incomplete range of the first request.
    fn forget(&mut self, next: &Waiting) {
        let (start, end) = place(&next.request);
        let kind = next.request.kind;
        let from = (kind, start, 0)..=(kind, end, u64::MAX);
        let own = self.incomplete.range(from).find(|((.., number), _)| *number == self.first);
        if let Some(key) = own.map(|(key, _)| *key) {
            self.incomplete.remove(&key);
        }
    }
}

/// Start and end of a request; of a flush, its flags.
fn place(request: &Request) -> (u64, u64) {
    if request.kind == RequestKind::Flush {
        let flags = u64::from(request.flags.bits());
        return (flags, flags);
    }
    (request.offset_bytes, request.offset_bytes + request.length_bytes)
}

/// The request with times since `began_ns`, which is not after its submission.
fn since(began_ns: u64, mut request: Request) -> Request {
    request.submitted_ns -= began_ns;
    request.completed_ns = request.completed_ns.map(|time| time - began_ns);
    request
}

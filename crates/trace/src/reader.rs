//! Defines the reader of all formats: one stream of requests, in order and from time 0.

use std::io::BufRead;

use crate::events::{ClampedTimes, Events};
use crate::lines::fill;
use crate::pairs::Pairs;
use crate::{Request, TraceError, TraceFormat, TraceOptions};

/// Reads the requests of one trace.
///
/// It ends after the first error. After [`TraceError::Truncated`] the requests before it can be
/// used.
#[derive(Debug)]
pub struct TraceReader<R> {
    pub(crate) events: Events<R>,
    pub(crate) pairs: Pairs,
    ended: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads a trace of a known format. A header, if there is one, is read immediately.
    pub fn new(input: R, format: TraceFormat, options: &TraceOptions) -> Result<Self, TraceError> {
        let events = Events::new(input, format, options)?;
        Ok(Self { events, pairs: Pairs::new(format, options.stage), ended: false })
    }

    /// Reads a trace after detecting its format, see [`TraceFormat::detect`].
    ///
    /// Only the first buffer of the input is examined. A few lines are enough.
    pub fn detect(mut input: R, options: &TraceOptions) -> Result<Self, TraceError> {
        let format = match fill(&mut input) {
            Ok(buffer) => TraceFormat::detect(buffer)?,
            Err(cause) => return Err(TraceError::Unreadable { cause }),
        };
        Self::new(input, format, options)
    }
}

impl<R> TraceReader<R> {
    pub fn format(&self) -> TraceFormat {
        self.events.format()
    }

    /// The capacity of the drive in bytes; only ssdlab's own log has it.
    pub fn capacity_bytes(&self) -> Option<u64> {
        self.events.capacity_bytes()
    }

    /// When the first request was submitted, in nanoseconds on the clock of the trace; `None`
    /// before it is read.
    pub fn began_ns(&self) -> Option<u64> {
        self.pairs.began_ns()
    }

    /// The times that went backwards so far.
    pub fn clamped(&self) -> ClampedTimes {
        self.events.clamped()
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let events = &mut self.events;
        let next = self.pairs.next(|| events.next());
        self.ended = !matches!(next, Ok(Some(_)));
        match next.transpose() {
            None => self.events.selection().check_met().err().map(Err),
            next => next,
        }
    }
}

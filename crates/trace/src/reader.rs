//! Defines the reader of all formats: one stream of requests, in order and from time 0.

use std::io::BufRead;

use schemars::JsonSchema;
use serde::Serialize;

use crate::blktrace::Blktrace;
use crate::dm_log_writes::DmLogWrites;
use crate::error::Fault;
use crate::field::bounded;
use crate::fio::Log;
use crate::input::fill;
use crate::lines::Lines;
use crate::request_log::RequestLog;
use crate::selection::Selection;
use crate::text::{Text, TextFormat};
use crate::{Format, Kind, Options, Position, Request, TraceError};

/// Times that went backwards in a trace, and were raised to the previous one.
///
/// A few small ones are normal with several processors. Many, or by seconds, mean that the trace is
/// not in submission order, for example if blktrace files were concatenated instead of
/// [merged](crate::merge()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Clamped {
    /// The number of requests affected.
    pub requests: u64,
    /// The largest difference, in nanoseconds.
    pub furthest_ns: u64,
}

/// Reads the requests of one trace.
///
/// It ends after the first error. After [`TraceError::Truncated`] the requests before it can be
/// used.
#[derive(Debug)]
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    /// When the first request was submitted, on the clock of the trace.
    began_ns: Option<u64>,
    last_ns: u64,
    clamped: Clamped,
    ended: bool,
}

#[derive(Debug)]
enum Source<R> {
    Blktrace(Blktrace<R>),
    Text(Text<R>),
    DmLogWrites(DmLogWrites<R>),
    RequestLog(RequestLog<R>),
}

impl<R: BufRead> Reader<R> {
    /// Reads a trace of a known format. A header, if there is one, is read immediately.
    pub fn new(input: R, format: Format, options: &Options) -> Result<Self, TraceError> {
        let selection = Selection::new(options);
        let source = match format {
            Format::Blktrace => Source::Blktrace(Blktrace::new(input, selection)),
            Format::Blkparse => {
                let lines = Lines::new(input, format);
                Source::Text(Text { lines, format: TextFormat::Blkparse, selection })
            }
            Format::MsrCambridge => {
                let lines = Lines::new(input, format);
                Source::Text(Text { lines, format: TextFormat::MsrCambridge, selection })
            }
            Format::FioLog => {
                let mut lines = Lines::new(input, format);
                let log = TextFormat::FioLog(Log::new(&mut lines)?);
                Source::Text(Text { lines, format: log, selection })
            }
            Format::DmLogWrites => Source::DmLogWrites(DmLogWrites::new(input, selection)?),
            Format::RequestLog => Source::RequestLog(RequestLog::new(input, selection)?),
        };
        let clamped = Clamped::default();
        Ok(Self { source, format, began_ns: None, last_ns: 0, clamped, ended: false })
    }

    /// Reads a trace after detecting its format, see [`Format::detect`].
    ///
    /// Only the first buffer of the input is examined. A few lines are enough.
    pub fn detect(mut input: R, options: &Options) -> Result<Self, TraceError> {
        let format = match fill(&mut input) {
            Ok(buffer) => Format::detect(buffer)?,
            Err(cause) => return Err(TraceError::Unreadable { cause }),
        };
        Self::new(input, format, options)
    }

    /// The next request, on the clock of the trace.
    pub(crate) fn next_on_clock(&mut self) -> Result<Option<Request>, TraceError> {
        if self.ended {
            return Ok(None);
        }
        let next = self.next_in_order();
        self.ended = !matches!(next, Ok(Some(_)));
        next
    }

    fn next_in_order(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            let next = match &mut self.source {
                Source::Blktrace(source) => source.next(),
                Source::Text(source) => source.next(),
                Source::DmLogWrites(source) => source.next(),
                Source::RequestLog(source) => source.next(),
            };
            let Some(request) = next? else {
                return Ok(None);
            };
            let mut request = bounded(request).map_err(|fault| self.fault(fault))?;
            if request.length_bytes == 0 && request.kind != Kind::Flush {
                continue;
            }
            if request.submitted_ns < self.last_ns {
                self.clamped.requests += 1;
                let by_ns = self.last_ns - request.submitted_ns;
                self.clamped.furthest_ns = self.clamped.furthest_ns.max(by_ns);
                request.submitted_ns = self.last_ns;
                request.completed_ns = request.completed_ns.map(|time| time.max(self.last_ns));
            }
            self.last_ns = request.submitted_ns;
            return Ok(Some(request));
        }
    }

    fn fault(&self, fault: Fault) -> TraceError {
        let position: Position = match &self.source {
            Source::Blktrace(source) => source.position(),
            Source::Text(source) => source.position(),
            Source::DmLogWrites(source) => source.position(),
            Source::RequestLog(source) => source.position(),
        };
        fault.at(self.format, position)
    }
}

impl<R> Reader<R> {
    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The capacity of the drive in bytes; only ssdlab's own log has it.
    #[must_use]
    pub fn capacity_bytes(&self) -> Option<u64> {
        match &self.source {
            Source::RequestLog(source) => Some(source.capacity_bytes),
            _ => None,
        }
    }

    /// When the first request was submitted, in nanoseconds on the clock of the trace; `None`
    /// before it is read.
    #[must_use]
    pub fn began_ns(&self) -> Option<u64> {
        self.began_ns
    }

    /// The times that went backwards so far.
    #[must_use]
    pub fn clamped(&self) -> Clamped {
        self.clamped
    }

    pub(crate) fn selection(&self) -> &Selection {
        match &self.source {
            Source::Blktrace(source) => &source.selection,
            Source::Text(source) => &source.selection,
            Source::DmLogWrites(source) => &source.selection,
            Source::RequestLog(source) => &source.selection,
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.next_on_clock() {
            Ok(Some(request)) => {
                let began_ns = *self.began_ns.get_or_insert(request.submitted_ns);
                Some(Ok(since(began_ns, request)))
            }
            Ok(None) => self.selection().check_met().err().map(Err),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The request with times since `began_ns`, which is not after its submission.
pub fn since(began_ns: u64, mut request: Request) -> Request {
    request.submitted_ns -= began_ns;
    request.completed_ns = request.completed_ns.map(|time| time - began_ns);
    request
}

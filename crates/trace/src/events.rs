//! Defines the events of one file, of any format, with submissions in order of time.

use std::io::BufRead;

use schemars::JsonSchema;
use serde::Serialize;

use crate::biosnoop::Columns;
use crate::blktrace::Blktrace;
use crate::by_submission::BySubmission;
use crate::dm_log_writes::DmLogWrites;
use crate::error::TraceFault;
use crate::event::{TraceEvent, TraceStep};
use crate::field::bounded;
use crate::fio::FioLog;
use crate::lines::TraceLines;
use crate::request_log::RequestLog;
use crate::selection::Selection;
use crate::text::{ReadLine, Text, TextFormat};
use crate::{Position, Request, RequestKind, TraceError, TraceFormat, TraceOptions};
use crate::{alibaba, blkparse, fiu, msr, systor, tencent, trace_pipe};

/// Times that went backwards in a trace, and were raised to the previous one.
///
/// A few small ones are normal with several processors. Many, or by seconds, mean that the trace is
/// not in submission order, for example if blktrace files were concatenated instead of
/// [merged](crate::merge()).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Clamped")]
pub struct ClampedTimes {
    /// The number of requests affected.
    pub requests: u64,
    /// The largest difference, in nanoseconds.
    pub furthest_ns: u64,
}

/// Keeps submissions in order of time.
#[derive(Debug, Default)]
pub struct SubmissionOrder {
    last_ns: u64,
    pub clamped: ClampedTimes,
}

impl SubmissionOrder {
    /// Raises the time of a submission to that of the last one.
    pub fn clamp(&mut self, event: &mut TraceEvent) {
        let request = &mut event.request;
        if matches!(event.step, TraceStep::Submitted(_)) {
            let by_ns = self.last_ns.saturating_sub(request.submitted_ns);
            self.clamped.requests += u64::from(by_ns > 0);
            self.clamped.furthest_ns = self.clamped.furthest_ns.max(by_ns);
            self.last_ns = self.last_ns.max(request.submitted_ns);
            request.submitted_ns = self.last_ns;
            request.completed_ns = request.completed_ns.map(|time| time.max(self.last_ns));
        }
    }
}

/// The events of one file.
#[derive(Debug)]
pub struct Events<R> {
    source: Source<R>,
    format: TraceFormat,
    order: SubmissionOrder,
}

#[derive(Debug)]
enum Source<R> {
    Blktrace(Blktrace<R>),
    Text(Text<R>),
    DmLogWrites(DmLogWrites<R>),
    RequestLog(RequestLog<R>),
}

impl<R: BufRead> Events<R> {
    /// Reads a trace of a known format. A header, if there is one, is read immediately.
    pub fn new(input: R, format: TraceFormat, options: &TraceOptions) -> Result<Self, TraceError> {
        let selection = Selection::new(options);
        let source = match format {
            TraceFormat::Blktrace => Source::Blktrace(Blktrace::new(input, selection)),
            TraceFormat::DmLogWrites => Source::DmLogWrites(DmLogWrites::new(input, selection)?),
            TraceFormat::RequestLog => Source::RequestLog(RequestLog::new(input, selection)?),
            TraceFormat::FioLog => {
                let mut lines = TraceLines::new(input, format);
                let log = TextFormat::FioLog(FioLog::new(&mut lines)?);
                text(lines, log, selection)
            }
            TraceFormat::Biosnoop => {
                let lines = TraceLines::new(input, format);
                let columns = TextFormat::Biosnoop(Columns::default());
                let sorted = Some(BySubmission::default());
                Source::Text(Text { lines, format: columns, selection, sorted })
            }
            TraceFormat::Blkparse => plain(input, format, blkparse::reported, selection),
            TraceFormat::Ftrace => plain(input, format, trace_pipe::reported, selection),
            TraceFormat::MsrCambridge => plain(input, format, msr::reported, selection),
            TraceFormat::Systor => plain(input, format, systor::reported, selection),
            TraceFormat::Alibaba => plain(input, format, alibaba::reported, selection),
            TraceFormat::Tencent => plain(input, format, tencent::reported, selection),
            TraceFormat::Fiu => plain(input, format, fiu::reported, selection),
        };
        Ok(Self { source, format, order: SubmissionOrder::default() })
    }

    pub fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        loop {
            let next = match &mut self.source {
                Source::Blktrace(source) => source.next()?,
                Source::Text(source) => source.next()?,
                Source::DmLogWrites(source) => source.next()?.map(submitted),
                Source::RequestLog(source) => source.next()?.map(submitted),
            };
            let Some(mut event) = next else {
                return Ok(None);
            };
            event.request = bounded(event.request).map_err(|fault| self.fault(fault))?;
            if event.request.length_bytes > 0 || event.request.kind == RequestKind::Flush {
                self.order.clamp(&mut event);
                return Ok(Some(event));
            }
        }
    }

    fn fault(&self, fault: TraceFault) -> TraceError {
        let position: Position = match &self.source {
            Source::Blktrace(source) => source.position(),
            Source::Text(source) => source.position(),
            Source::DmLogWrites(source) => source.position(),
            Source::RequestLog(source) => source.position(),
        };
        fault.at(self.format, position)
    }
}

impl<R> Events<R> {
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    pub fn clamped(&self) -> ClampedTimes {
        self.order.clamped
    }

    pub fn capacity_bytes(&self) -> Option<u64> {
        match &self.source {
            Source::RequestLog(source) => Some(source.capacity_bytes),
            _ => None,
        }
    }

    pub fn selection(&self) -> &Selection {
        match &self.source {
            Source::Blktrace(source) => &source.selection,
            Source::Text(source) => &source.selection,
            Source::DmLogWrites(source) => &source.selection,
            Source::RequestLog(source) => &source.selection,
        }
    }
}

fn plain<R: BufRead>(
    input: R,
    format: TraceFormat,
    reported: ReadLine,
    selection: Selection,
) -> Source<R> {
    text(TraceLines::new(input, format), TextFormat::Plain(reported), selection)
}

fn text<R>(lines: TraceLines<R>, format: TextFormat, selection: Selection) -> Source<R> {
    Source::Text(Text { lines, format, selection, sorted: None })
}

fn submitted(request: Request) -> TraceEvent {
    TraceEvent { step: TraceStep::Submitted(None), device: 0, request }
}

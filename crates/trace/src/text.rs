//! Defines the reader of the text formats: a line at a time, of which some report an event.

use std::io::BufRead;

use crate::by_submission::BySubmission;
use crate::error::TraceFault;
use crate::event::TraceEvent;
use crate::field::device;
use crate::lines::{TraceLine, TraceLines};
use crate::selection::Selection;
use crate::{Position, TraceError, biosnoop, fio};

/// The events of a text trace, with times on the clock of the trace.
#[derive(Debug)]
pub struct Text<R> {
    pub lines: TraceLines<R>,
    pub format: TextFormat,
    pub selection: Selection,
    /// Of formats with a line per completion: the events not yet returned.
    pub sorted: Option<BySubmission>,
}

/// Reads a line that can be read without those before it.
pub type ReadLine = for<'a> fn(&'a [u8]) -> Result<Option<TraceLine<'a>>, TraceFault>;

/// How a line is to be read.
#[derive(Debug)]
pub enum TextFormat {
    Plain(ReadLine),
    FioLog(fio::FioLog),
    Biosnoop(biosnoop::Columns),
}

impl<R: BufRead> Text<R> {
    pub fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        let Some(mut sorted) = self.sorted.take() else {
            return self.next_line();
        };
        let next = sorted.next(|| self.next_line());
        self.sorted = Some(sorted);
        next
    }

    fn next_line(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        while let Some(line) = self.lines.next()? {
            let reported = match &mut self.format {
                TextFormat::Plain(reported) => reported(line),
                TextFormat::FioLog(log) => log.reported(line),
                TextFormat::Biosnoop(columns) => columns.reported(line),
            };
            match reported {
                Ok(Some(TraceLine { drive, step, request })) => {
                    let device = device(drive).unwrap_or(0);
                    if self.selection.takes(step, drive)? {
                        return Ok(Some(TraceEvent { step, device, request }));
                    }
                }
                Ok(None) => {}
                Err(fault) => return Err(self.lines.fault(fault)),
            }
        }
        Ok(None)
    }

    pub fn position(&self) -> Position {
        self.lines.position()
    }
}

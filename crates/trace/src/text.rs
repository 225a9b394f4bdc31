//! Defines the reader of the text formats: a line at a time, of which some report a request.

use std::io::BufRead;

use crate::lines::{Lines, Reported};
use crate::selection::Selection;
use crate::{Position, Request, TraceError, blkparse, fio, msr};

/// The requests of a text trace, with times on the clock of the trace.
#[derive(Debug)]
pub struct Text<R> {
    pub lines: Lines<R>,
    pub format: TextFormat,
    pub selection: Selection,
}

/// How a line is to be read.
#[derive(Debug)]
pub enum TextFormat {
    Blkparse,
    MsrCambridge,
    FioLog(fio::Log),
}

impl<R: BufRead> Text<R> {
    pub fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while let Some(line) = self.lines.next()? {
            let reported = match &mut self.format {
                TextFormat::Blkparse => blkparse::reported(line),
                TextFormat::MsrCambridge => msr::reported(line),
                TextFormat::FioLog(log) => log.reported(line),
            };
            match reported {
                Ok(Some(Reported { drive, stage, request })) => {
                    if stage.is_none_or(|stage| self.selection.takes_stage(stage))
                        && self.selection.takes_drive(drive)?
                    {
                        return Ok(Some(request));
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

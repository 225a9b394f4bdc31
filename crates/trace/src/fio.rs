//! Defines the I/O log of fio(1), versions 2 and 3.
//!
//! Source: fio(1), section "Trace file format", and what fio 3.33 writes and replays. The first
//! line is `fio version 2 iolog` or `fio version 3 iolog`. Every other line is `file action`, where
//! the action is `add`, `open` or `close`, or `file action offset length` in bytes. Version 3
//! prefixes the time, in microseconds since the start of the log (the manual names no unit).
//!
//! `trim` is a discard, `sync` and `datasync` are flushes. Version 2 has no times but `file wait
//! offset length`, whose offset is a time: microseconds since the last `wait` according to the
//! manual, but fio treats it as milliseconds since the start, and so do we. Requests between two
//! waits are simultaneous.
//!
//! Offsets are within the file, which stands for the drive: a log of several files is one of
//! several drives. How a filesystem would map the requests is unknown.

use std::io::BufRead;

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{multiple, words};
use crate::lines::{TraceLine, TraceLines};
use crate::{Flags, Request, RequestKind, TraceError};

/// Whether a trace with this beginning is a fio log, of any version.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(b"fio version ")
}

/// What is known of a log besides the current line.
#[derive(Debug)]
pub struct FioLog {
    /// Version 2: the time reached by waits.
    waited_ns: u64,
    /// Whether it is version 3, where every line has a time.
    timed: bool,
}

impl FioLog {
    /// Reads the first line.
    pub fn new<R: BufRead>(lines: &mut TraceLines<R>) -> Result<Self, TraceError> {
        let timed = match lines.next()?.map(<[u8]>::trim_ascii) {
            Some(b"fio version 2 iolog") => false,
            Some(b"fio version 3 iolog") => true,
            first => {
                let expected = "\"fio version 2 iolog\" or \"fio version 3 iolog\"";
                let fault = TraceFault::new("the first line", expected, first.unwrap_or_default());
                return Err(lines.fault(fault));
            }
        };
        Ok(Self { waited_ns: 0, timed })
    }

    /// The request of a line, if it has one, with its time since the start of the log.
    pub fn reported<'a>(&mut self, line: &'a [u8]) -> Result<Option<TraceLine<'a>>, TraceFault> {
        let mut words = words(line).peekable();
        if words.peek().is_none() {
            return Ok(None);
        }
        let submitted_ns = if self.timed {
            multiple("the time", "a number of microseconds", 1_000, &mut words)?
        } else {
            self.waited_ns
        };
        let file = words.next().unwrap_or_default();
        let action = words.next().unwrap_or_default();
        let kind = match action {
            b"add" | b"open" | b"close" => return Ok(None),
            b"wait" if !self.timed => {
                let until_ns = multiple("the wait", "milliseconds", 1_000_000, &mut words)?;
                self.waited_ns = until_ns.max(self.waited_ns);
                return Ok(None);
            }
            b"read" => RequestKind::Read,
            b"write" => RequestKind::Write,
            b"trim" => RequestKind::Discard,
            b"sync" | b"datasync" => RequestKind::Flush,
            _ => {
                let expected = "add, open, close, read, write, trim, sync, datasync or, \
                                in version 2, wait";
                return Err(TraceFault::new("the action", expected, action));
            }
        };
        let (offset_bytes, length_bytes) = if kind == RequestKind::Flush {
            (0, 0)
        } else {
            let bytes = "a number of bytes";
            let offset_bytes = multiple("the offset", bytes, 1, &mut words)?;
            (offset_bytes, multiple("the length", bytes, 1, &mut words)?)
        };
        let flags = Flags::empty();
        let request = Request {
            submitted_ns,
            completed_ns: None,
            kind,
            offset_bytes,
            length_bytes,
            flags,
            origin: None,
        };
        Ok(Some(TraceLine { drive: file, step: TraceStep::Submitted(None), request }))
    }
}

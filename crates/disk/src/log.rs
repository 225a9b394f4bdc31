//! Defines how requests reach a log in the order of their submission.
//!
//! They are completed in any order, and how one ended is known only then. So each waits until all
//! submitted before it are completed; what never is, because the guest ended first, is written at
//! the end as not completed.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

use ssdlab_trace::{Request, RequestLogWriter, TraceError};

/// Where a log goes.
pub type Output<'a> = Box<dyn Write + Send + 'a>;

/// A log of requests.
pub struct Log<'a> {
    writer: RequestLogWriter<Output<'a>>,
    waiting: VecDeque<Request>,
    /// The number of the first that waits; they are numbered in the order of submission.
    first: u64,
}

impl fmt::Debug for Log<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl<'a> Log<'a> {
    /// Begins a log of a disk of this capacity.
    pub fn new(output: Output<'a>, capacity_bytes: u64) -> Result<Self, TraceError> {
        let writer = RequestLogWriter::new(output, capacity_bytes)?;
        Ok(Self { writer, waiting: VecDeque::new(), first: 0 })
    }

    /// Notes a request. Returns its number, to complete it by.
    pub fn submit(&mut self, request: Request) -> u64 {
        self.waiting.push_back(request);
        self.first + self.waiting.len() as u64 - 1
    }

    /// A request is completed, and with it all before it that waited only for that are written.
    pub fn complete(&mut self, number: u64, at_ns: u64) -> Result<(), TraceError> {
        let index = number.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        if let Some(request) = index.and_then(|index| self.waiting.get_mut(index)) {
            request.completed_ns = Some(at_ns);
        }
        while let Some(request) = self.waiting.pop_front_if(|next| next.completed_ns.is_some()) {
            self.first += 1;
            self.writer.append(&request)?;
        }
        Ok(())
    }

    /// Writes what still waits, as it is, and sends everything on.
    pub fn finish(mut self) -> Result<(), TraceError> {
        for request in &self.waiting {
            self.writer.append(request)?;
        }
        self.writer.finish().map(drop)
    }
}

#[cfg(test)]
mod tests;

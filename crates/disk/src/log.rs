//! Defines how requests are logged in submission order.
//!
//! Requests complete in any order, so each waits until all submitted before it are complete. Those
//! still incomplete when the guest ends are written at the end as such.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

use ssdlab_trace::{Request, RequestLogWriter, TraceError};

pub type Output<'a> = Box<dyn Write + Send + 'a>;

/// A log of requests.
pub struct DiskLog<'a> {
    writer: RequestLogWriter<Output<'a>>,
    waiting: VecDeque<Request>,
    /// The number of the first waiting request, in submission order.
    first: u64,
}

impl fmt::Debug for DiskLog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskLog").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl<'a> DiskLog<'a> {
    /// Starts a log for a disk of this capacity.
    pub fn new(output: Output<'a>, capacity_bytes: u64) -> Result<Self, TraceError> {
        let writer = RequestLogWriter::new(output, capacity_bytes)?;
        Ok(Self { writer, waiting: VecDeque::new(), first: 0 })
    }

    /// Adds a request. Returns its number for [`Self::complete`].
    pub fn submit(&mut self, request: Request) -> u64 {
        self.waiting.push_back(request);
        self.first + self.waiting.len() as u64 - 1
    }

    /// Completes a request, and writes all that no longer wait for an earlier one.
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

    /// Writes the waiting requests as incomplete, and flushes the output.
    pub fn finish(mut self) -> Result<(), TraceError> {
        for request in &self.waiting {
            self.writer.append(request)?;
        }
        self.writer.finish().map(drop)
    }
}

#[cfg(test)]
mod tests;

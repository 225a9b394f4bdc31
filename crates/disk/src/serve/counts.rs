//! Defines how the requests to a disk are counted.

use crate::{CompletedRequest, VirtioStatus};
use ssdlab_flash::Extent;
use ssdlab_trace::RequestKind;

/// The requests to a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCounts {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    /// The bytes they stored.
    pub written_bytes: u64,
    pub flushes: u64,
    /// Discarded ranges; a command may have several.
    pub discards: u64,
    pub discarded_bytes: u64,
    /// Zeroed ranges; a command may have several.
    pub write_zeroes: u64,
    pub zeroed_bytes: u64,
    /// Requests that were answered with an error.
    pub refused: u64,
    /// Invalid chains without a place for a status.
    pub unanswered: u64,
}

impl RequestCounts {
    /// Counts a request and its commands.
    pub fn request(&mut self, served: &CompletedRequest) {
        match served.answer {
            None => self.unanswered += 1,
            Some((_, VirtioStatus::Ok)) => {}
            Some(_) => self.refused += 1,
        }
        for (kind, extent) in &served.commands {
            self.command(*kind, *extent);
        }
    }

    /// Counts a completed command.
    pub fn command(&mut self, kind: RequestKind, extent: Extent) {
        let (commands, bytes) = match kind {
            RequestKind::Read => (&mut self.reads, &mut self.read_bytes),
            RequestKind::Write => (&mut self.writes, &mut self.written_bytes),
            RequestKind::Discard => (&mut self.discards, &mut self.discarded_bytes),
            RequestKind::WriteZeroes => (&mut self.write_zeroes, &mut self.zeroed_bytes),
            RequestKind::Flush => {
                self.flushes += 1;
                return;
            }
        };
        *commands += 1;
        *bytes += extent.length_bytes;
    }
}

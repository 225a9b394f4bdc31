//! Defines which sectors the bios in flight mark, and how.
//!
//! Requests are made from bios by splitting and merging, which events do not report in full. But a
//! sector belongs to one bio at a time, at least with filesystems, so the range of a request
//! reveals which bios it carries.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Flags, RequestKind};

/// The maximum number of ranges: more than the requests that a device can queue.
const MOST: usize = 1 << 18;

/// The marked sectors, as disjoint ranges.
#[derive(Debug, Default)]
pub struct Marks {
    /// By kind and first sector.
    ranges: BTreeMap<(u8, u64), Mark>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    end: u64,
    flags: Flags,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkedRange {
    /// All marks somewhere in it.
    pub flags: Flags,
    /// How many of its sectors are [`Flags::METADATA`].
    pub metadata_sectors: u64,
}

impl Marks {
    /// The flags of a bio that its request may lack.
    pub const KEPT: Flags = Flags::METADATA.union(Flags::FUA).union(Flags::PREFLUSH);

    /// Marks the sectors of a bio, replacing earlier marks. False if there is no room.
    pub fn put(&mut self, kind: RequestKind, sectors: &Range<u64>, flags: Flags) -> bool {
        self.take(kind, sectors);
        let flags = flags & Self::KEPT;
        let is_kept = flags.is_empty() || self.ranges.len() < MOST;
        if is_kept && !flags.is_empty() {
            self.ranges.insert((kind as u8, sectors.start), Mark { end: sectors.end, flags });
        }
        is_kept
    }

    /// Removes all marks in a range, and returns them.
    pub fn take(&mut self, kind: RequestKind, sectors: &Range<u64>) -> MarkedRange {
        let mut marked = MarkedRange::default();
        let kind = kind as u8;
        while let Some((start, mark)) = self.last_before(kind, sectors.end) {
            if mark.end <= sectors.start {
                break;
            }
            self.ranges.remove(&(kind, start));
            if start < sectors.start {
                self.ranges.insert((kind, start), Mark { end: sectors.start, ..mark });
            }
            if mark.end > sectors.end {
                self.ranges.insert((kind, sectors.end), mark);
            }
            marked.flags |= mark.flags;
            if mark.flags.contains(Flags::METADATA) {
                let (from, to) = (start.max(sectors.start), mark.end.min(sectors.end));
                marked.metadata_sectors += to - from;
            }
        }
        marked
    }

    fn last_before(&self, kind: u8, sector: u64) -> Option<(u64, Mark)> {
        let (key, mark) = self.ranges.range((kind, 0)..(kind, sector)).next_back()?;
        Some((key.1, *mark))
    }
}

#[cfg(test)]
mod tests;

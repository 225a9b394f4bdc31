//! Defines what is known of the bios on their way: which sectors they mark, and how.
//!
//! Requests are made of bios by splitting and merging, which no event tells in full. But a sector
//! is asked for by one bio at a time, at least by filesystems, so where a request lies tells which
//! bios it carries.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::{Flags, Kind};

/// The most ranges that are kept; there are no more than requests that a device can hold.
const MOST: usize = 1 << 18;

/// The marked sectors, of which none is marked twice.
#[derive(Debug, Default)]
pub struct Marks {
    /// By the kind and the first sector.
    ranges: BTreeMap<(u8, u64), Mark>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    end: u64,
    flags: Flags,
}

/// What a range was marked with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marked {
    /// All marks somewhere in it.
    pub flags: Flags,
    /// How many of its sectors are [`Flags::METADATA`].
    pub metadata_sectors: u64,
}

impl Marks {
    /// What of a bio's flags its request may not tell.
    pub const KEPT: Flags = Flags::METADATA.union(Flags::FUA).union(Flags::PREFLUSH);

    /// Notes a bio, in place of what was known of its sectors. False if there is no room.
    pub fn put(&mut self, kind: Kind, sectors: &Range<u64>, flags: Flags) -> bool {
        self.take(kind, sectors);
        let flags = flags & Self::KEPT;
        let is_kept = flags.is_empty() || self.ranges.len() < MOST;
        if is_kept && !flags.is_empty() {
            self.ranges.insert((kind as u8, sectors.start), Mark { end: sectors.end, flags });
        }
        is_kept
    }

    /// Takes away all marks of a range. Those that reach beyond it stay there.
    pub fn take(&mut self, kind: Kind, sectors: &Range<u64>) -> Marked {
        let mut marked = Marked::default();
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

//! A block that is emptied incrementally, and the pages that are moved out of it.

use std::ops::Range;

use crate::units::{Block, LogicalPage, Nanos};

/// A valid page of a block that is being emptied.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageMove {
    pub page: LogicalPage,
    pub offset: u32,
    /// When it has been read.
    pub read: Nanos,
}

/// How many pages of a block are emptied together on a drive with times. Fewer would make the host
/// wait less, but take longer to simulate.
pub(super) const STEP: u32 = 64;

/// A block that is emptied incrementally, while the host writes.
///
/// A drive that emptied a block at once would make the host wait for all of it. So with each page
/// that the host writes a part of the block is emptied, just large enough that the whole is empty
/// by the time its space is needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Emptying {
    pub block: Block,
    /// The pages of the block, and how many are examined at a time.
    pages: u32,
    step: u32,
    /// The pages before this one have been moved.
    pub next: u32,
    /// The pages the host can write for this block's space: those that were not valid.
    gain: u32,
    /// The pages the host has written since the block was chosen, and those at which the next
    /// step is due.
    paid: u32,
    due_at: u32,
    /// When the pages that have been moved are safe.
    pub safe: Nanos,
}

impl Emptying {
    /// A block is to be emptied.
    pub fn new(block: Block, pages: u32, step: u32, gain: u32) -> Self {
        let mut emptying =
            Self { block, pages, step, next: 0, gain, paid: 0, due_at: 0, safe: Nanos::ZERO };
        emptying.set_due();
        emptying
    }

    /// Charges so many pages of the host. Returns whether a step is due.
    #[inline]
    pub const fn charge(&mut self, host_pages: u32) -> bool {
        self.paid = self.paid.saturating_add(host_pages);
        self.paid >= self.due_at
    }

    /// The page up to which the block should be emptied by now.
    pub fn due(&self) -> u32 {
        if self.paid >= self.gain {
            return self.pages;
        }
        let due = u64::from(self.paid) * u64::from(self.pages) / u64::from(self.gain);
        u32::try_from(due).expect("paid for a part, so due is a part of the pages")
    }

    /// The next part of the block to be emptied, of those before a page.
    pub fn take_part(&mut self, until: u32) -> Option<Range<u32>> {
        if self.next >= until {
            return None;
        }
        let part = self.next..(self.next + self.step).min(self.pages);
        self.next = part.end;
        self.set_due();
        Some(part)
    }

    /// Whether all of the block's pages have been moved.
    pub const fn is_done(&self) -> bool {
        self.next == self.pages
    }

    fn set_due(&mut self) {
        let end = (self.next + self.step).min(self.pages);
        let due = (u64::from(end) * u64::from(self.gain)).div_ceil(u64::from(self.pages));
        self.due_at = u32::try_from(due).expect("the end of a step is a part of the pages");
    }
}

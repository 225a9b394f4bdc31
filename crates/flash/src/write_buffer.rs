//! The write buffer: memory in which written pages wait until they go to the flash.
//!
//! A write is done when its pages are in the buffer. Half of the buffer holds pages that have not
//! gone on yet, the oldest of which goes when another comes; the other half holds pages on their
//! way to the flash. A page that is written again before it goes on takes no second place. When
//! the power fails, exactly the pages that have not gone on are lost (what is being programmed is
//! finished on the power that is left), and a flush sends all of them on first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::command::Stream;
use crate::units::{LogicalPage, Nanos, PageRun, is_set};

/// A write buffer.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pages: usize,
    /// Whether a power cut loses nothing.
    pub is_protected: bool,
    /// Pages that wait, the oldest in front. One that is not dirty any more was trimmed.
    waiting: VecDeque<(LogicalPage, Stream)>,
    /// A bit a logical page: whether its newest version waits here.
    dirty: Vec<u64>,
    /// When the pages on their way will be safe.
    leaving: BinaryHeap<Reverse<Nanos>>,
}

impl Buffer {
    pub fn new(pages: u32, is_protected: bool, logical_pages: u32) -> Self {
        Self {
            pages: pages as usize,
            is_protected,
            waiting: VecDeque::new(),
            dirty: vec![0; logical_pages.div_ceil(u64::BITS) as usize],
            leaving: BinaryHeap::new(),
        }
    }

    /// Whether the newest version of a page waits here.
    pub fn holds(&self, page: LogicalPage) -> bool {
        is_set(&self.dirty, page)
    }

    /// Takes a page in. Returns whether it takes a place, so is not here already.
    pub fn take(&mut self, page: LogicalPage, stream: Stream) -> bool {
        if self.holds(page) {
            return false;
        }
        self.dirty[(page.0 / u64::BITS) as usize] ^= 1 << (page.0 % u64::BITS);
        self.waiting.push_back((page, stream));
        true
    }

    /// Drops a page that was trimmed. Returns whether it was here.
    pub fn drop_page(&mut self, page: LogicalPage) -> bool {
        let held = self.holds(page);
        if held {
            self.dirty[(page.0 / u64::BITS) as usize] ^= 1 << (page.0 % u64::BITS);
        }
        held
    }

    /// The oldest pages, if more wait than may; they are on their way then.
    pub fn overflow(&mut self) -> Option<(PageRun, Stream)> {
        let excess = self.waiting.len().saturating_sub(self.pages.div_ceil(2));
        if excess == 0 { None } else { self.oldest(excess) }
    }

    /// The oldest pages that follow each other, at most so many; they are on their way then.
    pub fn oldest(&mut self, limit: usize) -> Option<(PageRun, Stream)> {
        let mut waiting = std::iter::from_fn(|| self.waiting.pop_front());
        let (page, stream) = waiting.find(|(page, _)| is_set(&self.dirty, *page))?;
        let mut run = PageRun::page(page);
        self.drop_page(page);
        while (run.count as usize) < limit
            && let Some(next) = self.waiting.front()
            && *next == (LogicalPage(page.0 + run.count), stream)
            && self.drop_page(LogicalPage(page.0 + run.count))
        {
            self.waiting.pop_front();
            run.count += 1;
        }
        Some((run, stream))
    }

    /// Notes when pages on their way will be safe.
    pub fn send(&mut self, pages: u32, safe: Nanos) {
        self.leaving.extend((0..pages).map(|_| Reverse(safe)));
    }

    /// When there is room for another page that comes at `earliest`.
    pub fn room(&mut self, earliest: Nanos) -> Nanos {
        while self.leaving.peek().is_some_and(|Reverse(safe)| *safe <= earliest) {
            self.leaving.pop();
        }
        if self.waiting.len() + self.leaving.len() < self.pages {
            return earliest;
        }
        self.leaving.pop().map_or(earliest, |Reverse(safe)| safe)
    }

    /// When everything on its way will be safe.
    pub fn all_safe(&self) -> Nanos {
        self.leaving.iter().map(|Reverse(safe)| *safe).max().unwrap_or_default()
    }

    /// Loses everything. Returns the pages whose newest version is lost, in the order they came.
    pub fn lose(&mut self) -> Vec<LogicalPage> {
        let runs = std::iter::from_fn(|| self.oldest(usize::MAX));
        let lost = runs.flat_map(|(run, _)| run.pages()).collect();
        self.leaving.clear();
        lost
    }
}

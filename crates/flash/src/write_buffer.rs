//! The write buffer: memory in which written pages wait until they go to the flash.
//!
//! A write is done when its pages are in the buffer. Half of the buffer holds pages that have not
//! been sent to the flash, of which the oldest is sent when another arrives; the other half holds
//! pages on their way to the flash. Rewriting a page that has not been sent takes no second slot.
//! When the power fails, exactly the pages that have not been sent are lost (running programs
//! complete on residual power), and a flush sends all of them first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::command::Stream;
use crate::units::{LogicalPage, Nanos, PageRun, flip, is_set};

/// A write buffer.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pages: usize,
    /// Whether a power cut loses nothing.
    pub is_protected: bool,
    /// Waiting pages, oldest first. One that is no longer dirty was trimmed.
    waiting: VecDeque<(LogicalPage, Stream)>,
    /// One bit per logical page: whether its newest version waits here.
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

    /// The pages of a run whose newest version waits here.
    pub fn held(&self, run: PageRun) -> Vec<LogicalPage> {
        let words = run.split(u64::BITS).filter(|part| self.dirty[part.stretch as usize] != 0);
        let pages = words.flat_map(|part| {
            let first = part.stretch * u64::BITS + part.offset;
            (first..first + part.count).map(LogicalPage)
        });
        pages.filter(|page| self.holds(*page)).collect()
    }

    /// Takes in a page that is not here already.
    pub fn take(&mut self, page: LogicalPage, stream: Stream) {
        flip(&mut self.dirty, page);
        self.waiting.push_back((page, stream));
    }

    /// Drops a page that was trimmed. Returns whether it was here.
    pub fn drop_page(&mut self, page: LogicalPage) -> bool {
        let held = self.holds(page);
        if held {
            flip(&mut self.dirty, page);
        }
        held
    }

    /// Takes out the oldest pages, to be sent, if more wait than may.
    pub fn overflow(&mut self) -> Option<(PageRun, Stream)> {
        let excess = self.waiting.len().saturating_sub(self.pages.div_ceil(2));
        if excess == 0 { None } else { self.oldest(excess) }
    }

    /// Takes out the oldest consecutive pages, at most `limit`, to be sent.
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

    /// When there is room for another page that arrives at `earliest`.
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

    /// Loses everything. Returns the pages whose newest version is lost, in the order they arrived.
    pub fn lose(&mut self) -> Vec<LogicalPage> {
        let runs = std::iter::from_fn(|| self.oldest(usize::MAX));
        let lost = runs.flat_map(|(run, _)| run.pages()).collect();
        self.leaving.clear();
        lost
    }
}

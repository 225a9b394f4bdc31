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

#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pages: usize,
    /// Whether a power cut loses nothing.
    pub is_protected: bool,
    /// Waiting pages, oldest first; each is dirty, and there once.
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

    /// Takes in a page that is not here already.
    pub fn take(&mut self, page: LogicalPage, stream: Stream) {
        flip(&mut self.dirty, page);
        self.waiting.push_back((page, stream));
    }

    /// Removes pages that were discarded, or are to be sent before their turn. Returns those that
    /// were here, in ascending order.
    pub fn remove(&mut self, run: PageRun) -> Vec<LogicalPage> {
        let mut removed = Vec::new();
        self.waiting.retain(|(page, _)| {
            let stays = !run.contains(*page);
            if !stays {
                flip(&mut self.dirty, *page);
                removed.push(*page);
            }
            stays
        });
        removed.sort_unstable();
        removed
    }

    /// Takes out the oldest pages, to be sent, if more wait than may.
    pub fn overflow(&mut self) -> Option<(PageRun, Stream)> {
        let excess = self.waiting.len().saturating_sub(self.pages.div_ceil(2));
        if excess == 0 { None } else { self.oldest(excess) }
    }

    /// Takes out the oldest consecutive pages, at most `limit`, to be sent.
    pub fn oldest(&mut self, limit: usize) -> Option<(PageRun, Stream)> {
        let (page, stream) = self.waiting.pop_front()?;
        let mut run = PageRun::page(page);
        while (run.count as usize) < limit
            && self.waiting.front() == Some(&(LogicalPage(page.0 + run.count), stream))
        {
            self.waiting.pop_front();
            run.count += 1;
        }
        for page in run.pages() {
            flip(&mut self.dirty, page);
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

#[cfg(test)]
mod tests;

//! Page mapping: any page can be anywhere, so a write goes to the next free page, and the page's
//! old place becomes invalid until its block is collected.
//!
//! A write looks up a random entry of the map and a random block's record, and each collected block
//! a few hundred entries more. The cost of all this is memory latency, so the code prefetches:
//! [`PageMapped::expect`] for the host's next pages, and the collector for all pages of a block
//! before it moves the first. That gains a factor of 1.5 at 64 GB, measured.

mod blocks;
mod collector;
mod emptying;
mod folding;
mod pools;
mod slc;
mod state;
mod victims;

use self::collector::WORTH_A_SHARE;
use crate::command::Stream;
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::units::{LogicalPage, Nanos, PageRun};

pub(crate) use self::state::PageMapped;

impl PageMapped {
    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(
        &mut self,
        nand: &mut N,
        run: PageRun,
        stream: Stream,
        earliest: Nanos,
    ) -> Nanos {
        let pool = self.pools.of_stream(stream);
        let frontier = self.slc.as_ref().map_or(self.pools[pool].host, |slc| slc.frontier);
        self.trim(run);
        let mut safe = earliest;
        let PageRun { first: LogicalPage(mut at), count } = run;
        let end = at + count;
        while at < end {
            while self.frontiers[frontier].is_full() {
                if self.slc.is_some() {
                    self.open_slc(nand, pool, earliest);
                } else {
                    self.advance(nand, frontier, pool, earliest);
                }
            }
            let count = self.frontiers[frontier].room().min(end - at);
            let Some(first) = self.frontiers[frontier].take(count) else { break };
            let pages = PageRun { first: LogicalPage(at), count };
            self.put(first, pages.pages());
            safe = safe.max(nand.program_run(first, pages, OperationReason::Host, earliest));
            at += count;
            if self.slc.is_some() {
                self.fold_a_part(nand, pool, count, earliest);
            } else {
                self.collect_a_part(nand, count, earliest);
            }
        }
        self.pools.count_writes(pool, run.count);
        safe
    }

    /// Folds the SLC cache and makes `free_blocks` blocks free, as far as time allows and it is
    /// worthwhile.
    pub fn idle<N: Nand>(&mut self, nand: &mut N, free_blocks: u32, from: Nanos, until: Nanos) {
        /// After this many blocks were emptied without gaining a free one, no more can be gained.
        const MOST_FRUITLESS: u32 = 2 * WORTH_A_SHARE;
        let mut now = from;
        let mut most_free = 0;
        let mut fruitless = 0;
        while now < until && !self.is_worn_out() && fruitless < MOST_FRUITLESS {
            let pool = self.pools.of_stream(Stream::default());
            if let Some(done) = self.fold(nand, pool, now) {
                now = done;
                continue;
            }
            let lacks = self.free_blocks() < free_blocks && self.is_worth_while();
            if !lacks && self.collecting.is_none() {
                return;
            }
            let Some(done) = self.collect(nand, now) else { return };
            now = done;
            fruitless = if self.free_blocks() > most_free { 0 } else { fruitless + 1 };
            most_free = most_free.max(self.free_blocks());
        }
    }
}

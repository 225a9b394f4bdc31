//! Opening blocks, and collecting full ones so that there are blocks to open.

use std::ops::Range;

use super::blocks::BlockState;
use super::emptying::{Emptying, PageMove};
use super::pools::Frontier;
use super::state::{PageMapped, RESERVE};
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::units::{Block, LogicalPage, Nanos, PhysicalPage, count};

/// In the background, blocks are emptied only if at least one in this many of their pages is
/// invalid.
pub(super) const WORTH_A_SHARE: u32 = 8;

impl PageMapped {
    /// Makes room at a full frontier: the rest of the block being emptied may provide some;
    /// otherwise the frontier gets a new block, for which the reserve has to be complete.
    pub(super) fn advance<N: Nand>(
        &mut self,
        nand: &mut N,
        frontier: usize,
        pool: u8,
        earliest: Nanos,
    ) {
        // A block that was retired instead of becoming free is replaced at once.
        while (self.free_blocks() < RESERVE - 1
            || self.free_blocks() < RESERVE && self.frontiers[frontier].is_full())
            && self.collect(nand, earliest).is_some()
        {}
        if self.frontiers[frontier].is_full() && !self.free.is_empty() {
            self.open(nand, frontier, pool);
        }
    }

    /// Does the share of collecting that is due for a number of the host's pages.
    #[inline]
    pub(super) fn collect_a_part<N: Nand>(&mut self, nand: &mut N, pages: u32, earliest: Nanos) {
        if self.collecting.is_none() {
            // A block that was retired is replaced before another is emptied bit by bit: meanwhile
            // the host may fill what the copies need, where both write to one frontier.
            while self.free_blocks() < RESERVE - 1 && self.collect(nand, earliest).is_some() {}
            if self.free_blocks() >= RESERVE {
                return;
            }
            self.collecting = self.choose(nand);
        }
        if let Some(emptying) = &mut self.collecting
            && emptying.charge(pages)
        {
            let until = emptying.due();
            self.empty(nand, until, earliest);
        }
    }

    /// Closes a full frontier's block and opens another.
    fn open<N: Nand>(&mut self, nand: &mut N, frontier: usize, pool: u8) {
        if let Some(full) = self.frontiers[frontier].block {
            self.close(nand, full);
        }
        let block = self.free.take().expect("the reserve is never used up");
        let record = &mut self.blocks[block.index()];
        record.state = BlockState::Open;
        record.pool = pool;
        self.frontiers[frontier] = Frontier::open(block, self.pages_per_block);
    }

    fn close<N: Nand>(&mut self, nand: &N, block: Block) {
        let record = &mut self.blocks[block.index()];
        record.state = BlockState::Closed;
        let pool = record.pool;
        self.pools[pool].close(&mut self.blocks, block);
        self.leveller.settled(block, nand.erases(block));
    }

    /// Chooses a block to be emptied; none if no block is full.
    fn choose<N: Nand>(&mut self, nand: &N) -> Option<Emptying> {
        let (pool, victim) = self.pools.choose(&self.blocks)?;
        let valid = self.blocks[victim.index()].valid;
        self.pools[pool].victims.remove(&mut self.blocks, victim);
        self.leveller.erasing(victim, nand.erases(victim));
        self.blocks[victim.index()].state = BlockState::Emptying;
        let pages = self.pages_per_block;
        Some(Emptying::new(victim, pages, self.step, pages - valid))
    }

    /// Empties a block as a whole: the one that is being emptied, or the best one. Returns when
    /// that is done; none if there is no block to empty.
    pub(super) fn collect<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) -> Option<Nanos> {
        self.collecting = Some(self.collecting.or_else(|| self.choose(nand))?);
        self.empty(nand, self.pages_per_block, earliest)
    }

    /// Empties the block that is being emptied up to a page. Returns when that is done, if it is
    /// empty then.
    fn empty<N: Nand>(&mut self, nand: &mut N, until: u32, earliest: Nanos) -> Option<Nanos> {
        let mut emptying = self.collecting?;
        let pool = self.blocks[emptying.block.index()].pool;
        let frontier = self.pools[pool].collector;
        while let Some(part) = emptying.take_part(until) {
            let read =
                self.read_out(nand, emptying.block, part, OperationReason::Collection, earliest);
            self.look_ahead(emptying.block, emptying.next);
            let safe = self.put_moving(nand, frontier, pool, OperationReason::Collection);
            emptying.safe = emptying.safe.max(read).max(safe);
        }
        if !emptying.is_done() {
            self.collecting = Some(emptying);
            return None;
        }
        self.collecting = None;
        let erased = self.erase(nand, emptying.block, OperationReason::Collection, emptying.safe);
        self.level(nand, emptying.safe);
        if let Some(next) = self.pools.likely_next() {
            self.look_ahead(next, 0);
        }
        Some(erased)
    }

    /// Whether the best block has enough invalid pages to be emptied early.
    pub(super) fn is_worth_while(&mut self) -> bool {
        let best = self.pools.choose(&self.blocks);
        best.is_some_and(|(_, block)| {
            let invalid = self.pages_per_block - self.blocks[block.index()].valid;
            invalid > 0 && invalid >= self.pages_per_block / WORTH_A_SHARE
        })
    }

    /// Reads the valid pages of a part of a block into `moving`, after which they belong to no
    /// block. Returns when the last has been read.
    pub(super) fn read_out<N: Nand>(
        &mut self,
        nand: &mut N,
        block: Block,
        part: Range<u32>,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        let first = block.0 * self.pages_per_block;
        let held = self.reverse.of((first + part.start) as usize..(first + part.end) as usize);
        // All entries of the map are prefetched before the first is used.
        for page in held {
            self.map.prefetch(*page as usize);
        }
        // Which pages are still valid cannot be predicted, so there is no branch on it.
        self.moving.resize(held.len(), PageMove::default());
        let mut valid = 0;
        for (page, offset) in held.iter().zip(part) {
            let is_valid = self.map[*page as usize] == Self::entry(first + offset);
            self.moving[valid] = PageMove { page: LogicalPage(*page), offset, read: earliest };
            valid += usize::from(is_valid);
        }
        self.moving.truncate(valid);
        let mut last = earliest;
        for moving in &mut self.moving {
            let place = PhysicalPage { block, offset: moving.offset };
            moving.read = nand.read(place, why, earliest);
            last = last.max(moving.read);
        }
        let record = &mut self.blocks[block.index()];
        record.valid -= count(valid);
        match &mut self.slc {
            Some(slc) if slc.owns(block) => slc.valid -= count(valid),
            _ => self.pools[record.pool].valid -= count(valid),
        }
        last
    }

    /// Puts the pages in `moving` at a frontier. Returns when they are safe.
    pub(super) fn put_moving<N: Nand>(
        &mut self,
        nand: &mut N,
        frontier: usize,
        pool: u8,
        why: OperationReason,
    ) -> Nanos {
        let moving = std::mem::take(&mut self.moving);
        let mut safe = Nanos::ZERO;
        let mut left = &moving[..];
        while !left.is_empty() {
            if self.frontiers[frontier].is_full() {
                self.open(nand, frontier, pool);
            }
            let room = self.frontiers[frontier].room() as usize;
            let (now, later) = left.split_at(room.min(left.len()));
            let Some(first) = self.frontiers[frontier].take(count(now.len())) else { break };
            safe = safe.max(self.put_moving_at(nand, first, now, why));
            left = later;
        }
        self.moving = moving;
        safe
    }

    /// Erases an empty block, which becomes free or is retired.
    fn erase<N: Nand>(
        &mut self,
        nand: &mut N,
        block: Block,
        why: OperationReason,
        safe: Nanos,
    ) -> Nanos {
        self.blocks[block.index()].state = BlockState::Idle;
        let erased = nand.erase(block, why, safe);
        self.free.give(block, nand);
        erased
    }

    /// Moves the data of the least worn block, if wear has become too uneven.
    fn level<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) {
        let Some(cold) = self.leveller.due() else { return };
        let pool = self.blocks[cold.index()].pool;
        self.pools[pool].victims.remove(&mut self.blocks, cold);
        self.leveller.erasing(cold, nand.erases(cold));
        let all = 0..self.pages_per_block;
        let read = self.read_out(nand, cold, all, OperationReason::Levelling, earliest);
        let frontier = self.pools[pool].collector;
        let safe = read.max(self.put_moving(nand, frontier, pool, OperationReason::Levelling));
        self.erase(nand, cold, OperationReason::Levelling, safe);
    }

    /// Prefetches what emptying a block from a page on will read first.
    pub(super) fn look_ahead(&self, block: Block, next: u32) {
        /// The entries of the reverse map in a line of the processor's cache.
        const A_LINE: usize = 16;
        let first = block.index() * self.pages_per_block as usize;
        let end = (next + self.step).min(self.pages_per_block);
        for line in (first + next as usize..first + end as usize).step_by(A_LINE) {
            self.reverse.prefetch(line);
        }
    }
}

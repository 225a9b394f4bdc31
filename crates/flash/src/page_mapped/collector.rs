//! Opening blocks, and collecting full ones so that there are blocks to open.

use super::blocks::State;
use super::pools::Frontier;
use super::{PageMapped, RESERVE};
use crate::command::Stream;
use crate::nand::{Nand, Why};
use crate::prefetch::prefetch;
use crate::units::{Block, LogicalPage, Nanos, Place};

/// A valid page of a block that is being emptied.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moving {
    pub page: LogicalPage,
    pub offset: u32,
    /// When it has been read.
    pub read: Nanos,
}

impl PageMapped {
    /// Gives a full frontier a new block, and collects until the reserve is whole again.
    pub(super) fn advance<N: Nand>(
        &mut self,
        nand: &mut N,
        frontier: usize,
        pool: u8,
        earliest: Nanos,
    ) {
        self.open(nand, frontier, pool);
        while self.free_blocks() < RESERVE && self.collect(nand, earliest).is_some() {}
    }

    /// Closes a full frontier's block and opens another.
    fn open<N: Nand>(&mut self, nand: &mut N, frontier: usize, pool: u8) {
        if let Some(full) = self.frontiers[frontier].block {
            self.close(nand, full);
        }
        let block = self.free.take().expect("the reserve is never used up");
        let record = &mut self.blocks[block.index()];
        record.state = State::Open;
        record.pool = pool;
        self.frontiers[frontier] = Frontier::open(block, self.pages_per_block);
    }

    fn close<N: Nand>(&mut self, nand: &N, block: Block) {
        let record = &mut self.blocks[block.index()];
        record.state = State::Closed;
        let pool = record.pool;
        self.pools[pool].close(&mut self.blocks, block);
        self.leveller.settled(block, nand.erases(block));
    }

    /// Empties the best block. Returns when that is done; none if there was none to empty.
    fn collect<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) -> Option<Nanos> {
        let (pool, victim) = self.pools.choose(&self.blocks)?;
        let frontier = self.pools[pool].collector;
        let valid = self.blocks[victim.index()].valid;
        if self.free.is_empty() && valid > self.frontiers[frontier].room() {
            // Blocks have worn out faster than they were collected.
            self.is_worn_out = true;
            return None;
        }
        self.pools[pool].victims.remove(&mut self.blocks, victim);
        let mut safe = self.read_out(nand, victim, Why::Collection, earliest);
        self.pools[pool].valid -= valid;
        let moving = std::mem::take(&mut self.moving);
        let mut left = &moving[..];
        while !left.is_empty() {
            if self.frontiers[frontier].is_full() {
                self.open(nand, frontier, pool);
            }
            let (put, rest) = self.put_moving(nand, frontier, left, Why::Collection);
            (safe, left) = (safe.max(put), rest);
        }
        self.moving = moving;
        let erased = self.erase(nand, victim, Why::Collection, safe);
        self.level(nand, safe);
        self.look_ahead();
        Some(erased)
    }

    /// Folds the SLC cache out and makes `free_blocks` blocks free, as far as time allows.
    pub fn idle<N: Nand>(&mut self, nand: &mut N, free_blocks: u32, from: Nanos, until: Nanos) {
        let mut now = from;
        while now < until && !self.is_worn_out {
            let pool = self.pools.of_stream(Stream::default());
            let done = self.fold(nand, pool, now).or_else(|| {
                let lacks = self.free_blocks() < free_blocks;
                if lacks && self.can_gain() { self.collect(nand, now) } else { None }
            });
            let Some(done) = done else { return };
            now = done.max(now + Nanos(1));
        }
    }

    /// Whether the best block has anything but valid pages.
    fn can_gain(&mut self) -> bool {
        let best = self.pools.choose(&self.blocks);
        best.is_some_and(|(_, block)| self.blocks[block.index()].valid < self.pages_per_block)
    }

    /// Reads the valid pages of a block into `moving`, which leaves the block without any.
    /// Returns when the last has been read.
    pub(super) fn read_out<N: Nand>(
        &mut self,
        nand: &mut N,
        block: Block,
        why: Why,
        earliest: Nanos,
    ) -> Nanos {
        self.moving.clear();
        let first = block.0 * self.pages_per_block;
        let held = &self.reverse[first as usize..(first + self.pages_per_block) as usize];
        // All entries of the map are asked for before the first is waited for.
        for page in held {
            prefetch(&self.map, *page as usize);
        }
        // Which pages are still valid cannot be predicted, so there is no branch on it.
        self.moving.resize(held.len(), Moving::default());
        let mut valid = 0;
        for (page, offset) in held.iter().zip(0..) {
            let is_valid = self.map.get(*page as usize) == Some(&(first + offset));
            self.moving[valid] = Moving { page: LogicalPage(*page), offset, read: earliest };
            valid += usize::from(is_valid);
        }
        self.moving.truncate(valid);
        let mut last = earliest;
        for moving in &mut self.moving {
            let place = Place { block, offset: moving.offset };
            moving.read = nand.read(place, why, earliest);
            last = last.max(moving.read);
        }
        self.blocks[block.index()].valid = 0;
        last
    }

    /// Erases an empty block, and puts it by or retires it.
    fn erase<N: Nand>(&mut self, nand: &mut N, block: Block, why: Why, safe: Nanos) -> Nanos {
        self.blocks[block.index()].state = State::Idle;
        self.leveller.erasing(block, nand.erases(block));
        let erased = nand.erase(block, why, safe);
        if nand.is_worn(block) {
            self.in_service -= 1;
            let needed = self.logical_pages.div_ceil(self.pages_per_block) + RESERVE + 1;
            self.is_worn_out |= self.in_service < needed;
        } else {
            self.free.give(block, nand.erases(block));
        }
        erased
    }

    /// Moves the data of the least worn block, if wear has become too uneven.
    fn level<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) {
        let Some(cold) = self.leveller.due() else { return };
        let Some(worn) = self.free.take_most_worn() else { return };
        let pool = self.blocks[cold.index()].pool;
        let valid = self.blocks[cold.index()].valid;
        self.pools[pool].victims.remove(&mut self.blocks, cold);
        let mut safe = self.read_out(nand, cold, Why::Levelling, earliest);
        self.pools[pool].valid -= valid;
        self.blocks[worn.index()].pool = self.blocks[cold.index()].pool;
        let moving = std::mem::take(&mut self.moving);
        let first = Place { block: worn, offset: 0 };
        safe = safe.max(self.put_moving_at(nand, first, &moving, Why::Levelling));
        self.moving = moving;
        self.close(nand, worn);
        self.erase(nand, cold, Why::Levelling, safe);
    }

    /// Asks for what the next collection will read first.
    fn look_ahead(&mut self) {
        /// The entries of the reverse map in a line of the processor's cache.
        const A_LINE: usize = 16;
        if let Some(next) = self.pools.likely_next() {
            let first = next.index() * self.pages_per_block as usize;
            for page in (first..first + self.pages_per_block as usize).step_by(A_LINE) {
                prefetch(&self.reverse, page);
            }
        }
    }
}

//! Pools of blocks that are filled and collected separately, and the frontiers where they are
//! filled.

use std::ops::{Index, IndexMut};

use super::blocks::BlockRecord;
use super::victims::Victims;
use crate::command::Stream;
use crate::specification::{Frontiers, VictimPolicy};
use crate::units::{Block, PhysicalPage};

/// A block being filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frontier {
    /// None before the first block is opened.
    pub block: Option<Block>,
    next: u32,
    pages: u32,
}

impl Frontier {
    pub const fn closed() -> Self {
        Self { block: None, next: 0, pages: 0 }
    }

    pub const fn open(block: Block, pages: u32) -> Self {
        Self { block: Some(block), next: 0, pages }
    }

    pub const fn room(&self) -> u32 {
        self.pages - self.next
    }

    pub const fn is_full(&self) -> bool {
        self.next == self.pages
    }

    /// Takes the next pages of a frontier that has room for them. Returns where they begin.
    #[inline]
    pub fn take(&mut self, count: u32) -> Option<PhysicalPage> {
        let offset = self.next;
        self.next += count;
        self.block.map(|block| PhysicalPage { block, offset })
    }
}

/// Blocks that are collected together.
#[derive(Debug, Clone)]
pub(super) struct BlockPool {
    pub victims: Victims,
    /// The frontier for what the host writes.
    pub host: usize,
    /// The frontier for what the collector copies.
    pub collector: usize,
    /// Valid pages.
    pub valid: u32,
    /// Pages the host has written lately.
    writes: u64,
}

/// All pools: one, or one for hot and one for cold data.
#[derive(Debug, Clone)]
pub(super) struct BlockPools {
    all: Vec<BlockPool>,
    /// The gain of a collection, by the number of valid pages; see [`gains`].
    gains: Vec<u64>,
    chosen_last: u8,
}

impl Index<u8> for BlockPools {
    type Output = BlockPool;

    fn index(&self, pool: u8) -> &BlockPool {
        &self.all[usize::from(pool)]
    }
}

impl IndexMut<u8> for BlockPools {
    fn index_mut(&mut self, pool: u8) -> &mut BlockPool {
        &mut self.all[usize::from(pool)]
    }
}

impl BlockPools {
    pub fn new(
        frontiers: Frontiers,
        collection: VictimPolicy,
        blocks: u32,
        pages_per_block: u32,
        seed: u64,
    ) -> Self {
        let pool = |index: u64, host, collector| {
            let victims = Victims::new(
                collection,
                blocks as usize,
                pages_per_block,
                seed.wrapping_add(index),
            );
            BlockPool { victims, host, collector, valid: 0, writes: 0 }
        };
        let pools = match frontiers {
            Frontiers::One => vec![pool(0, 0, 0)],
            Frontiers::Collector => vec![pool(0, 0, 1)],
            Frontiers::HotCold => vec![pool(0, 0, 0), pool(1, 1, 1)],
        };
        let gains = if pools.len() > 1 { gains(pages_per_block) } else { Vec::new() };
        Self { all: pools, gains, chosen_last: 0 }
    }

    /// The pool for what the host writes in a stream.
    pub fn of_stream(&self, stream: Stream) -> u8 {
        match stream {
            Stream::Hot => 0,
            Stream::Cold => u8::from(self.all.len() > 1),
        }
    }

    pub fn valid_pages(&self) -> u32 {
        self.all.iter().map(|pool| pool.valid).sum()
    }

    /// Counts what the host writes. Only the pools' shares matter, so old counts decay.
    pub fn count_writes(&mut self, pool: u8, pages: u32) {
        if self.all.len() == 1 {
            return;
        }
        self[pool].writes += u64::from(pages);
        if self[pool].writes > 2 * u64::from(self.valid_pages()) {
            self.all.iter_mut().for_each(|pool| pool.writes /= 2);
        }
    }

    /// The block that will most likely be collected next, if that is cheap to find.
    pub fn likely_next(&self) -> Option<Block> {
        self.all[0].victims.likely_next()
    }

    /// The pool and the block to collect next; none if no block is full.
    ///
    /// With two pools, spare space is worth most where it saves the most copies. Let a pool of U
    /// pages take the share r of the writes and its victims be valid to the share u. Under uniform
    /// writes its space is `U * -ln(u) / (1 - u)` (Desnoyers, "Analytic models of SSD write
    /// performance", 2014, for FIFO and greedy with large blocks) and its writes are `r / (1 - u)`.
    /// The sum of writes is smallest for a given sum of space where `U / r * ((1 - u) / u + ln(u))`
    /// is the same in both pools; so the pool where it is larger has to give a block.
    pub fn choose(&mut self, records: &[BlockRecord]) -> Option<(u8, Block)> {
        let mut best: Option<(u128, u8, Block)> = None;
        for (pool, index) in self.all.iter_mut().zip(0..) {
            let Some(block) = pool.victims.choose(records) else { continue };
            let worth = match self.gains.get(records[block.index()].valid as usize) {
                Some(gain) => {
                    u128::from(*gain) * u128::from(pool.valid + 1) / u128::from(pool.writes + 1)
                }
                None => 0,
            };
            // Pools take turns when tied: with FIFO the oldest blocks of both may be fully valid,
            // and those behind them must be reached, too.
            let is_better = best.is_none_or(|(most, other, _)| {
                worth > most || worth == most && other == self.chosen_last
            });
            if is_better {
                best = Some((worth, index, block));
            }
        }
        let (_, index, block) = best?;
        self.chosen_last = index;
        Some((index, block))
    }
}

/// For each number v of valid pages out of b: `(b - v) / v - ln(b / v)`, scaled by 2^32. The
/// logarithm is a sum of 1 / k for k from v + 1 to b, which needs no floating point.
fn gains(pages_per_block: u32) -> Vec<u64> {
    const ONE: u64 = 1 << 32;
    let mut logarithm = 0;
    let mut gains = vec![u64::MAX; pages_per_block as usize + 1];
    for (gain, valid) in gains[1..].iter_mut().rev().zip((1..=pages_per_block).rev()) {
        let share = ONE / u64::from(valid);
        *gain = (u64::from(pages_per_block - valid) * share).saturating_sub(logarithm);
        logarithm += share;
    }
    gains
}

impl BlockPool {
    /// A block of this pool is full.
    pub fn close(&mut self, blocks: &mut [BlockRecord], block: Block) {
        self.victims.insert(blocks, block);
    }
}

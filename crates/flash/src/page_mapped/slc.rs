//! The SLC cache: blocks with one bit a cell take what the host writes, and are folded out into
//! the data blocks: in the background while the drive is idle, and in the way of the host's
//! writes once no cache block is left. That is the cliff.

use std::collections::VecDeque;

use super::PageMapped;
use super::pools::Frontier;
use crate::nand::{Nand, Why};
use crate::specification::SlcCache;
use crate::units::{Block, Nanos, count};

/// The cache's blocks.
#[derive(Debug, Clone)]
pub(super) struct Slc {
    pub frontier: usize,
    /// Valid pages.
    pub valid: u32,
    first: Block,
    blocks: u32,
    pages_per_block: u32,
    free: VecDeque<Block>,
    /// In the order they were filled, which is the order they are folded in.
    full: VecDeque<Block>,
}

impl Slc {
    /// An empty cache; its blocks are those from `first` on.
    pub fn new(cache: SlcCache, first: Block, frontier: usize) -> Self {
        Self {
            frontier,
            valid: 0,
            first,
            blocks: cache.blocks,
            pages_per_block: cache.pages_per_block,
            free: (first.0..first.0 + cache.blocks).map(Block).collect(),
            full: VecDeque::new(),
        }
    }

    pub fn owns(&self, block: Block) -> bool {
        block >= self.first
    }

    /// Blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        count(self.free.len())
    }

    /// All its blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    fn open_next(&mut self) -> Option<Frontier> {
        self.free.pop_front().map(|block| Frontier::open(block, self.pages_per_block))
    }
}

impl PageMapped {
    /// Opens a block of the cache, which is there, after folding one out if need be.
    pub(super) fn open_slc<N: Nand>(&mut self, nand: &mut N, pool: u8, earliest: Nanos) {
        let Some(slc) = &mut self.slc else { return };
        let full = self.frontiers[slc.frontier].block;
        slc.full.extend(full);
        let frontier = slc.frontier;
        if slc.free.is_empty() {
            self.fold(nand, pool, earliest);
        }
        let opened = self.slc.as_mut().and_then(Slc::open_next);
        self.frontiers[frontier] = opened.expect("a fold frees a block");
    }

    /// Folds the oldest full block of the cache out. Returns when that is done; none if no block
    /// is full.
    pub(super) fn fold<N: Nand>(
        &mut self,
        nand: &mut N,
        pool: u8,
        earliest: Nanos,
    ) -> Option<Nanos> {
        let block = self.slc.as_mut()?.full.pop_front()?;
        let mut safe = self.read_out(nand, block, Why::Fold, earliest);
        let moving = std::mem::take(&mut self.moving);
        if let Some(slc) = &mut self.slc {
            slc.valid -= count(moving.len());
        }
        let frontier = self.pools[pool].host;
        let mut left = &moving[..];
        while !left.is_empty() {
            while self.frontiers[frontier].is_full() {
                self.advance(nand, frontier, pool, earliest);
            }
            let (put, rest) = self.put_moving(nand, frontier, left, Why::Fold);
            (safe, left) = (safe.max(put), rest);
        }
        self.moving = moving;
        let erased = nand.erase(block, Why::Fold, safe);
        if let Some(slc) = &mut self.slc {
            slc.free.push_back(block);
        }
        Some(erased)
    }
}

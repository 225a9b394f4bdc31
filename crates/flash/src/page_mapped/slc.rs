//! The SLC cache: blocks with one bit a cell, which take what the host writes.

use std::collections::VecDeque;

use super::emptying::{Emptying, STEP};
use super::pools::Frontier;
use crate::specification::SlcCache;
use crate::units::{Block, count};

/// The cache's blocks.
#[derive(Debug, Clone)]
pub(super) struct Slc {
    pub frontier: usize,
    /// Valid pages.
    pub valid: u32,
    first: Block,
    blocks: u32,
    pub pages_per_block: u32,
    pub free: VecDeque<Block>,
    /// In the order they were filled, which is the order they are folded in.
    pub full: VecDeque<Block>,
    pub folding: Option<Emptying>,
    /// Whether the host was writing to its last free block.
    pub was_full: bool,
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
            folding: None,
            was_full: false,
        }
    }

    pub fn owns(&self, block: Block) -> bool {
        block >= self.first
    }

    /// Blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        count(self.free.len())
    }

    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// The block whose folding has begun, or the oldest full one.
    pub fn next_to_fold(&mut self) -> Option<Emptying> {
        let oldest = |full: &mut VecDeque<Block>| {
            // The host gains all of the block's pages as space.
            let pages = self.pages_per_block;
            full.pop_front().map(|block| Emptying::new(block, pages, STEP, pages))
        };
        self.folding.or_else(|| oldest(&mut self.full))
    }

    /// The next free block, to be written from its start.
    pub fn open_next(&mut self) -> Option<Frontier> {
        self.free.pop_front().map(|block| Frontier::open(block, self.pages_per_block))
    }
}

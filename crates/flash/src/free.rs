//! The erased blocks, and which of them is used next, which is what dynamic wear levelling decides.

use std::collections::BTreeSet;

use crate::specification::Levelling;
use crate::units::Block;

/// Erased blocks.
#[derive(Debug, Clone)]
pub(crate) enum FreeBlocks {
    /// The block erased last is used first, as a drive without wear levelling does.
    LastErased(Vec<Block>),
    /// The block erased least often is used first.
    LeastWorn(BTreeSet<(u32, Block)>),
}

impl FreeBlocks {
    /// Blocks that have never been erased, in ascending order.
    pub fn new(levelling: Levelling, blocks: impl DoubleEndedIterator<Item = Block>) -> Self {
        match levelling {
            Levelling::None => Self::LastErased(blocks.rev().collect()),
            Levelling::Dynamic | Levelling::Static { .. } => {
                Self::LeastWorn(blocks.map(|block| (0, block)).collect())
            }
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::LastErased(blocks) => blocks.len(),
            Self::LeastWorn(blocks) => blocks.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the block to use next.
    pub fn take(&mut self) -> Option<Block> {
        match self {
            Self::LastErased(blocks) => blocks.pop(),
            Self::LeastWorn(blocks) => blocks.pop_first().map(|(_, block)| block),
        }
    }

    /// Takes the block that has been erased most often, for cold data.
    pub fn take_most_worn(&mut self) -> Option<Block> {
        match self {
            Self::LastErased(blocks) => blocks.pop(),
            Self::LeastWorn(blocks) => blocks.pop_last().map(|(_, block)| block),
        }
    }

    /// Returns a block that has been erased `erases` times.
    pub fn give(&mut self, block: Block, erases: u32) {
        match self {
            Self::LastErased(blocks) => blocks.push(block),
            Self::LeastWorn(blocks) => {
                blocks.insert((erases, block));
            }
        }
    }
}

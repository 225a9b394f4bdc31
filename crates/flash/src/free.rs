//! The blocks in service, and those of them that are erased: which is used next, which is what
//! dynamic wear levelling decides, and when a worn one is retired.

use std::collections::BTreeSet;

use crate::nand::Nand;
use crate::specification::Levelling;
use crate::units::Block;

/// The erased blocks, and how many blocks are in service.
#[derive(Debug, Clone)]
pub(crate) struct FreeBlocks {
    erased: Erased,
    /// Blocks for data that are not retired, erased or not.
    in_service: u32,
    /// How many of these the drive needs to stay writable.
    needed: u32,
    /// Whether too many blocks are worn out for further writes.
    pub is_worn_out: bool,
}

#[derive(Debug, Clone)]
enum Erased {
    /// The block erased last is used first, as a drive without wear levelling does.
    LastErased(Vec<Block>),
    /// The block erased least often is used first.
    LeastWorn(BTreeSet<(u32, Block)>),
}

impl FreeBlocks {
    /// So many blocks that have never been erased, of which so many are needed.
    pub fn new(levelling: Levelling, in_service: u32, needed: u32) -> Self {
        let blocks = (0..in_service).map(Block);
        let erased = match levelling {
            Levelling::None => Erased::LastErased(blocks.rev().collect()),
            Levelling::Dynamic | Levelling::Static { .. } => {
                Erased::LeastWorn(blocks.map(|block| (0, block)).collect())
            }
        };
        Self { erased, in_service, needed, is_worn_out: false }
    }

    pub fn len(&self) -> usize {
        match &self.erased {
            Erased::LastErased(blocks) => blocks.len(),
            Erased::LeastWorn(blocks) => blocks.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the block to use next.
    pub fn take(&mut self) -> Option<Block> {
        match &mut self.erased {
            Erased::LastErased(blocks) => blocks.pop(),
            Erased::LeastWorn(blocks) => blocks.pop_first().map(|(_, block)| block),
        }
    }

    /// Takes the block that has been erased most often, for cold data.
    pub fn take_most_worn(&mut self) -> Option<Block> {
        match &mut self.erased {
            Erased::LastErased(blocks) => blocks.pop(),
            Erased::LeastWorn(blocks) => blocks.pop_last().map(|(_, block)| block),
        }
    }

    /// Returns a block that has been erased: it becomes free or is retired.
    pub fn give(&mut self, block: Block, nand: &impl Nand) {
        if nand.is_worn(block) {
            if self.in_service > self.needed && !self.is_empty() {
                self.in_service -= 1;
                return;
            }
            // Without it the current command could not be completed.
            self.is_worn_out |= self.in_service <= self.needed;
        }
        match &mut self.erased {
            Erased::LastErased(blocks) => blocks.push(block),
            Erased::LeastWorn(blocks) => {
                blocks.insert((nand.erases(block), block));
            }
        }
    }
}

//! Static wear levelling: when blocks are worn too unevenly, the data of the least worn one in use,
//! which evidently do not change, are moved elsewhere, so that the block is written again.

use std::collections::BTreeSet;

use crate::specification::Levelling;
use crate::units::Block;

/// Watches the erase counts of the blocks that hold data.
#[derive(Debug, Clone)]
pub(crate) struct Leveller {
    /// The most that erase counts may differ; none if data are never moved for wear.
    threshold: Option<u32>,
    in_use: BTreeSet<(u32, Block)>,
    most_erases: u32,
}

impl Leveller {
    pub fn new(levelling: Levelling) -> Self {
        let threshold = match levelling {
            Levelling::Static { threshold } => Some(threshold),
            Levelling::None | Levelling::Dynamic => None,
        };
        Self { threshold, in_use: BTreeSet::new(), most_erases: 0 }
    }

    /// A block now holds data that will not be added to.
    pub fn settled(&mut self, block: Block, erases: u32) {
        if self.threshold.is_some() {
            self.in_use.insert((erases, block));
        }
    }

    /// A block that has been erased `erases` times is about to be erased.
    pub fn erasing(&mut self, block: Block, erases: u32) {
        if self.threshold.is_some() {
            self.in_use.remove(&(erases, block));
            self.most_erases = self.most_erases.max(erases + 1);
        }
    }

    /// The block whose data should move, if the wear has become too uneven.
    pub fn due(&self) -> Option<Block> {
        let threshold = self.threshold?;
        let &(erases, block) = self.in_use.first()?;
        (self.most_erases - erases.min(self.most_erases) > threshold).then_some(block)
    }
}

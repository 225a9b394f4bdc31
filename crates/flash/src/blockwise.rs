//! What block mapping and hybrid mapping have in common: a table of blocks by logical block,
//! which of their pages hold data, free blocks, and their wear.
//!
//! Page `i` of a logical block is page `i` of its data block, so the table needs one entry per
//! block. Changing a page needs a new block, and a merge: see [`Blockwise::replace`].

use crate::counters::OperationReason;
use crate::free::FreeBlocks;
use crate::levelling::Leveller;
use crate::nand::Nand;
use crate::specification::Specification;
use crate::units::{Block, LogicalPage, Nanos, PhysicalPage, count, flip, is_set};

/// The data blocks and the free ones.
#[derive(Debug, Clone)]
pub(crate) struct Blockwise {
    pub pages_per_block: u32,
    pub free: FreeBlocks,
    /// The data block of each logical block.
    data: Vec<Option<Block>>,
    /// The logical block whose data each block holds.
    owner: Vec<u32>,
    /// One bit per logical page: whether it holds data.
    mapped: Vec<u64>,
    mapped_pages: u32,
    /// One bit per logical page: whether its data block holds a version of it, the newest or not.
    /// Pages written since may only be in a log or an open block.
    stored: Vec<u64>,
    leveller: Leveller,
}

impl Blockwise {
    /// A purged drive with `reserve` blocks on top of those for data. It stays writable as long as
    /// there are `needed` blocks besides those that the host's data fill.
    pub fn new(specification: &Specification, reserve: u32, needed: u32) -> Self {
        let pages_per_block = specification.pages_per_block;
        let data = specification.logical_pages.div_ceil(pages_per_block);
        // The last block may be partial on a drive that compresses; it is walked as a whole.
        let words = (data * pages_per_block).div_ceil(u64::BITS) as usize;
        let in_service = specification.blocks + reserve;
        let levelling = specification.wear.levelling;
        Self {
            pages_per_block,
            free: FreeBlocks::new(levelling, in_service, data + needed),
            data: vec![None; data as usize],
            owner: vec![0; in_service as usize],
            mapped: vec![0; words],
            mapped_pages: 0,
            stored: vec![0; words],
            leveller: Leveller::new(levelling),
        }
    }

    /// A page of a logical block.
    pub fn page(&self, logical: u32, offset: u32) -> LogicalPage {
        LogicalPage(logical * self.pages_per_block + offset)
    }

    pub fn data(&self, logical: u32) -> Option<Block> {
        self.data[logical as usize]
    }

    pub fn logical_blocks(&self) -> usize {
        self.data.len()
    }

    pub fn is_mapped(&self, page: LogicalPage) -> bool {
        is_set(&self.mapped, page)
    }

    /// All blocks, in service or not.
    pub fn blocks(&self) -> u32 {
        count(self.owner.len())
    }

    /// Erased blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        count(self.free.len())
    }

    /// The pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        self.mapped_pages
    }

    /// Notes that a page holds data.
    pub fn set_mapped(&mut self, page: LogicalPage) {
        if !self.is_mapped(page) {
            flip(&mut self.mapped, page);
            self.mapped_pages += 1;
        }
    }

    /// Notes that a page holds no data. Returns whether it did.
    pub fn clear_mapped(&mut self, page: LogicalPage) -> bool {
        let was = self.is_mapped(page);
        if was {
            flip(&mut self.mapped, page);
            self.mapped_pages -= 1;
        }
        was
    }

    /// Whether any page of a logical block holds data.
    pub fn holds_data(&self, logical: u32) -> bool {
        (0..self.pages_per_block).any(|offset| self.is_mapped(self.page(logical, offset)))
    }

    /// Makes a block, which holds all pages with data, the data block of a logical block, and
    /// erases the previous one. Returns when that is done.
    pub fn replace<N: Nand>(
        &mut self,
        nand: &mut N,
        logical: u32,
        block: Block,
        earliest: Nanos,
    ) -> Nanos {
        let done = self.release(nand, logical, earliest);
        self.data[logical as usize] = Some(block);
        self.owner[block.index()] = logical;
        self.set_stored(logical, |_| true);
        self.leveller.settled(block, nand.erases(block));
        self.level(nand, done);
        done
    }

    /// Erases the data block of a logical block, if there is one. Returns when that is done.
    pub fn release<N: Nand>(&mut self, nand: &mut N, logical: u32, earliest: Nanos) -> Nanos {
        match self.data[logical as usize].take() {
            Some(old) => self.erase(nand, old, OperationReason::Merge, earliest),
            None => earliest,
        }
    }

    /// Erases a block, which becomes free or is retired.
    pub fn erase<N: Nand>(
        &mut self,
        nand: &mut N,
        block: Block,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        self.leveller.erasing(block, nand.erases(block));
        let done = nand.erase(block, why, earliest);
        self.free.give(block, nand);
        done
    }

    /// Copies those of a logical block's pages that its data block holds to another block. Returns
    /// when the last is safe.
    pub fn copy_rest<N: Nand>(
        &self,
        nand: &mut N,
        logical: u32,
        offsets: std::ops::Range<u32>,
        to: Block,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        let Some(from) = self.data(logical) else { return earliest };
        let mut safe = earliest;
        for offset in offsets {
            let page = self.page(logical, offset);
            if self.is_mapped(page) && is_set(&self.stored, page) {
                let (from, to) =
                    (PhysicalPage { block: from, offset }, PhysicalPage { block: to, offset });
                safe = safe.max(nand.copy(from, to, page, why, earliest));
            }
        }
        safe
    }

    /// Notes which pages a logical block's new data block holds: those with data for which
    /// `is_stored`, given whether the old one held them, is true.
    fn set_stored(&mut self, logical: u32, is_stored: impl Fn(bool) -> bool) {
        for offset in 0..self.pages_per_block {
            let page = self.page(logical, offset);
            let was = is_set(&self.stored, page);
            if was != (self.is_mapped(page) && is_stored(was)) {
                flip(&mut self.stored, page);
            }
        }
    }

    /// Whether too many blocks are worn out for further writes.
    pub fn is_worn_out(&self) -> bool {
        self.free.is_worn_out
    }

    /// Moves the data of the least worn block, if wear has become too uneven.
    fn level<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) {
        // The last free block belongs to the next merge.
        if self.free.len() < 2 {
            return;
        }
        let Some(cold) = self.leveller.due() else { return };
        let Some(target) = self.free.take_most_worn() else { return };
        let logical = self.owner[cold.index()];
        let all = 0..self.pages_per_block;
        let safe = self.copy_rest(nand, logical, all, target, OperationReason::Levelling, earliest);
        self.set_stored(logical, |was_stored| was_stored);
        self.data[logical as usize] = Some(target);
        self.owner[target.index()] = logical;
        self.leveller.settled(target, nand.erases(target));
        self.erase(nand, cold, OperationReason::Levelling, safe);
    }

    /// The bytes it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.data[..])
            + size_of_val(&self.owner[..])
            + 2 * size_of_val(&self.mapped[..])
    }
}

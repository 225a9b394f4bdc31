//! Block mapping: a table of whole blocks. Pages can only be appended to a block, so writing a page
//! out of order copies all others of its block to a new one.
//!
//! A drive has a few blocks open for appending: early drives one, flash cards a few allocation
//! units (A. Bergmann, "Optimizing Linux with cheap flash drives", LWN 2011). When another block is
//! to be opened, one is closed, and its missing pages are copied from its old version.

use std::collections::VecDeque;

use crate::blockwise::Blockwise;
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::specification::Specification;
use crate::units::{Block, LogicalPage, Nanos, PageRun, PhysicalPage};

/// A block-mapped drive's state.
#[derive(Debug, Clone)]
pub(crate) struct BlockMapped {
    pub blocks: Blockwise,
    /// In the order they were opened.
    open: VecDeque<Open>,
    open_blocks: usize,
}

/// A block that takes the pages of a logical block in ascending order.
#[derive(Debug, Clone, Copy)]
struct Open {
    logical: u32,
    block: Block,
    /// The next page that can be appended.
    next: u32,
}

impl BlockMapped {
    /// A purged drive.
    pub fn new(specification: &Specification, open_blocks: u32) -> Self {
        Self {
            blocks: Blockwise::new(specification, open_blocks, open_blocks),
            open: VecDeque::new(),
            open_blocks: open_blocks as usize,
        }
    }

    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(&mut self, nand: &mut N, run: PageRun, earliest: Nanos) -> Nanos {
        let mut safe = earliest;
        for part in run.split(self.blocks.pages_per_block) {
            let logical = part.stretch;
            let found = self.open.iter().position(|open| open.logical == logical);
            let index = match found {
                Some(index) if self.open[index].next == part.offset => index,
                Some(index) => {
                    self.close(nand, index, earliest);
                    self.open(nand, logical, part.offset, earliest)
                }
                None => self.open(nand, logical, part.offset, earliest),
            };
            let block = self.open[index].block;
            for offset in part.offset..part.offset + part.count {
                let page = self.blocks.page(logical, offset);
                let place = PhysicalPage { block, offset };
                safe = safe.max(nand.program(place, page, OperationReason::Host, earliest));
                self.blocks.set_mapped(page);
            }
            self.open[index].next += part.count;
            if self.open[index].next == self.blocks.pages_per_block {
                self.close(nand, index, safe);
            }
        }
        safe
    }

    /// Forgets pages. Returns how many held data.
    pub fn trim<N: Nand>(&mut self, nand: &mut N, run: PageRun, earliest: Nanos) -> u32 {
        let mut held = 0;
        for part in run.split(self.blocks.pages_per_block) {
            for offset in part.offset..part.offset + part.count {
                held += u32::from(self.blocks.clear_mapped(self.blocks.page(part.stretch, offset)));
            }
            if !self.blocks.holds_data(part.stretch) {
                if let Some(at) = self.open.iter().position(|open| open.logical == part.stretch) {
                    let open = self.open.remove(at).expect("its place was just found");
                    self.blocks.erase(nand, open.block, OperationReason::Merge, earliest);
                }
                self.blocks.release(nand, part.stretch, earliest);
            }
        }
        held
    }

    /// Where a page is.
    pub fn locate(&self, page: LogicalPage) -> Option<PhysicalPage> {
        if !self.blocks.is_mapped(page) {
            return None;
        }
        let (logical, offset) =
            (page.0 / self.blocks.pages_per_block, page.0 % self.blocks.pages_per_block);
        let newer = self.open.iter().find(|open| open.logical == logical && offset < open.next);
        let block = newer.map(|open| open.block).or_else(|| self.blocks.data(logical))?;
        Some(PhysicalPage { block, offset })
    }

    /// Opens a block for appending from `offset` on. Returns its index.
    fn open<N: Nand>(&mut self, nand: &mut N, logical: u32, offset: u32, earliest: Nanos) -> usize {
        if self.open.len() == self.open_blocks {
            self.close(nand, 0, earliest);
        }
        let block = self.blocks.free.take().expect("there is a free block for each open one");
        self.blocks.copy_rest(nand, logical, 0..offset, block, OperationReason::Merge, earliest);
        self.open.push_back(Open { logical, block, next: offset });
        self.open.len() - 1
    }

    /// Completes an open block, which replaces the logical block's old one.
    fn close<N: Nand>(&mut self, nand: &mut N, index: usize, earliest: Nanos) {
        let Some(Open { logical, block, next }) = self.open.remove(index) else { return };
        let rest = next..self.blocks.pages_per_block;
        let safe =
            self.blocks.copy_rest(nand, logical, rest, block, OperationReason::Merge, earliest);
        self.blocks.replace(nand, logical, block, safe);
    }
}

//! BAST: block mapping with a few log blocks, each for one logical block (Kim et al., "A
//! space-efficient flash translation layer for compactflash systems", 2002).
//!
//! A page that changes goes to the next page of its block's log. When the log is full, or its
//! place is needed for another block, the newest version of every page is merged into a new data
//! block: that erases the old one and the log. A log that was filled in order simply becomes the
//! data block.

use std::collections::VecDeque;

use crate::blockwise::Blockwise;
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::specification::Specification;
use crate::units::{Block, LogicalPage, Nanos, PageRun, PhysicalPage, count};

/// Blocks beyond data and logs: the target of a merge.
const RESERVE: u32 = 1;
const NONE: u32 = u32::MAX;

/// A BAST drive's state.
#[derive(Debug, Clone)]
pub(crate) struct Bast {
    pub blocks: Blockwise,
    log_blocks: usize,
    /// The log of each logical block, as an index into `logs`.
    log_of: Vec<u32>,
    logs: Vec<Log>,
    /// Open logs, in the order they were opened, and unused ones.
    opened: VecDeque<u32>,
    unused: Vec<u32>,
}

/// The log of a logical block.
#[derive(Debug, Clone)]
struct Log {
    logical: u32,
    block: Block,
    next: u32,
    /// Where in the log the newest version of each page is.
    newest: Vec<u32>,
}

impl Log {
    fn is_in_order(&self) -> bool {
        self.newest.iter().zip(0..).all(|(at, offset)| *at == offset)
    }
}

impl Bast {
    /// A purged drive.
    pub fn new(specification: &Specification, log_blocks: u32) -> Self {
        let blocks = Blockwise::new(specification, RESERVE, log_blocks + RESERVE);
        Self {
            log_of: vec![NONE; blocks.logical_blocks()],
            blocks,
            log_blocks: log_blocks as usize,
            logs: Vec::new(),
            opened: VecDeque::new(),
            unused: Vec::new(),
        }
    }

    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(&mut self, nand: &mut N, run: PageRun, earliest: Nanos) -> Nanos {
        let mut safe = earliest;
        for part in run.split(self.blocks.pages_per_block) {
            for offset in part.offset..part.offset + part.count {
                let page = self.blocks.page(part.stretch, offset);
                let log = self.log(nand, part.stretch, earliest);
                let place = PhysicalPage { block: log.block, offset: log.next };
                log.newest[offset as usize] = log.next;
                log.next += 1;
                let is_complete = log.next as usize == log.newest.len() && log.is_in_order();
                safe = safe.max(nand.program(place, page, OperationReason::Host, earliest));
                self.blocks.set_mapped(page);
                if is_complete {
                    self.merge(nand, self.log_of[part.stretch as usize], safe);
                }
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
                let log = self.log_of[part.stretch as usize];
                if log != NONE {
                    let block = self.close(log);
                    self.blocks.erase(nand, block, OperationReason::Merge, earliest);
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
        let log = self.logs.get(self.log_of[logical as usize] as usize);
        match log.map(|log| (log.block, log.newest[offset as usize])) {
            Some((block, at)) if at != NONE => Some(PhysicalPage { block, offset: at }),
            _ => self.blocks.data(logical).map(|block| PhysicalPage { block, offset }),
        }
    }

    /// The log of a logical block, with room for a page.
    fn log<N: Nand>(&mut self, nand: &mut N, logical: u32, earliest: Nanos) -> &mut Log {
        let log = self.log_of[logical as usize];
        if log != NONE && self.logs[log as usize].next == self.blocks.pages_per_block {
            self.merge(nand, log, earliest);
        }
        if self.log_of[logical as usize] == NONE {
            if self.opened.len() == self.log_blocks {
                self.merge(nand, self.opened[0], earliest);
            }
            self.open(logical);
        }
        &mut self.logs[self.log_of[logical as usize] as usize]
    }

    fn open(&mut self, logical: u32) {
        let block = self.blocks.free.take().expect("there is a block for each log");
        let newest = vec![NONE; self.blocks.pages_per_block as usize];
        let log = Log { logical, block, next: 0, newest };
        let index = if let Some(index) = self.unused.pop() {
            self.logs[index as usize] = log;
            index
        } else {
            self.logs.push(log);
            count(self.logs.len()) - 1
        };
        self.log_of[logical as usize] = index;
        self.opened.push_back(index);
    }

    /// Takes a log out of use. Returns its block.
    fn close(&mut self, log: u32) -> Block {
        // Usually the first: the oldest is merged first.
        let at = self.opened.iter().position(|opened| *opened == log);
        self.opened.remove(at.expect("a log in use has been opened"));
        self.unused.push(log);
        let Log { logical, block, .. } = self.logs[log as usize];
        self.log_of[logical as usize] = NONE;
        block
    }

    /// Merges the newest pages of a log's logical block into a new block.
    fn merge<N: Nand>(&mut self, nand: &mut N, log: u32, earliest: Nanos) {
        let logical = self.logs[log as usize].logical;
        if self.logs[log as usize].is_in_order() {
            let block = self.close(log);
            self.blocks.replace(nand, logical, block, earliest);
            return;
        }
        let target = self.blocks.free.take().expect("the reserve is never used up");
        let mut safe = earliest;
        for offset in 0..self.blocks.pages_per_block {
            let page = self.blocks.page(logical, offset);
            if let Some(from) = self.locate(page) {
                let to = PhysicalPage { block: target, offset };
                safe = safe.max(nand.copy(from, to, page, OperationReason::Merge, earliest));
            }
        }
        let block = self.close(log);
        let erased = self.blocks.erase(nand, block, OperationReason::Merge, safe);
        self.blocks.replace(nand, logical, target, erased);
    }
}

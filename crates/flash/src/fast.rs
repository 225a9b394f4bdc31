//! FAST: block mapping with log blocks that all logical blocks share (Lee et al., "A log
//! buffer-based flash translation layer using fully-associative sector translation", 2007).
//!
//! Changed pages go to the log one after another. When it is full, its oldest block is reclaimed:
//! every logical block with a valid page there has its newest pages merged into a new data block,
//! wherever in the log they are. One more log block takes a sequential stream, which begins at a
//! block's first page; when complete, it simply becomes the data block.

use std::collections::VecDeque;

use crate::blockwise::Blockwise;
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::specification::Specification;
use crate::units::{Block, LogicalPage, Nanos, PageRun, Part, PhysicalPage, count};

/// Blocks beyond data and log: the sequential log, the target of a merge, and the block being
/// reclaimed.
const RESERVE: u32 = 3;
const NONE: u32 = u32::MAX;

/// A FAST drive's state.
#[derive(Debug, Clone)]
pub(crate) struct Fast {
    pub blocks: Blockwise,
    log_blocks: usize,
    /// Where in the log each logical page is: `block * pages_per_block + offset`.
    log_map: Vec<u32>,
    /// The log's blocks, the oldest in front; the last is being filled.
    log: VecDeque<LogBlock>,
    sequential: Option<Sequential>,
}

#[derive(Debug, Clone)]
struct LogBlock {
    block: Block,
    holds: Vec<LogicalPage>,
}

/// The log block of a sequential stream.
#[derive(Debug, Clone, Copy)]
struct Sequential {
    logical: u32,
    block: Block,
    next: u32,
    /// The pages written to the log since the stream last continued.
    idle: u32,
}

impl Fast {
    /// A purged drive.
    pub fn new(specification: &Specification, log_blocks: u32) -> Self {
        Self {
            blocks: Blockwise::new(specification, RESERVE, log_blocks + RESERVE),
            log_blocks: log_blocks as usize,
            log_map: vec![NONE; specification.logical_pages as usize],
            log: VecDeque::new(),
            sequential: None,
        }
    }

    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(&mut self, nand: &mut N, run: PageRun, earliest: Nanos) -> Nanos {
        let mut safe = earliest;
        for part in run.split(self.blocks.pages_per_block) {
            let done = if self.is_sequential(part) {
                self.append(nand, part, earliest)
            } else {
                self.log(nand, part, earliest)
            };
            safe = safe.max(done);
        }
        safe
    }

    /// Forgets pages. Returns how many held data.
    pub fn trim<N: Nand>(&mut self, nand: &mut N, run: PageRun, earliest: Nanos) -> u32 {
        let mut held = 0;
        for part in run.split(self.blocks.pages_per_block) {
            for offset in part.offset..part.offset + part.count {
                let page = self.blocks.page(part.stretch, offset);
                held += u32::from(self.blocks.clear_mapped(page));
                self.log_map[page.0 as usize] = NONE;
            }
            let is_streaming = self.sequential.is_some_and(|s| s.logical == part.stretch);
            if !is_streaming && !self.blocks.holds_data(part.stretch) {
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
        let pages_per_block = self.blocks.pages_per_block;
        let (logical, offset) = (page.0 / pages_per_block, page.0 % pages_per_block);
        let logged = self.log_map[page.0 as usize];
        if logged != NONE {
            let block = Block(logged / pages_per_block);
            return Some(PhysicalPage { block, offset: logged % pages_per_block });
        }
        let newer = self.sequential.filter(|s| s.logical == logical && offset < s.next);
        let block = newer.map(|s| s.block).or_else(|| self.blocks.data(logical))?;
        Some(PhysicalPage { block, offset })
    }

    /// The bytes it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        self.blocks.memory_bytes() + size_of_val(&self.log_map[..])
    }

    /// Whether pages belong to a sequential stream: they continue it, or they begin a block and are
    /// several pages or no other stream is open.
    fn is_sequential(&self, part: Part) -> bool {
        match self.sequential {
            Some(s) if s.logical == part.stretch && s.next == part.offset => true,
            Some(_) => part.offset == 0 && part.count > 1,
            None => part.offset == 0,
        }
    }

    /// Writes pages to the sequential log.
    fn append<N: Nand>(&mut self, nand: &mut N, part: Part, earliest: Nanos) -> Nanos {
        let goes_on =
            self.sequential.is_some_and(|s| s.logical == part.stretch && s.next == part.offset);
        if !goes_on {
            self.end_stream(nand, earliest);
            let block = self.blocks.free.take().expect("the reserve is never used up");
            self.sequential = Some(Sequential { logical: part.stretch, block, next: 0, idle: 0 });
        }
        let Some(mut stream) = self.sequential else { return earliest };
        let mut safe = earliest;
        for offset in part.offset..part.offset + part.count {
            let page = self.blocks.page(part.stretch, offset);
            let place = PhysicalPage { block: stream.block, offset };
            safe = safe.max(nand.program(place, page, OperationReason::Host, earliest));
            self.blocks.set_mapped(page);
            self.log_map[page.0 as usize] = NONE;
        }
        stream.next += part.count;
        stream.idle = 0;
        self.sequential = Some(stream);
        if stream.next == self.blocks.pages_per_block {
            self.end_stream(nand, safe);
        }
        safe
    }

    /// Completes the sequential log's block, which replaces the old data block.
    fn end_stream<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) {
        let Some(stream) = self.sequential else { return };
        let mut safe = earliest;
        for offset in stream.next..self.blocks.pages_per_block {
            let page = self.blocks.page(stream.logical, offset);
            if let Some(from) = self.locate(page) {
                let to = PhysicalPage { block: stream.block, offset };
                safe = safe.max(nand.copy(from, to, page, OperationReason::Merge, earliest));
                self.log_map[page.0 as usize] = NONE;
            }
        }
        self.sequential = None;
        self.blocks.replace(nand, stream.logical, stream.block, safe);
    }

    /// Writes pages to the log.
    fn log<N: Nand>(&mut self, nand: &mut N, part: Part, earliest: Nanos) -> Nanos {
        let pages_per_block = self.blocks.pages_per_block;
        let mut safe = earliest;
        for offset in part.offset..part.offset + part.count {
            if self.log.back().is_none_or(|last| last.holds.len() == pages_per_block as usize) {
                self.extend_log(nand, earliest);
            }
            let last = self.log.back_mut().expect("the log has just been extended");
            let page = LogicalPage(part.stretch * pages_per_block + offset);
            let place = PhysicalPage { block: last.block, offset: count(last.holds.len()) };
            last.holds.push(page);
            self.log_map[page.0 as usize] = place.block.0 * pages_per_block + place.offset;
            self.blocks.set_mapped(page);
            safe = safe.max(nand.program(place, page, OperationReason::Host, earliest));
        }
        self.wait_for_stream(nand, part.count, safe);
        safe
    }

    /// Ends a stream that has not continued while the log was overwritten once.
    fn wait_for_stream<N: Nand>(&mut self, nand: &mut N, pages: u32, earliest: Nanos) {
        let Some(stream) = &mut self.sequential else { return };
        stream.idle = stream.idle.saturating_add(pages);
        let turn = self.log_blocks * self.blocks.pages_per_block as usize;
        if stream.idle as usize > turn {
            self.end_stream(nand, earliest);
        }
    }

    /// Adds a block to the log, after reclaiming the oldest if there are too many.
    fn extend_log<N: Nand>(&mut self, nand: &mut N, earliest: Nanos) {
        if self.log.len() == self.log_blocks
            && let Some(oldest) = self.log.pop_front()
        {
            let mut safe = earliest;
            for (page, offset) in oldest.holds.iter().zip(0..) {
                let place = PhysicalPage { block: oldest.block, offset };
                if self.locate(*page) == Some(place) {
                    safe = self.merge(nand, page.0 / self.blocks.pages_per_block, safe);
                }
            }
            self.blocks.erase(nand, oldest.block, OperationReason::Merge, safe);
        }
        let block = self.blocks.free.take().expect("there is a block for each log");
        let holds = Vec::with_capacity(self.blocks.pages_per_block as usize);
        self.log.push_back(LogBlock { block, holds });
    }

    /// Merges the newest pages of a logical block into a new block. Returns when they are safe.
    fn merge<N: Nand>(&mut self, nand: &mut N, logical: u32, earliest: Nanos) -> Nanos {
        let target = self.blocks.free.take().expect("the reserve is never used up");
        let mut safe = earliest;
        for offset in 0..self.blocks.pages_per_block {
            let page = self.blocks.page(logical, offset);
            if let Some(from) = self.locate(page) {
                let to = PhysicalPage { block: target, offset };
                safe = safe.max(nand.copy(from, to, page, OperationReason::Merge, earliest));
                self.log_map[page.0 as usize] = NONE;
            }
        }
        let done = self.blocks.replace(nand, logical, target, safe);
        // A stream's pages were merged too, so its block is no longer needed.
        match self.sequential.take_if(|stream| stream.logical == logical) {
            Some(stream) => self.blocks.erase(nand, stream.block, OperationReason::Merge, done),
            None => done,
        }
    }
}

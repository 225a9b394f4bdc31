//! The state of a page-mapped drive, and how pages are placed and invalidated.

use super::blocks::{BlockRecord, BlockState};
use super::emptying::{Emptying, PageMove, STEP};
use super::pools::{BlockPools, Frontier};
use super::slc::Slc;
use crate::counters::OperationReason;
use crate::free::FreeBlocks;
use crate::levelling::Leveller;
use crate::nand::Nand;
use crate::prefetch::prefetch;
use crate::sparse::{self, Sparse};
use crate::specification::{Frontiers, Specification, VictimPolicy};
use crate::units::{Block, LogicalPage, Nanos, PageRun, PhysicalPage, count};

/// Blocks that are kept free for the collector to work with: one for the host, one for copies, and
/// one in case the collected block turns out to be worn.
pub(super) const RESERVE: u32 = 3;

/// A page-mapped drive's state.
#[derive(Debug, Clone)]
pub(crate) struct PageMapped {
    pub(super) pages_per_block: u32,
    /// Where each logical page is, as [`PageMapped::entry`] has it; 0 if it holds no data.
    pub(super) map: Sparse,
    /// What each page of flash holds or held, if it was ever written.
    pub(super) reverse: Sparse,
    pub(super) blocks: Vec<BlockRecord>,
    pub(super) pools: BlockPools,
    pub(super) frontiers: Vec<Frontier>,
    pub(super) free: FreeBlocks,
    pub(super) leveller: Leveller,
    pub(super) slc: Option<Slc>,
    pub(super) collecting: Option<Emptying>,
    /// How many pages of a block are emptied together.
    pub(super) step: u32,
    /// The pages of the block being collected; kept to reuse its memory.
    pub(super) moving: Vec<PageMove>,
}

impl PageMapped {
    /// The blocks that such a drive needs in total, besides its SLC cache.
    pub fn blocks_needed(usable: u32, frontiers: Frontiers) -> u32 {
        usable + RESERVE + frontiers.count() - 1
    }

    /// A purged drive.
    pub fn new(
        specification: &Specification,
        collection: VictimPolicy,
        frontiers: Frontiers,
        seed: u64,
    ) -> Self {
        let pages_per_block = specification.pages_per_block;
        let in_service = Self::blocks_needed(specification.blocks, frontiers);
        let blocks = in_service + specification.slc_cache.map_or(0, |cache| cache.blocks);
        // With fewer, data do not fit, or collection gains no space.
        let fewest = Self::blocks_needed(
            specification.logical_pages.div_ceil(pages_per_block) + 1,
            frontiers,
        );
        let levelling = specification.wear.levelling;
        let mut open = vec![Frontier::closed(); frontiers.count() as usize];
        let slc = specification.slc_cache.map(|cache| {
            open.push(Frontier::closed());
            Slc::new(cache, Block(in_service), open.len() - 1)
        });
        Self {
            pages_per_block,
            map: Sparse::new(specification.logical_pages as usize),
            reverse: Sparse::new(blocks as usize * pages_per_block as usize),
            blocks: vec![BlockRecord::IDLE; blocks as usize],
            pools: BlockPools::new(frontiers, collection, in_service, pages_per_block, seed),
            frontiers: open,
            free: FreeBlocks::new(levelling, in_service, fewest),
            leveller: Leveller::new(levelling),
            slc,
            collecting: None,
            // On a drive without times nobody waits.
            step: specification.timing.map_or(pages_per_block, |_| STEP),
            moving: Vec::new(),
        }
    }

    /// Forgets pages. Returns how many held data. Stretches that never held any take no time.
    pub fn trim(&mut self, run: PageRun) -> u32 {
        let mut held = 0;
        for part in run.split(sparse::PART) {
            if self.map.is_written(part.stretch) {
                let first = LogicalPage(part.stretch * sparse::PART + part.offset);
                let pages = PageRun { first, count: part.count }.pages();
                held += pages.map(|page| u32::from(self.forget(page))).sum::<u32>();
            }
        }
        held
    }

    /// Where a page is.
    pub fn locate(&self, page: LogicalPage) -> Option<PhysicalPage> {
        self.map[page.0 as usize].checked_sub(1).map(|flat| self.place(flat))
    }

    /// The pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        self.pools.valid_pages() + self.slc.as_ref().map_or(0, |slc| slc.valid)
    }

    /// Erased blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        count(self.free.len())
    }

    /// Erased blocks of the SLC cache, if there is one.
    pub fn free_slc_blocks(&self) -> Option<u32> {
        self.slc.as_ref().map(Slc::free_blocks)
    }

    /// Whether the SLC cache was full since [`PageMapped::forget_filled_slc`].
    pub fn has_filled_slc(&self) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.was_full)
    }

    /// Forgets whether the SLC cache was full.
    pub fn forget_filled_slc(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.was_full = false;
        }
    }

    /// All blocks for data.
    pub fn blocks(&self) -> u32 {
        count(self.blocks.len()) - self.slc.as_ref().map_or(0, Slc::blocks)
    }

    /// Whether too many blocks are worn out for further writes.
    pub fn is_worn_out(&self) -> bool {
        self.free.is_worn_out
    }

    /// Prefetches what writing the `next` pages will need, whose map entries are already cached,
    /// and the map entries of the pages `after` them. Changes nothing.
    pub fn expect(&self, next: &[LogicalPage], after: &[LogicalPage]) {
        for page in after {
            self.map.prefetch(page.0 as usize);
        }
        for page in next {
            if let Some(place) = self.locate(*page) {
                prefetch(&self.blocks, place.block.index());
            }
        }
    }

    /// The bytes it takes in memory at most.
    pub fn memory_bytes(&self) -> usize {
        self.map.most_bytes() + self.reverse.most_bytes() + size_of_val(&self.blocks[..])
    }

    /// The entry of the map for a page of flash, counted over all blocks.
    pub(super) const fn entry(flat: u32) -> u32 {
        flat + 1
    }

    pub(super) fn place(&self, flat: u32) -> PhysicalPage {
        let block = Block(flat / self.pages_per_block);
        PhysicalPage { block, offset: flat % self.pages_per_block }
    }

    /// Invalidates a page's place. Returns whether it had one.
    #[inline]
    pub(super) fn forget(&mut self, page: LogicalPage) -> bool {
        let Some(flat) = self.map.take(page.0 as usize).checked_sub(1) else { return false };
        let place = self.place(flat);
        let record = &mut self.blocks[place.block.index()];
        record.valid -= 1;
        let record = *record;
        match &mut self.slc {
            Some(slc) if slc.owns(place.block) => slc.valid -= 1,
            _ => {
                let pool = &mut self.pools[record.pool];
                pool.valid -= 1;
                if record.state == BlockState::Closed {
                    pool.victims.lowered(&mut self.blocks, place.block);
                }
            }
        }
        true
    }

    /// Puts pages next to each other, starting at a free place.
    #[inline]
    pub(super) fn put(
        &mut self,
        first: PhysicalPage,
        pages: impl ExactSizeIterator<Item = LogicalPage>,
    ) {
        let added = count(pages.len());
        let flat = first.block.0 * self.pages_per_block + first.offset;
        let held = self.reverse.of_mut(flat as usize..(flat + added) as usize);
        for ((page, held), flat) in pages.zip(held).zip(flat..) {
            self.map.set(page.0 as usize, Self::entry(flat));
            *held = page.0;
        }
        self.blocks[first.block.index()].valid += added;
        match &mut self.slc {
            Some(slc) if slc.owns(first.block) => slc.valid += added,
            _ => {
                let pool = self.blocks[first.block.index()].pool;
                self.pools[pool].valid += added;
            }
        }
    }

    /// Puts pages that have been read next to each other. Returns when they are safe.
    pub(super) fn put_moving_at<N: Nand>(
        &mut self,
        nand: &mut N,
        first: PhysicalPage,
        moving: &[PageMove],
        why: OperationReason,
    ) -> Nanos {
        self.put(first, moving.iter().map(|moving| moving.page));
        let mut safe = Nanos::ZERO;
        for (PageMove { page, read, .. }, offset) in moving.iter().zip(first.offset..) {
            let place = PhysicalPage { block: first.block, offset };
            safe = safe.max(nand.program(place, *page, why, *read));
        }
        safe
    }
}

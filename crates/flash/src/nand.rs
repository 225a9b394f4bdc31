//! The flash: the operations of a translation layer, and their costs in time and wear.
//!
//! The trait [`Nand`] is here so that the layers decide only *where* data go. [`FlashArray`] knows
//! what an operation costs; a test's own flash can check the rules of NAND: pages of a block are
//! programmed in ascending order, each once between two erases.

use crate::counters::{FlashCounters, OperationReason};
use crate::dies::Dies;
use crate::specification::Specification;
use crate::units::{Block, LogicalPage, Nanos, PageRun, PhysicalPage};

/// Flash memory: the array itself, or what a test puts between a drive and the array to watch
/// operations.
pub trait Nand: AsRef<FlashArray> + AsMut<FlashArray> {
    /// Reads a page, not before `earliest`. Returns when the data have left the flash.
    fn read(&mut self, place: PhysicalPage, why: OperationReason, earliest: Nanos) -> Nanos;

    /// Programs an erased page with the contents of a logical page, not before `earliest`.
    /// Returns when the page is safe.
    fn program(
        &mut self,
        place: PhysicalPage,
        holds: LogicalPage,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos;

    /// Programs erased pages, from `first` on, with the contents of a run, not before `earliest`.
    /// Returns when the last is safe.
    fn program_run(
        &mut self,
        first: PhysicalPage,
        holds: PageRun,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos
    where
        Self: Sized,
    {
        program_each(self, first, holds, why, earliest)
    }

    /// Erases a block, not before `earliest`. Returns when its pages can be programmed.
    fn erase(&mut self, block: Block, why: OperationReason, earliest: Nanos) -> Nanos;

    /// How often a block has been erased, for comparison with others.
    fn erases(&self, block: Block) -> u32 {
        self.as_ref().erases_of(block)
    }

    /// Whether a block has been erased as often as it may.
    fn is_worn(&self, block: Block) -> bool {
        self.as_ref().is_worn_out(block)
    }

    /// Copies a page, with its contents unchanged.
    fn copy(
        &mut self,
        from: PhysicalPage,
        to: PhysicalPage,
        holds: LogicalPage,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        let read = self.read(from, why, earliest);
        self.program(to, holds, why, read)
    }
}

fn program_each<N: Nand>(
    nand: &mut N,
    first: PhysicalPage,
    holds: PageRun,
    why: OperationReason,
    earliest: Nanos,
) -> Nanos {
    holds.pages().zip(first.offset..).fold(earliest, |safe, (page, offset)| {
        let place = PhysicalPage { block: first.block, offset };
        safe.max(nand.program(place, page, why, earliest))
    })
}

/// Dies, their timing and their wear.
#[derive(Debug, Clone)]
pub struct FlashArray {
    counters: FlashCounters,
    erases: Vec<u32>,
    /// Further erases of every block, from a life that was not simulated.
    aged: u32,
    endurance: u32,
    /// Blocks from here on are the SLC cache.
    first_slc: Block,
    dies: Option<Dies>,
    /// The dies, while the drive's time is paused.
    paused: Option<Dies>,
}

impl FlashArray {
    /// New flash, with `blocks` blocks for data before those of the SLC cache.
    pub fn new(specification: &Specification, blocks: u32) -> Self {
        let slc = specification.slc_cache;
        Self {
            counters: FlashCounters::default(),
            erases: vec![0; (blocks + slc.map_or(0, |slc| slc.blocks)) as usize],
            aged: 0,
            endurance: specification.wear.endurance.unwrap_or(u32::MAX),
            first_slc: Block(blocks),
            dies: specification.timing.map(|timing| Dies::new(specification, timing)),
            paused: None,
        }
    }

    /// Its operations since [`FlashArray::reset_counters`].
    pub const fn counters(&self) -> &FlashCounters {
        &self.counters
    }

    /// Counts from 0 again; wear stays.
    pub fn reset_counters(&mut self) {
        self.counters = FlashCounters::default();
    }

    /// How often each block for data has been erased, without what `Array::age_to` has added.
    pub fn erases(&self) -> &[u32] {
        &self.erases[..self.first_slc.index()]
    }

    /// How often a block has been erased, without what `Array::age_to` has added to all.
    pub fn erases_of(&self, block: Block) -> u32 {
        self.erases[block.index()]
    }

    /// Whether a block has been erased as often as it may. Blocks of the SLC cache do not wear out.
    pub fn is_worn_out(&self, block: Block) -> bool {
        let erases = self.erases[block.index()].saturating_add(self.aged);
        block < self.first_slc && erases >= self.endurance
    }

    /// Ages every block equally, up to a mean number of erases.
    pub(crate) fn age_to(&mut self, mean: u32) {
        let (erases, blocks) = (self.erases(), self.first_slc.0.max(1));
        let total: u64 = erases.iter().map(|erases| u64::from(*erases)).sum();
        let by_now = u64::from(self.aged) + total.div_ceil(blocks.into());
        let missing = u64::from(mean).saturating_sub(by_now);
        self.aged = self.aged.saturating_add(u32::try_from(missing).unwrap_or(u32::MAX));
    }

    /// Erases that every block has besides [`FlashArray::erases`].
    pub(crate) const fn aged(&self) -> u32 {
        self.aged
    }

    /// The bytes it takes in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&self.erases[..])
    }

    /// Lets operations take no time until [`FlashArray::resume_time`].
    pub(crate) fn pause_time(&mut self) {
        self.paused = self.dies.take();
    }

    /// Lets operations take time again; all dies are idle.
    pub(crate) fn resume_time(&mut self) {
        self.dies = self.paused.take();
    }

    /// A command begins: channels and controller do no work before.
    pub(crate) fn begin(&mut self, now: Nanos) {
        if let Some(dies) = &mut self.dies {
            dies.now = now;
        }
    }

    /// Keeps the controller busy. Returns until when.
    pub(crate) fn occupy_controller(&mut self, time: Nanos) -> Nanos {
        match &mut self.dies {
            Some(dies) => dies.occupy_controller(time),
            None => Nanos::ZERO,
        }
    }

    /// When the last operation so far will have ended.
    pub(crate) fn busy_until(&self) -> Nanos {
        self.dies.as_ref().map_or(Nanos::ZERO, |dies| dies.busy_until)
    }

    /// Makes all dies idle from now on, as after a power cut.
    pub(crate) fn forget_time(&mut self) {
        if let Some(dies) = &mut self.dies {
            dies.forget_time();
        }
    }

    /// Reads a page of the map, which is on a die determined by its number.
    pub(crate) fn read_map(&mut self, map_page: u32, earliest: Nanos) -> Nanos {
        self.counters.reads.add(OperationReason::Map);
        match &mut self.dies {
            Some(dies) => {
                dies.read(dies.unit_of_map(map_page), dies.cell, OperationReason::Map, earliest).0
            }
            None => earliest,
        }
    }

    pub(crate) fn program_map(&mut self, map_page: u32, earliest: Nanos) -> Nanos {
        self.counters.programs.add(OperationReason::Map);
        match &mut self.dies {
            Some(dies) => {
                dies.program(dies.unit_of_map(map_page), dies.cell, OperationReason::Map, earliest)
                    .0
            }
            None => earliest,
        }
    }
}

impl Nand for FlashArray {
    #[inline]
    fn read(&mut self, place: PhysicalPage, why: OperationReason, earliest: Nanos) -> Nanos {
        self.counters.reads.add(why);
        match &mut self.dies {
            Some(dies) => {
                let cell = dies.cell_of(place.block, self.first_slc);
                let (done, stalled) = dies.read(dies.unit(place), cell, why, earliest);
                self.counters.stalled += stalled;
                done
            }
            None => earliest,
        }
    }

    #[inline]
    fn program(
        &mut self,
        place: PhysicalPage,
        _: LogicalPage,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        self.counters.programs.add(why);
        match &mut self.dies {
            Some(dies) => {
                let cell = dies.cell_of(place.block, self.first_slc);
                let (done, stalled) = dies.program(dies.unit(place), cell, why, earliest);
                self.counters.stalled += stalled;
                done
            }
            None => earliest,
        }
    }

    #[inline]
    fn program_run(
        &mut self,
        first: PhysicalPage,
        holds: PageRun,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        if self.dies.is_some() {
            return program_each(self, first, holds, why, earliest);
        }
        self.counters.programs.add_all(why, holds.count);
        earliest
    }

    fn erase(&mut self, block: Block, why: OperationReason, earliest: Nanos) -> Nanos {
        self.counters.erases.add(why);
        self.erases[block.index()] += 1;
        match &mut self.dies {
            Some(dies) => dies.erase(block, earliest),
            None => earliest,
        }
    }
}

impl AsRef<Self> for FlashArray {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl AsMut<Self> for FlashArray {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

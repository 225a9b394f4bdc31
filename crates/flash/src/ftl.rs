//! The flash translation layer (FTL) of a drive: one of four mapping schemes.

use crate::bast::Bast;
use crate::block_mapped::BlockMapped;
use crate::blockwise::Blockwise;
use crate::command::Stream;
use crate::fast::Fast;
use crate::nand::Nand;
use crate::page_mapped::PageMapped;
use crate::specification::{Mapping, Specification};
use crate::units::{LogicalPage, Nanos, PageRun, PhysicalPage};

/// A flash translation layer.
#[expect(clippy::large_enum_variant, reason = "a drive has one of them")]
#[derive(Debug, Clone)]
pub(crate) enum Ftl {
    Page(PageMapped),
    Block(BlockMapped),
    Bast(Bast),
    Fast(Fast),
}

impl Ftl {
    /// The FTL of a purged drive.
    pub fn new(specification: &Specification, seed: u64) -> Self {
        match specification.mapping {
            Mapping::Page { collection, frontiers } => {
                Self::Page(PageMapped::new(specification, collection, frontiers, seed))
            }
            Mapping::Block { open_blocks } => {
                Self::Block(BlockMapped::new(specification, open_blocks))
            }
            Mapping::Bast { log_blocks } => Self::Bast(Bast::new(specification, log_blocks)),
            Mapping::Fast { log_blocks } => Self::Fast(Fast::new(specification, log_blocks)),
        }
    }

    /// The state of a page mapping, or the blocks of another mapping.
    fn state(&self) -> Result<&PageMapped, &Blockwise> {
        match self {
            Self::Page(ftl) => Ok(ftl),
            Self::Block(ftl) => Err(&ftl.blocks),
            Self::Bast(ftl) => Err(&ftl.blocks),
            Self::Fast(ftl) => Err(&ftl.blocks),
        }
    }

    /// All blocks for data, those held in reserve included.
    pub fn blocks(&self) -> u32 {
        self.state().map_or_else(Blockwise::blocks, PageMapped::blocks)
    }

    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(
        &mut self,
        nand: &mut N,
        run: PageRun,
        stream: Stream,
        at: Nanos,
    ) -> Nanos {
        match self {
            Self::Page(ftl) => ftl.write(nand, run, stream, at),
            Self::Block(ftl) => ftl.write(nand, run, at),
            Self::Bast(ftl) => ftl.write(nand, run, at),
            Self::Fast(ftl) => ftl.write(nand, run, at),
        }
    }

    /// Forgets pages. Returns how many held data.
    pub fn trim<N: Nand>(&mut self, nand: &mut N, run: PageRun, at: Nanos) -> u32 {
        match self {
            Self::Page(ftl) => ftl.trim(run),
            Self::Block(ftl) => ftl.trim(nand, run, at),
            Self::Bast(ftl) => ftl.trim(nand, run, at),
            Self::Fast(ftl) => ftl.trim(nand, run, at),
        }
    }

    /// Where a page is.
    pub fn locate(&self, page: LogicalPage) -> Option<PhysicalPage> {
        match self {
            Self::Page(ftl) => ftl.locate(page),
            Self::Block(ftl) => ftl.locate(page),
            Self::Bast(ftl) => ftl.locate(page),
            Self::Fast(ftl) => ftl.locate(page),
        }
    }

    /// Does background work until `free_blocks` are free or time is up. Only page mapping has such
    /// work.
    pub fn idle<N: Nand>(&mut self, nand: &mut N, free_blocks: u32, from: Nanos, until: Nanos) {
        if let Self::Page(ftl) = self {
            ftl.idle(nand, free_blocks, from, until);
        }
    }

    /// Prefetches the memory that writing the `next` pages, and those `after` them, will need;
    /// changes nothing.
    pub fn expect(&self, next: &[LogicalPage], after: &[LogicalPage]) {
        if let Self::Page(ftl) = self {
            ftl.expect(next, after);
        }
    }

    /// The pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        self.state().map_or_else(Blockwise::mapped_pages, PageMapped::mapped_pages)
    }

    /// Erased blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        self.state().map_or_else(Blockwise::free_blocks, PageMapped::free_blocks)
    }

    /// Erased blocks of the SLC cache, if there is one.
    pub fn free_slc_blocks(&self) -> Option<u32> {
        if let Self::Page(ftl) = self { ftl.free_slc_blocks() } else { None }
    }

    /// Whether the SLC cache was full since [`Ftl::forget_filled_slc`].
    pub fn has_filled_slc(&self) -> bool {
        if let Self::Page(ftl) = self { ftl.has_filled_slc() } else { false }
    }

    /// Forgets whether the SLC cache was full.
    pub fn forget_filled_slc(&mut self) {
        if let Self::Page(ftl) = self {
            ftl.forget_filled_slc();
        }
    }

    /// Whether too many blocks are worn out for further writes.
    pub fn is_worn_out(&self) -> bool {
        self.state().map_or_else(Blockwise::is_worn_out, PageMapped::is_worn_out)
    }

    /// The bytes it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Fast(ftl) => ftl.memory_bytes(),
            _ => self.state().map_or_else(Blockwise::memory_bytes, PageMapped::memory_bytes),
        }
    }
}

//! The translation layer of a drive: one of four ways to find a place for a page.

use crate::bast::Bast;
use crate::block_mapped::BlockMapped;
use crate::command::Stream;
use crate::fast::Fast;
use crate::nand::Nand;
use crate::page_mapped::PageMapped;
use crate::specification::{Mapping, Specification};
use crate::units::{LogicalPage, Nanos, Place, Run};

/// A translation layer.
#[derive(Debug, Clone)]
pub(crate) enum Layer {
    Page(PageMapped),
    Block(BlockMapped),
    Bast(Bast),
    Fast(Fast),
}

impl Layer {
    /// The layer of a purged drive, and how many blocks for data it works with.
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

    /// All blocks for data, those held in reserve included.
    pub fn blocks(&self) -> u32 {
        match self {
            Self::Page(layer) => layer.blocks(),
            Self::Block(layer) => layer.blocks.blocks(),
            Self::Bast(layer) => layer.blocks.blocks(),
            Self::Fast(layer) => layer.blocks.blocks(),
        }
    }

    /// Writes pages. Returns when the last is safe.
    pub fn write<N: Nand>(&mut self, nand: &mut N, run: Run, stream: Stream, at: Nanos) -> Nanos {
        match self {
            Self::Page(layer) => layer.write(nand, run, stream, at),
            Self::Block(layer) => layer.write(nand, run, at),
            Self::Bast(layer) => layer.write(nand, run, at),
            Self::Fast(layer) => layer.write(nand, run, at),
        }
    }

    /// Forgets pages. Returns how many held data.
    pub fn trim<N: Nand>(&mut self, nand: &mut N, run: Run, at: Nanos) -> u32 {
        match self {
            Self::Page(layer) => layer.trim(run),
            Self::Block(layer) => layer.trim(nand, run, at),
            Self::Bast(layer) => layer.trim(nand, run, at),
            Self::Fast(layer) => layer.trim(nand, run, at),
        }
    }

    /// Where a page is.
    pub fn locate(&self, page: LogicalPage) -> Option<Place> {
        match self {
            Self::Page(layer) => layer.locate(page),
            Self::Block(layer) => layer.locate(page),
            Self::Bast(layer) => layer.locate(page),
            Self::Fast(layer) => layer.locate(page),
        }
    }

    /// Works in the background until `free_blocks` are free or time is up. Only page mapping has
    /// such work.
    pub fn idle<N: Nand>(&mut self, nand: &mut N, free_blocks: u32, from: Nanos, until: Nanos) {
        if let Self::Page(layer) = self {
            layer.idle(nand, free_blocks, from, until);
        }
    }

    /// Asks for what writing the `next` pages, and those `after` them, will need; changes nothing.
    pub fn expect(&self, next: &[LogicalPage], after: &[LogicalPage]) {
        if let Self::Page(layer) = self {
            layer.expect(next, after);
        }
    }

    /// The pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        match self {
            Self::Page(layer) => layer.mapped_pages(),
            Self::Block(layer) => layer.blocks.mapped_pages(),
            Self::Bast(layer) => layer.blocks.mapped_pages(),
            Self::Fast(layer) => layer.blocks.mapped_pages(),
        }
    }

    /// Erased blocks ready to be written.
    pub fn free_blocks(&self) -> u32 {
        match self {
            Self::Page(layer) => layer.free_blocks(),
            Self::Block(layer) => layer.blocks.free_blocks(),
            Self::Bast(layer) => layer.blocks.free_blocks(),
            Self::Fast(layer) => layer.blocks.free_blocks(),
        }
    }

    /// Erased blocks of the SLC cache, where there is one.
    pub fn free_slc_blocks(&self) -> Option<u32> {
        if let Self::Page(layer) = self { layer.free_slc_blocks() } else { None }
    }

    /// Whether too many blocks are worn out to go on writing.
    pub fn is_worn_out(&self) -> bool {
        match self {
            Self::Page(layer) => layer.is_worn_out(),
            Self::Block(layer) => layer.blocks.is_worn_out(),
            Self::Bast(layer) => layer.blocks.is_worn_out(),
            Self::Fast(layer) => layer.blocks.is_worn_out(),
        }
    }

    /// The bytes it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Page(layer) => layer.memory_bytes(),
            Self::Block(layer) => layer.blocks.memory_bytes(),
            Self::Bast(layer) => layer.blocks.memory_bytes(),
            Self::Fast(layer) => layer.memory_bytes(),
        }
    }
}

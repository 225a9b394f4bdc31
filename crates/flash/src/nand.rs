//! What a translation layer asks of the flash, and for what reason.
//!
//! The boundary is here so that the layers decide only *where* data go. [`crate::Array`] knows
//! what an operation costs; a test's own flash can check that the rules of NAND are kept: pages
//! of a block are programmed in ascending order, each once between two erases.

use crate::array::Array;
use crate::units::{Block, LogicalPage, Nanos, Place};

/// Flash memory. Besides the array itself it is what a test puts between a drive and the array to
/// watch what is done.
pub trait Nand: AsRef<Array> + AsMut<Array> {
    /// Reads a page, not before `earliest`. Returns when the data have left the flash.
    fn read(&mut self, place: Place, why: Why, earliest: Nanos) -> Nanos;

    /// Programs an erased page with the contents of a logical page, not before `earliest`.
    /// Returns when the page is safe.
    fn program(&mut self, place: Place, holds: LogicalPage, why: Why, earliest: Nanos) -> Nanos;

    /// Erases a block, not before `earliest`. Returns when its pages can be programmed.
    fn erase(&mut self, block: Block, why: Why, earliest: Nanos) -> Nanos;

    /// How many times a block has been erased, compared with others.
    fn erases(&self, block: Block) -> u32 {
        self.as_ref().erases_of(block)
    }

    /// Whether a block has been erased as often as it may.
    fn is_worn(&self, block: Block) -> bool {
        self.as_ref().is_worn_out(block)
    }

    /// Copies a page; what it holds is unchanged.
    fn copy(
        &mut self,
        from: Place,
        to: Place,
        holds: LogicalPage,
        why: Why,
        earliest: Nanos,
    ) -> Nanos {
        let read = self.read(from, why, earliest);
        self.program(to, holds, why, read)
    }
}

/// Why the flash is read, programmed or erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The host asked for it.
    Host,
    /// To collect invalid pages into erased blocks.
    Collection,
    /// To merge new pages with a block's other pages (block and hybrid mapping).
    Merge,
    /// To fold the SLC cache out.
    Fold,
    /// To wear blocks evenly.
    Levelling,
    /// To read or write the mapping itself.
    Map,
}

impl Why {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Host, Self::Collection, Self::Merge, Self::Fold, Self::Levelling, Self::Map];

    /// The name it has in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Collection => "collection",
            Self::Merge => "merge",
            Self::Fold => "fold",
            Self::Levelling => "levelling",
            Self::Map => "map",
        }
    }
}

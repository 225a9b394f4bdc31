//! The state of each block.
//!
//! Which of its pages are valid is not stored: a page is valid if the map still points to it.

/// What a block is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockState {
    /// Erased, or worn out.
    Idle,
    /// Being filled.
    Open,
    /// Full: a candidate for collection.
    Closed,
    /// Being emptied.
    Emptying,
}

/// One block. Sixteen bytes, because besides the map each write looks up records of random blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockRecord {
    /// Links of the collector's lists; see [`super::victims`].
    pub next: u32,
    pub previous: u32,
    /// Valid pages.
    pub valid: u32,
    pub state: BlockState,
    pub pool: u8,
}

impl BlockRecord {
    /// The record of an erased block.
    pub const IDLE: Self =
        Self { next: 0, previous: 0, valid: 0, state: BlockState::Idle, pool: 0 };
}

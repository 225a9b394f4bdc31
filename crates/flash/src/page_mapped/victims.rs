//! Which full block is collected next.
//!
//! Greedy takes the block with the fewest valid pages, and among equals the one that has been so
//! for longest. Cost-benefit takes the block with the largest `age * (1 - u) / 2u`, where `u` is
//! the valid share and `age` the time since a page of the block was last invalidated (Kawaguchi,
//! Nishioka, Motoda: "A flash-memory based file system", USENIX 1995). Both keep a list of blocks
//! for each number of valid pages, in order of arrival; so the head of a list is its oldest block
//! by that definition of age, and comparing the heads of all lists finds the best block exactly.
//!
//! The lists, and the table for random choices, live in the records' two links.

use std::collections::VecDeque;

use super::blocks::BlockRecord;
use crate::random::DriveRandom;
use crate::specification::VictimPolicy;
use crate::units::{Block, count};

const NONE: u32 = u32::MAX;

/// The full blocks of a pool.
#[derive(Debug, Clone)]
pub(super) enum Victims {
    Greedy(Buckets),
    CostBenefit { buckets: Buckets, clock: u64, changed: Vec<u64> },
    Fifo(VecDeque<Block>),
    Random { closed: Vec<Block>, choices: u32, random: DriveRandom },
}

impl Victims {
    pub fn new(collection: VictimPolicy, blocks: usize, pages_per_block: u32, seed: u64) -> Self {
        let random = |choices| Self::Random {
            closed: Vec::new(),
            choices,
            random: DriveRandom::new(seed ^ 0x7669_6374_696d),
        };
        match collection {
            VictimPolicy::Greedy => Self::Greedy(Buckets::new(pages_per_block)),
            VictimPolicy::CostBenefit => Self::CostBenefit {
                buckets: Buckets::new(pages_per_block),
                clock: 0,
                changed: vec![0; blocks],
            },
            VictimPolicy::Fifo => Self::Fifo(VecDeque::new()),
            VictimPolicy::Random => random(1),
            VictimPolicy::Choices(choices) => random(choices),
        }
    }

    /// A block is full.
    pub fn insert(&mut self, records: &mut [BlockRecord], block: Block) {
        match self {
            Self::Greedy(buckets) => buckets.link(records, block),
            Self::CostBenefit { buckets, clock, changed } => {
                changed[block.index()] = *clock;
                buckets.link(records, block);
            }
            Self::Fifo(queue) => queue.push_back(block),
            Self::Random { closed, .. } => {
                records[block.index()].next = count(closed.len());
                closed.push(block);
            }
        }
    }

    /// A full block has lost a valid page; its record is already updated.
    #[inline]
    pub fn lowered(&mut self, records: &mut [BlockRecord], block: Block) {
        match self {
            Self::Greedy(buckets) => buckets.lower(records, block),
            Self::CostBenefit { buckets, clock, changed } => {
                *clock += 1;
                changed[block.index()] = *clock;
                buckets.lower(records, block);
            }
            Self::Fifo(_) | Self::Random { .. } => {}
        }
    }

    /// A full block is being collected or moved.
    pub fn remove(&mut self, records: &mut [BlockRecord], block: Block) {
        match self {
            Self::Greedy(buckets) | Self::CostBenefit { buckets, .. } => {
                buckets.unlink(records, block, records[block.index()].valid);
            }
            Self::Fifo(queue) => {
                // Nearly always the first; wear levelling may take others.
                let at = queue.iter().position(|queued| *queued == block);
                queue.remove(at.expect("a full block is in the queue"));
            }
            Self::Random { closed, .. } => {
                let at = records[block.index()].next;
                closed.swap_remove(at as usize);
                if let Some(moved) = closed.get(at as usize) {
                    records[moved.index()].next = at;
                }
            }
        }
    }

    /// The block to collect next, if that takes neither a search nor a random choice.
    pub fn likely_next(&self) -> Option<Block> {
        match self {
            Self::Greedy(buckets) => buckets.first.get(buckets.lowest).copied().map(Block),
            Self::Fifo(queue) => queue.front().copied(),
            Self::CostBenefit { .. } | Self::Random { .. } => None,
        }
        .filter(|block| block.0 != NONE)
    }

    /// The block to collect next; none if no block is full.
    pub fn choose(&mut self, records: &[BlockRecord]) -> Option<Block> {
        match self {
            Self::Greedy(buckets) => buckets.fewest(),
            Self::CostBenefit { buckets, clock, changed } => buckets.best(|block, free, valid| {
                let age = *clock - changed[block.index()] + 1;
                u128::from(age) * u128::from(free) * SCALE / u128::from(2 * valid)
            }),
            Self::Fifo(queue) => queue.front().copied(),
            Self::Random { closed, choices, random } => {
                let blocks = count(closed.len());
                if blocks == 0 {
                    return None;
                }
                let drawn = (0..*choices).map(|_| closed[random.below(blocks) as usize]);
                drawn.min_by_key(|block| records[block.index()].valid)
            }
        }
    }
}

/// Keeps fractions of the score that integer division would drop.
const SCALE: u128 = 1 << 32;

/// Blocks listed by their number of valid pages.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    first: Vec<u32>,
    last: Vec<u32>,
    /// No list below this one has a block.
    lowest: usize,
}

impl Buckets {
    fn new(pages_per_block: u32) -> Self {
        let lists = pages_per_block as usize + 1;
        Self { first: vec![NONE; lists], last: vec![NONE; lists], lowest: lists }
    }

    #[inline]
    fn lower(&mut self, records: &mut [BlockRecord], block: Block) {
        self.unlink(records, block, records[block.index()].valid + 1);
        self.link(records, block);
    }

    #[inline]
    fn link(&mut self, records: &mut [BlockRecord], block: Block) {
        let record = &mut records[block.index()];
        let list = record.valid as usize;
        let previous = std::mem::replace(&mut self.last[list], block.0);
        record.previous = previous;
        record.next = NONE;
        match previous {
            NONE => self.first[list] = block.0,
            previous => records[previous as usize].next = block.0,
        }
        self.lowest = self.lowest.min(list);
    }

    #[inline]
    fn unlink(&mut self, records: &mut [BlockRecord], block: Block, valid: u32) {
        let BlockRecord { next, previous, .. } = records[block.index()];
        let list = valid as usize;
        match previous {
            NONE => self.first[list] = next,
            previous => records[previous as usize].next = next,
        }
        match next {
            NONE => self.last[list] = previous,
            next => records[next as usize].previous = previous,
        }
    }

    fn fewest(&mut self) -> Option<Block> {
        while *self.first.get(self.lowest)? == NONE {
            self.lowest += 1;
        }
        Some(Block(self.first[self.lowest]))
    }

    /// The head of a list with the highest score of (block, free pages, valid pages).
    fn best(&mut self, score: impl Fn(Block, u64, u64) -> u128) -> Option<Block> {
        let fewest = self.fewest()?;
        if self.lowest == 0 {
            return Some(fewest);
        }
        let pages = self.first.len() as u64 - 1;
        let heads = self.first.iter().zip(0..).skip(self.lowest);
        heads
            .filter(|(first, _)| **first != NONE)
            .map(|(first, valid)| (score(Block(*first), pages - valid, valid), Block(*first)))
            .max_by_key(|(score, block)| (*score, std::cmp::Reverse(*block)))
            .map(|(_, block)| block)
    }
}

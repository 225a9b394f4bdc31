//! A job: what is read and written, how, and until when.

use std::fs::File;
use std::time::Duration;

use crate::EngineError;

/// The deepest queue.
const DEEPEST: usize = 4096;

/// What is done to a file.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The file, open for what is done to it; direct or buffered as it was opened.
    pub file: &'a File,
    /// The part of the file that is worked on, from its beginning, in bytes.
    pub span_bytes: u64,
    /// In which order.
    pub pattern: Pattern,
    /// The share of operations that read, from 0 (all write) to 1 (all read).
    pub read_share: f64,
    /// The block sizes.
    pub blocks: &'a [Block],
    /// Operations under way at the same time, at the most.
    pub depth: usize,
    /// When what was written is made to last.
    pub sync: SyncPolicy,
    /// When it ends.
    pub end: End,
    /// The time from when one operation is due to when the next is.
    ///
    /// With it the load is open: operations are due whether or not earlier ones are done, and a
    /// latency counts from when the operation was due, so that a stall is felt by all that fell
    /// due meanwhile. Without it the load is closed: an operation begins when an earlier one ends,
    /// and a stall holds back the operations that would have felt it ("coordinated omission";
    /// G. Tene, "How NOT to Measure Latency", 2013). Throughput is what a closed load measures.
    pub period: Option<Duration>,
    /// Decides offsets, kinds, sizes and contents.
    pub seed: u64,
}

/// In which order places are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// One after the other, and from the beginning again at the end; reads and writes share the
    /// place.
    Sequential,
    /// Each as likely as any other, at multiples of the operation's size.
    Random,
}

/// A block size and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The size in bytes.
    pub bytes: u32,
    /// How often, relative to the other sizes.
    pub weight: u32,
}

/// When what was written is made to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Never.
    Never,
    /// By fdatasync when all operations are done, before the clock stops.
    AtEnd,
    /// By fdatasync after so many writes. It begins when the operations before it are done, and
    /// none begins until it is.
    Every(u64),
}

/// When a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// When this much has been read and written; the last operation may go beyond.
    Bytes(u64),
    /// After so many reads and writes.
    Operations(u64),
    /// After this time; what is under way is waited for.
    Time(Duration),
}

impl Job<'_> {
    /// The largest block, in bytes.
    pub(crate) fn largest(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes as usize).max().unwrap_or(0)
    }

    pub(crate) fn check(&self) -> Result<(), EngineError> {
        let wrong = [
            (self.blocks.iter().any(|block| block.bytes == 0), "a block size is 0"),
            (self.blocks.iter().all(|block| block.weight == 0), "no block size ever occurs"),
            (self.span_bytes < self.largest() as u64, "a block is larger than the file"),
            (!(0.0..=1.0).contains(&self.read_share), "the share of reads is not from 0 to 1"),
            (!(1..=DEEPEST).contains(&self.depth), "the depth is not from 1 to 4096"),
            (self.sync == SyncPolicy::Every(0), "a sync after every 0 writes"),
            (self.period == Some(Duration::ZERO), "operations that are all due at once"),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, what)) => Err(EngineError::Job { what }),
            None => Ok(()),
        }
    }
}

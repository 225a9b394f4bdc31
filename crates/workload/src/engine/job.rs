//! A job: what to read and write, how, and for how long.

use std::fs::File;
use std::time::Duration;

use crate::engine::EngineError;

/// The maximum queue depth.
const DEEPEST: usize = 4096;

/// The I/O to perform on a file.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The files, which operations use in turn. They are direct or buffered as they were opened,
    /// and with [`Pattern::Append`] opened with `O_APPEND`.
    pub files: &'a [File],
    /// The length of the part of each file to use, from its start, in bytes; appending needs none.
    pub span_bytes: u64,
    /// The access pattern.
    pub pattern: Pattern,
    /// The share of operations that read, from 0 (all write) to 1 (all read).
    pub read_share: f64,
    /// The block sizes.
    pub blocks: &'a [Block],
    /// The maximum number of operations in flight.
    pub depth: usize,
    /// When written data are synced.
    pub sync: SyncPolicy,
    /// How they are.
    pub sync_call: SyncCall,
    /// When to end.
    pub end: End,
    /// The interval at which operations are due.
    ///
    /// With it the load is open: operations are due whether or not earlier ones are complete, and
    /// latency counts from the due time, so that a stall affects all operations due meanwhile.
    /// Without it the load is closed: an operation starts when an earlier one ends, and a stall
    /// delays the operations that would have observed it ("coordinated omission"; G. Tene, "How NOT
    /// to Measure Latency", 2013). Throughput is what a closed load measures.
    pub period: Option<Duration>,
    /// What is written.
    pub contents: Contents<'a>,
    /// The seed for offsets, kinds, sizes and random contents.
    pub seed: u64,
}

/// What is written. Each block of 4 KiB begins with a stamp that makes it unique, except of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents<'a> {
    /// Random bytes, which do not compress.
    Random,
    /// Parts of these bytes, one after the other. There should be more of them than a compressor
    /// remembers.
    Given(&'a [u8]),
    /// Zeros.
    Zeros,
}

/// The order of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Ascending, wrapping around at the end; reads and writes share the position.
    Sequential,
    /// Uniformly random, at multiples of the operation's size.
    Random,
    /// At the end of each file, which grows.
    Append,
}

/// A block size and how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The size in bytes.
    pub bytes: u32,
    /// Its relative frequency.
    pub weight: u32,
}

/// When written data are synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Never.
    Never,
    /// After all operations, before the clock stops.
    AtEnd,
    /// After this many writes. It starts when all earlier operations are complete, and later ones
    /// wait for it. Of several files it syncs those written since it last did, one after the other.
    Every(u64),
}

/// How written data are synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncCall {
    /// By fdatasync(2).
    Fdatasync,
    /// By fsync(2).
    Fsync,
}

/// When a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// After this many bytes read and written; the last operation may exceed it.
    Bytes(u64),
    /// After this many reads and writes.
    Operations(u64),
    /// After this time; operations in flight are waited for.
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
            (self.blocks.iter().all(|block| block.weight == 0), "all block sizes have weight 0"),
            (self.files.is_empty(), "there is no file"),
            (
                self.pattern != Pattern::Append && self.span_bytes < self.largest() as u64,
                "a block is larger than the file",
            ),
            (
                self.pattern == Pattern::Append && self.read_share > 0.0,
                "there is nothing to read behind the end of a file",
            ),
            (!(0.0..=1.0).contains(&self.read_share), "the share of reads is not within 0 to 1"),
            (!(1..=DEEPEST).contains(&self.depth), "the depth is not within 1 to 4096"),
            (self.sync == SyncPolicy::Every(0), "a sync after every 0 writes"),
            (self.contents == Contents::Given(&[]), "there is nothing to write"),
            (self.period == Some(Duration::ZERO), "operations that are all due at once"),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, what)) => Err(EngineError::Job { what }),
            None => Ok(()),
        }
    }
}

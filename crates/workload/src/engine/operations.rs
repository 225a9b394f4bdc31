//! The sequence of a job's operations: a function of the job and its seed alone.

use std::fmt;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ssdlab_plan::io::{Io, IoPattern};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineOperationKind {
    Read,
    Write,
    /// Makes written data durable.
    Sync,
}

impl fmt::Display for EngineOperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
        })
    }
}

/// An operation on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineOperation {
    /// What it does.
    pub kind: EngineOperationKind,
    pub file: usize,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub length: u32,
}

/// An endless sequence of operations.
pub(crate) struct EngineOperations<'a> {
    io: &'a Io,
    weights: u64,
    /// The file of the next operation.
    file: usize,
    /// Where the next operation on each file goes, unless that is random.
    next_offsets: Vec<u64>,
    random: Xoshiro256PlusPlus,
}

impl<'a> EngineOperations<'a> {
    /// The operations of a job, which begin at these offsets of its files unless they are random.
    pub fn of(io: &'a Io, seed: u64, starts: Vec<u64>) -> Self {
        Self {
            io,
            weights: io.blocks.iter().map(|block| u64::from(block.weight)).sum(),
            file: 0,
            next_offsets: starts,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    pub fn next(&mut self) -> EngineOperation {
        let length = self.length();
        let file = self.file;
        self.file = (file + 1) % self.next_offsets.len();
        let next_offset = &mut self.next_offsets[file];
        let offset = match self.io.pattern {
            IoPattern::Random => {
                let places = self.io.size_bytes / u64::from(length);
                self.below(places) * u64::from(length)
            }
            IoPattern::Sequential | IoPattern::Append => {
                let is_bounded = self.io.pattern == IoPattern::Sequential;
                if is_bounded && *next_offset + u64::from(length) > self.io.size_bytes {
                    *next_offset = 0;
                }
                let offset = *next_offset;
                *next_offset += u64::from(length);
                offset
            }
        };
        let kind =
            if self.reads() { EngineOperationKind::Read } else { EngineOperationKind::Write };
        EngineOperation { kind, file, offset, length }
    }

    fn length(&mut self) -> u32 {
        if let [block] = self.io.blocks[..] {
            return block.bytes;
        }
        let mut drawn = self.below(self.weights);
        for block in &self.io.blocks {
            match drawn.checked_sub(u64::from(block.weight)) {
                Some(left) => drawn = left,
                None => return block.bytes,
            }
        }
        unreachable!("what is drawn is below the sum of the weights")
    }

    fn reads(&mut self) -> bool {
        if self.io.read_share <= 0.0 || self.io.read_share >= 1.0 {
            return self.io.read_share >= 1.0;
        }
        // An f64 has 53 bits of precision.
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 <= self.io.read_share
    }

    /// A number below `bound`, by the upper half of a product (D. Lemire, "Fast Random Integer
    /// Generation in an Interval", 2019; the bias is below 2^-32 for any file).
    fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.random.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).expect("the upper half of 128 bits")
    }
}

#[cfg(test)]
mod tests;

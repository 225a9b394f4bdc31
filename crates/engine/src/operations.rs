//! The operations of a job, one after the other: a function of the job and its seed alone.

use std::fmt;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Block, Job, Pattern};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes what was written last.
    Sync,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
        })
    }
}

/// An operation on the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    /// What it does.
    pub kind: Kind,
    /// Where, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub length: u32,
}

/// Makes operations without end.
pub(crate) struct Operations<'a> {
    blocks: &'a [Block],
    weights: u64,
    pattern: Pattern,
    span_bytes: u64,
    /// A read is what is drawn below this, of 2^64; all and nothing are told apart from it.
    read_share: f64,
    next_offset: u64,
    random: Xoshiro256PlusPlus,
}

impl<'a> Operations<'a> {
    pub fn of(job: &Job<'a>) -> Self {
        Self {
            blocks: job.blocks,
            weights: job.blocks.iter().map(|block| u64::from(block.weight)).sum(),
            pattern: job.pattern,
            span_bytes: job.span_bytes,
            read_share: job.read_share,
            next_offset: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(job.seed),
        }
    }

    pub fn next(&mut self) -> Operation {
        let length = self.length();
        let offset = match self.pattern {
            Pattern::Random => {
                let places = self.span_bytes / u64::from(length);
                self.below(places) * u64::from(length)
            }
            Pattern::Sequential => {
                if self.next_offset + u64::from(length) > self.span_bytes {
                    self.next_offset = 0;
                }
                let offset = self.next_offset;
                self.next_offset += u64::from(length);
                offset
            }
        };
        let kind = if self.reads() { Kind::Read } else { Kind::Write };
        Operation { kind, offset, length }
    }

    fn length(&mut self) -> u32 {
        if let [block] = self.blocks {
            return block.bytes;
        }
        let mut drawn = self.below(self.weights);
        for block in self.blocks {
            match drawn.checked_sub(u64::from(block.weight)) {
                Some(left) => drawn = left,
                None => return block.bytes,
            }
        }
        unreachable!("what is drawn is below the sum of the weights")
    }

    fn reads(&mut self) -> bool {
        if self.read_share <= 0.0 || self.read_share >= 1.0 {
            return self.read_share >= 1.0;
        }
        // 53 bits are what an f64 holds.
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 <= self.read_share
    }

    /// A number from 0 to below `bound`, by the upper half of a product (D. Lemire, "Fast Random
    /// Integer Generation in an Interval", 2019; the bias is below 2^-32 for any file).
    fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.random.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).expect("the upper half of 128 bits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, SyncPolicy};

    const BLOCKS: [Block; 2] =
        [Block { bytes: 4096, weight: 3 }, Block { bytes: 65_536, weight: 1 }];

    fn operations(pattern: Pattern, read_share: f64, seed: u64) -> Vec<Operation> {
        let file = std::fs::File::open("/dev/null").unwrap();
        let job = Job {
            file: &file,
            span_bytes: 10_000_000,
            pattern,
            read_share,
            blocks: &BLOCKS,
            depth: 1,
            sync: SyncPolicy::Never,
            end: End::Operations(1),
            period: None,
            seed,
        };
        let mut operations = Operations::of(&job);
        (0..40_000).map(|_| operations.next()).collect()
    }

    #[test]
    fn operations_lie_within_the_file_at_multiples_of_their_size() {
        for operation in operations(Pattern::Random, 0.5, 1) {
            assert_eq!(operation.offset % u64::from(operation.length), 0);
            assert!(operation.offset + u64::from(operation.length) <= 10_000_000);
        }
        for pair in operations(Pattern::Sequential, 0.5, 1).windows(2) {
            let end = pair[0].offset + u64::from(pair[0].length);
            assert!(pair[1].offset == end || pair[1].offset == 0);
            assert!(pair[1].offset + u64::from(pair[1].length) <= 10_000_000);
        }
    }

    #[test]
    fn shares_are_the_stated_ones() {
        let some = operations(Pattern::Random, 0.7, 2);
        let share = |is: fn(&Operation) -> bool| {
            some.iter().filter(|operation| is(operation)).count() as f64 / some.len() as f64
        };
        // Four standard errors of 40,000 draws are below 0.01.
        assert!((share(|operation| operation.kind == Kind::Read) - 0.7).abs() < 0.01);
        assert!((share(|operation| operation.length == 4096) - 0.75).abs() < 0.01);
        let lower = share(|operation| operation.offset < 5_000_000);
        assert!((lower - 0.5).abs() < 0.01, "{lower}");
        for (read_share, kind) in [(0.0, Kind::Write), (1.0, Kind::Read)] {
            let all = operations(Pattern::Random, read_share, 2);
            assert!(all.iter().all(|operation| operation.kind == kind));
        }
    }

    #[test]
    fn a_seed_decides_everything() {
        let of = |seed| operations(Pattern::Random, 0.5, seed);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }
}

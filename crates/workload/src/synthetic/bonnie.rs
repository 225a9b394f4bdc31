//! The contents, seeks and file names of Bonnie's tests, from a seed.
//!
//! Source: bonnie++ 2.00. Its draws come from rand(3), seeded by the process number and the time;
//! here they come from the trial's seed, so every filesystem is asked for the same.

use std::ops::Range;

use ssdlab_plan::Bonnie;

use super::random::{RandomPurpose, RandomStream, to_u64, to_usize};

/// One seek in this many also writes (`UpdateSeek` in `bonnie.h`).
const UPDATE_SEEK: u64 = 10;

/// The maximum number of random characters in a file name (`RandExtraLen` in `bonnie.h`).
const EXTRA_CHARACTERS: usize = 12;

/// The set of random characters (`rand_chars` in `bon_file.cpp`).
const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The contents of a file of Bonnie's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BonnieData {
    /// Each byte is its offset in the file, modulo 128 (`CFileOp::write_block_byte`).
    Characters,
    /// Chunks that differ from each other in a byte or two.
    Chunks(Chunks),
}

/// A file written chunk by chunk from one buffer: before a chunk is written, the byte at the
/// chunk's number, modulo the chunk's size, is incremented (`TestFileOps` in `bonnie++.cpp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// The size of a chunk in bytes.
    pub chunk_bytes: usize,
    /// How often the file was rewritten, which increments the same byte of each chunk again.
    pub rewrites: u64,
    pub seeks: Seeks,
}

/// The first seeks of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeks {
    /// The trial's seed.
    pub seed: u64,
    /// Chunks of the file.
    pub chunks: u64,
    pub made: u64,
}

/// A seek, which reads a chunk and may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    pub chunk: u64,
    /// Whether the chunk is written back.
    pub writes: bool,
}

impl Seeks {
    /// All seeks of the trial, without end. As in `CFileOp::seek_test` one draw decides both where
    /// it goes and whether it writes.
    pub fn all(self) -> impl Iterator<Item = Seek> {
        let mut random = RandomStream::new(self.seed, RandomPurpose::BonnieSeeks);
        std::iter::repeat_with(move || {
            let number = random.bits() >> 1;
            Seek { chunk: number % self.chunks, writes: number.is_multiple_of(UPDATE_SEEK) }
        })
    }

    /// Which chunks of a range were written by these seeks.
    fn written(self, range: Range<u64>) -> Vec<bool> {
        let mut written = vec![false; to_usize(range.end - range.start)];
        for seek in self.all().take(to_usize(self.made)) {
            if seek.writes && range.contains(&seek.chunk) {
                written[to_usize(seek.chunk - range.start)] = true;
            }
        }
        written
    }
}

impl Chunks {
    /// The offset in a chunk of all its changes.
    pub fn changed_at(&self, chunk: u64) -> usize {
        to_usize(chunk % to_u64(self.chunk_bytes))
    }

    /// The byte written there by a seek: its value before the last rewrite. bonnie++ subtracts one
    /// each time, of which one could get lost with two threads in one chunk.
    pub fn touched(&self, chunk: u64) -> u8 {
        self.value(chunk).wrapping_sub(1)
    }

    /// The byte at the offset of changes, without seeks.
    fn value(&self, chunk: u64) -> u8 {
        low(chunk / to_u64(self.chunk_bytes)).wrapping_add(1).wrapping_add(low(self.rewrites))
    }

    fn fill(&self, offset: u64, buffer: &mut [u8]) {
        let size = to_u64(self.chunk_bytes);
        let first = offset / size;
        let end = (offset + to_u64(buffer.len())).div_ceil(size);
        let written = self.seeks.written(first..end);
        let (mut at, mut rest) = (to_usize(offset % size), buffer);
        for (chunk, is_written) in (first..end).zip(written) {
            let length = rest.len().min(self.chunk_bytes - at);
            let (part, later) = std::mem::take(&mut rest).split_at_mut(length);
            let changed = self.changed_at(chunk);
            let rounds = low(chunk / size);
            let (increased, others) = part.split_at_mut(changed.clamp(at, at + length) - at);
            increased.fill(rounds.wrapping_add(1));
            others.fill(rounds);
            if let Some(byte) = changed.checked_sub(at).and_then(|place| part.get_mut(place)) {
                *byte = if is_written { self.touched(chunk) } else { self.value(chunk) };
            }
            (at, rest) = (0, later);
        }
    }
}

impl BonnieData {
    /// The bytes from `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        match self {
            Self::Characters => {
                for (byte, place) in buffer.iter_mut().zip(offset..) {
                    *byte = low(place & 0x7f);
                }
            }
            Self::Chunks(chunks) => chunks.fill(offset, buffer),
        }
    }
}

/// The low eight bits.
fn low(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

/// The form of names of small files, and the order of stats and deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BonnieOrder {
    /// With their number; in the order of the directory.
    Sequential,
    /// With random characters; in random order.
    Random,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallFile {
    /// The directory, from 0.
    pub directory: u64,
    /// Its name, within its directory.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The small files, in the order of their creation, evenly spread over the directories (bonnie++
/// puts one more into each but the last). A name is the file's number in ten hexadecimal digits and
/// up to twelve random characters, before or after it (`COpenTest::make_names`).
pub fn small_files(sizes: &Bonnie, order: BonnieOrder, seed: u64) -> Vec<SmallFile> {
    let mut random = RandomStream::new(seed, RandomPurpose::BonnieNames);
    let (smallest, largest) = sizes.file_bytes;
    let each = sizes.files.div_ceil(sizes.directories);
    let file = |number: u64| {
        let length = random.index(EXTRA_CHARACTERS + 1);
        let extra: String =
            (0..length).map(|_| char::from(CHARACTERS[random.index(CHARACTERS.len())])).collect();
        let name = match order {
            BonnieOrder::Sequential => format!("{number:010x}{extra}"),
            BonnieOrder::Random => format!("{extra}{number:010x}"),
        };
        let bytes = smallest + random.below(largest - smallest + 1);
        SmallFile { directory: number / each, name, bytes }
    };
    (0..sizes.files).map(file).collect()
}

/// All numbers below `count`, in a different order for each `visit`.
pub fn shuffled(count: usize, seed: u64, visit: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    RandomStream::new(seed.wrapping_add(visit), RandomPurpose::BonnieOrder).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests;

//! File contents made from a seed: nothing is stored, and any part of a file can be made alone.
//!
//! Contents must neither cost the experiment time nor flatter a filesystem or drive: they are
//! copied from a small pool prepared before the clock starts, they compress as real sources or
//! not at all, and no two blocks of 4 KiB are equal, so deduplication finds nothing.

use super::random::{Random, Stream, mix, to_u64, to_usize};
use super::source_text::SourceText;

/// Bytes of a block: what filesystems allocate and deduplicate.
const BLOCK_BYTES: usize = 4096;

/// Blocks of text in the pool: 2 MiB, so that no compressor's window sees a block again.
const TEXT_BLOCKS: usize = 512;

/// Blocks of random bytes in the pool: 1 MiB.
const BINARY_BLOCKS: usize = 256;

/// Bytes of the comment that opens each block of text.
const STAMP_BYTES: usize = 40;

type Block = [u8; BLOCK_BYTES];

/// What contents are made from: the same for the same seed.
#[derive(Debug)]
pub struct ContentPool {
    text: Vec<Block>,
    binary: Vec<Block>,
}

impl ContentPool {
    /// Prepares a pool of 3 MiB, which takes some 10 to 20 ms.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut source = SourceText::new(Random::new(seed, Stream::Text));
        let mut random = Random::new(seed, Stream::Binary);
        Self {
            text: (0..TEXT_BLOCKS).map(|_| text_block(&mut source)).collect(),
            binary: (0..BINARY_BLOCKS).map(|_| binary_block(&mut random)).collect(),
        }
    }

    /// The bytes from `offset` on of the text file with this seed: printable ASCII, tabs and
    /// line ends, which compress like C sources.
    ///
    /// Each block is one of the pool's behind a comment that tells the file's seed and the
    /// block's number, so all blocks of all files differ as long as the seeds do.
    pub fn fill_text(&self, seed: u64, offset: u64, buffer: &mut [u8]) {
        for (number, start, part) in blocks(offset, buffer) {
            let end = start + part.len();
            part.copy_from_slice(&pooled(&self.text, seed, number)[start..end]);
            if start < STAMP_BYTES {
                let stamped = end.min(STAMP_BYTES);
                part[..stamped - start].copy_from_slice(&stamp(seed, number)[start..stamped]);
            }
        }
    }

    /// The bytes from `offset` on of the binary file with this seed, which do not compress.
    ///
    /// Each block is one of the pool's, combined throughout with a key made from the file's seed
    /// and the block's number, so that not even small parts of blocks are equal.
    pub fn fill_binary(&self, seed: u64, offset: u64, buffer: &mut [u8]) {
        let file_key = mix(seed);
        for (number, start, part) in blocks(offset, buffer) {
            let block = &pooled(&self.binary, seed, number)[start..start + part.len()];
            let mut key = mix(file_key.wrapping_add(number)).to_le_bytes();
            key.rotate_left(start % 8);
            combine(part, block, key);
        }
    }
}

/// The parts of a buffer by the file's blocks: the block's number, where in it the part begins,
/// and the part.
fn blocks(offset: u64, buffer: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let number = offset / to_u64(BLOCK_BYTES);
    let start = to_usize(offset % to_u64(BLOCK_BYTES));
    let (head, rest) = buffer.split_at_mut(buffer.len().min(BLOCK_BYTES - start));
    let whole = (number + 1..).zip(rest.chunks_mut(BLOCK_BYTES));
    std::iter::once((number, start, head)).chain(whole.map(|(number, part)| (number, 0, part)))
}

/// The block of the pool that block `number` of a file is made from.
///
/// Files begin anywhere in the pool and go on in its order: a file as long as a compressor's
/// window does not meet the same block twice.
fn pooled(pool: &[Block], seed: u64, number: u64) -> &Block {
    let first = mix(seed) % to_u64(pool.len());
    &pool[to_usize((first + number) % to_u64(pool.len()))]
}

/// Sets `part` to the block's bytes combined with the repeated key.
fn combine(part: &mut [u8], block: &[u8], key: [u8; 8]) {
    let (words, tail) = part.as_chunks_mut::<8>();
    let (block_words, block_tail) = block.as_chunks::<8>();
    let wide_key = u64::from_ne_bytes(key);
    for (word, block_word) in words.iter_mut().zip(block_words) {
        *word = (u64::from_ne_bytes(*block_word) ^ wide_key).to_ne_bytes();
    }
    for ((byte, block_byte), key_byte) in tail.iter_mut().zip(block_tail).zip(key) {
        *byte = block_byte ^ key_byte;
    }
}

/// The comment that opens a block of text.
fn stamp(seed: u64, number: u64) -> [u8; STAMP_BYTES] {
    let mut stamp = *b"/* 0000000000000000-0000000000000000 */\n";
    write_hexadecimal(&mut stamp[3..19], seed);
    write_hexadecimal(&mut stamp[20..36], number);
    stamp
}

fn write_hexadecimal(digits: &mut [u8], number: u64) {
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[to_usize(rest & 15)];
        rest >>= 4;
    }
}

/// A block of source text, whose beginning the stamp will replace.
fn text_block(source: &mut SourceText) -> Block {
    let mut text = vec![b' '; STAMP_BYTES];
    while text.len() < BLOCK_BYTES {
        source.append(&mut text);
    }
    let mut block: Block = std::array::from_fn(|i| text[i]);
    block[BLOCK_BYTES - 1] = b'\n';
    block
}

fn binary_block(random: &mut Random) -> Block {
    let words: [[u8; 8]; BLOCK_BYTES / 8] = std::array::from_fn(|_| random.bits().to_le_bytes());
    let bytes = words.as_flattened();
    std::array::from_fn(|i| bytes[i])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::sync::LazyLock;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use proptest::prelude::*;

    use super::*;

    type Fill = fn(&ContentPool, u64, u64, &mut [u8]);

    const FILLS: [Fill; 2] = [ContentPool::fill_text, ContentPool::fill_binary];

    fn file(fill: Fill, pool: &ContentPool, seed: u64, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        fill(pool, seed, 0, &mut buffer);
        buffer
    }

    /// How many bytes become 100 when zlib at its usual level, 6, compresses runs of up to
    /// 128 KiB, each of one file.
    fn bytes_to_100(fill: Fill, files: u64, bytes: usize) -> usize {
        let pool = ContentPool::new(1);
        let compressed = |run: &[u8]| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
            encoder.write_all(run).unwrap();
            encoder.finish().unwrap().len()
        };
        let of_file = |seed| -> usize {
            file(fill, &pool, mix(seed), bytes).chunks(128 << 10).map(compressed).sum()
        };
        100 * bytes * to_usize(files) / (0..files).map(of_file).sum::<usize>()
    }

    #[test]
    fn text_compresses_like_sources() {
        // Measured on the sources of 6.1: runs of 128 KiB of `.c` files 4.41:1 (the median; the
        // quartiles are 4.06 and 4.92), all `.c` files, each by itself, 4.09:1.
        let long = bytes_to_100(ContentPool::fill_text, 8, 512 << 10);
        assert!((406..492).contains(&long), "{long}");
        let typical = bytes_to_100(ContentPool::fill_text, 200, 19_000);
        assert!((370..450).contains(&typical), "{typical}");
    }

    #[test]
    fn binary_does_not_compress() {
        let ratio = bytes_to_100(ContentPool::fill_binary, 4, 512 << 10);
        assert!(ratio <= 100, "{ratio}");
    }

    #[test]
    fn text_is_printable() {
        let text = file(ContentPool::fill_text, &ContentPool::new(3), 9, 4 << 20);
        let printable = |b: &u8| matches!(b, b' '..=b'~' | b'\t' | b'\n');
        assert!(text.iter().all(printable));
        assert!(text.split(|&b| b == b'\n').all(|line| line.len() < 200));
    }

    #[test]
    fn no_two_blocks_are_equal() {
        let pool = ContentPool::new(1);
        for fill in FILLS {
            let mut seen = BTreeSet::new();
            for seed in 0..40 {
                // Longer than the pool, so every block of it is used more than once.
                let bytes = if seed == 0 { 5 << 20 } else { 100_000 };
                let file = file(fill, &pool, seed, bytes);
                for block in file.chunks_exact(BLOCK_BYTES) {
                    assert!(seen.insert(block.to_vec()));
                }
            }
        }
    }

    #[test]
    fn the_bytes_are_pinned() {
        let pool = ContentPool::new(1);
        let bytes = FILLS.map(|fill| file(fill, &pool, 1, 3 << 20));
        let sums = bytes.map(|bytes| bytes.iter().fold(0, |sum, &b| mix(sum ^ u64::from(b))));
        assert_eq!(sums, [647_914_609_645_678_835, 8_190_711_379_280_510_881]);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_bytes(
            seed: u64,
            start in 0_usize..20_000,
            length in 0_usize..20_000,
            cut in 0_usize..20_000,
        ) {
            static POOL: LazyLock<ContentPool> = LazyLock::new(|| ContentPool::new(2));
            let pool = &*POOL;
            for fill in FILLS {
                let whole = file(fill, pool, seed, start + length);
                let mut part = vec![0; length];
                let (left, right) = part.split_at_mut(cut.min(length));
                fill(pool, seed, to_u64(start), left);
                fill(pool, seed, to_u64(start + left.len()), right);
                prop_assert_eq!(&whole[start..], &part[..]);
            }
        }
    }
}

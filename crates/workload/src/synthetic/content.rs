//! File contents generated from a seed: nothing is stored, and any part of a file can be generated
//! alone.
//!
//! Contents must neither take time nor favour a filesystem or drive: they are copied from a small
//! pool prepared before the clock starts, they compress like real sources or not at all, and no two
//! blocks of 4 KiB are equal, so deduplication finds nothing.

use super::random::{RandomPurpose, RandomStream, mix, to_u64, to_usize};
use super::source_text::SourceText;

/// The block size, the unit of allocation and deduplication.
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
#[cfg_attr(test, derive(Clone))]
pub struct ContentPool {
    text: Vec<Block>,
    binary: Vec<Block>,
}

impl ContentPool {
    /// Prepares a pool of 3 MiB, which takes some 10 to 20 ms.
    pub fn new(seed: u64) -> Self {
        let mut source = SourceText::new(RandomStream::new(seed, RandomPurpose::Text));
        let mut random = RandomStream::new(seed, RandomPurpose::Binary);
        Self {
            text: (0..TEXT_BLOCKS).map(|_| text_block(&mut source)).collect(),
            binary: (0..BINARY_BLOCKS).map(|_| binary_block(&mut random)).collect(),
        }
    }

    /// The bytes from `offset` on of the text file with this seed: printable ASCII, tabs and line
    /// ends that compress like C sources.
    ///
    /// Each block is one of the pool's after a comment with the file's seed and the block's number,
    /// so all blocks of all files differ if the seeds do.
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

/// The parts of a buffer by the file's blocks: the block's number, the part's offset in it, and the
/// part.
fn blocks(offset: u64, buffer: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let number = offset / to_u64(BLOCK_BYTES);
    let start = to_usize(offset % to_u64(BLOCK_BYTES));
    let (head, rest) = buffer.split_at_mut(buffer.len().min(BLOCK_BYTES - start));
    let whole = (number + 1..).zip(rest.chunks_mut(BLOCK_BYTES));
    std::iter::once((number, start, head)).chain(whole.map(|(number, part)| (number, 0, part)))
}

/// The block of the pool that block `number` of a file is made from.
///
/// Files start anywhere in the pool and continue in order: a compressor's window never contains the
/// same block twice.
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
    let mut block: Block = *text.first_chunk().expect("the text is at least as long");
    block[BLOCK_BYTES - 1] = b'\n';
    block
}

fn binary_block(random: &mut RandomStream) -> Block {
    let words: [[u8; 8]; BLOCK_BYTES / 8] = std::array::from_fn(|_| random.bits().to_le_bytes());
    *words.as_flattened().first_chunk().expect("as many bytes as a block has")
}

#[cfg(test)]
mod tests;

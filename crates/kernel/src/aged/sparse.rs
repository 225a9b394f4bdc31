//! Files that are mostly zeros: copies and hashes only the rest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

/// The granularity at which zeros are skipped.
const BLOCK_BYTES: usize = 4096;

/// The read buffer.
const CHUNK_BYTES: usize = 1 << 20;

static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// Copies a file into an empty one, block by block that is not all zeros.
pub fn copy(from: &File, to: &File) -> io::Result<()> {
    to.set_len(from.metadata()?.len())?;
    each_block(from, |offset, block| to.write_all_at(block, offset))
}

/// The SHA-256 of a file's length and of its blocks that are not all zeros, each with its place: it
/// is the same however the zeros are stored.
pub fn hash(file: &File) -> io::Result<String> {
    let mut hash = Sha256::new();
    hash.update(file.metadata()?.len().to_le_bytes());
    each_block(file, |offset, block| {
        hash.update(offset.to_le_bytes());
        hash.update(block);
        Ok(())
    })?;
    Ok(hex::encode(hash.finalize()))
}

/// Shows each block that is not all zeros; the last may be cut short.
pub fn each_block(
    file: &File,
    mut each: impl FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = 0;
    while let Some((start, end)) = next_data(file, at)? {
        // Holes begin at any block of the filesystem's, which may be smaller than ours.
        at = start - start % BLOCK_BYTES as u64;
        while at < end {
            let length = file.read_at(&mut chunk, at)?;
            if length == 0 {
                return Ok(());
            }
            // A short read in the middle of the file ends at a block's end.
            let whole = if length < BLOCK_BYTES { length } else { length - length % BLOCK_BYTES };
            let is_last = at + length as u64 >= file.metadata()?.len();
            let length = if is_last { length } else { whole };
            for (number, block) in chunk[..length].chunks(BLOCK_BYTES).enumerate() {
                if block != &ZEROS[..block.len()] {
                    each(at + (number * BLOCK_BYTES) as u64, block)?;
                }
            }
            at += length as u64;
        }
    }
    Ok(())
}

/// The next stretch of data at or behind a place.
fn next_data(file: &File, at: u64) -> io::Result<Option<(u64, u64)>> {
    let start = match seek(file, SeekFrom::Data(at)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    Ok(Some((start, seek(file, SeekFrom::Hole(start))?)))
}

#[cfg(test)]
mod tests;

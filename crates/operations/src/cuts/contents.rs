//! Contents that identify themselves: records that hold their file, version and number.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The bytes of a record, unless a plan gives those of the log another size: not a divisor of a
/// sector or a block, so that records straddle both.
pub const RECORD_BYTES: usize = 500;

/// The records of a file that is replaced.
pub const REPLACED_RECORDS: u32 = 20;

/// Their bytes: two blocks of 4 KiB, and a part of a third.
pub const REPLACED_BYTES: usize = RECORD_BYTES * REPLACED_RECORDS as usize;

/// The first bytes of every record.
const MAGIC: [u8; 8] = *b"ssdlabR1";

/// Magic, file, version and number: the smallest record.
pub const HEADER_BYTES: usize = 20;

/// The file's number in the records of the log.
const LOG: u32 = u32::MAX;

/// A record of the log with so many bytes, at least [`HEADER_BYTES`], by its number from 0 on.
pub fn logged(number: u32, bytes: usize) -> Vec<u8> {
    record(LOG, 0, number, bytes)
}

/// A record of a version of a file. The bytes after the header are a pseudorandom function of it.
fn record(file: u32, version: u32, number: u32, bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; bytes];
    bytes[..8].copy_from_slice(&MAGIC);
    for (place, field) in [file, version, number].into_iter().enumerate() {
        bytes[8 + 4 * place..12 + 4 * place].copy_from_slice(&field.to_le_bytes());
    }
    let seed = u64::from(file) << 40 ^ u64::from(version) << 20 ^ u64::from(number);
    SplitMix64::seed_from_u64(seed).fill_bytes(&mut bytes[HEADER_BYTES..]);
    bytes
}

pub fn replaced(file: u32, version: u32) -> Vec<u8> {
    (0..REPLACED_RECORDS).flat_map(|number| record(file, version, number, RECORD_BYTES)).collect()
}

/// The version in the first record of a file, if the file begins with a record.
pub(super) fn version(bytes: &[u8]) -> Option<u32> {
    let header = bytes.get(..HEADER_BYTES).filter(|header| header.starts_with(&MAGIC))?;
    Some(u32::from_le_bytes(header[12..16].try_into().ok()?))
}

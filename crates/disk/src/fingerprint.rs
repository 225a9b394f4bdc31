//! Defines the fingerprint of a run: one hash of all requests to its disks.
//!
//! Runs with equal fingerprints are identical in every request, its times of submission and
//! completion, its status, and every byte written. The hash is XXH3 with 128 bits
//! (<https://xxhash.com>): it need not resist attacks, and it is faster than the flow of data.

use std::fmt;

use twox_hash::XxHash3_128;
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{Immutable, IntoBytes, Unaligned};

/// The fingerprint of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);

impl fmt::Display for Fingerprint {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// One request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
pub struct HashedRequest {
    /// Which disk, counted from 0.
    pub disk: U32,
    /// The number of the request in virtio.
    pub number: U32,
    /// When it was submitted, in nanoseconds.
    pub submitted_ns: U64,
    /// When it is done, in nanoseconds.
    pub completed_ns: U64,
    pub offset_bytes: U64,
    pub length_bytes: U64,
    /// Its status; 255 if there was none.
    pub status: U32,
}

/// Computes a fingerprint incrementally.
#[derive(Clone)]
pub struct TraceHasher {
    hash: XxHash3_128,
}

impl fmt::Debug for TraceHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceHasher").field(&self.fingerprint()).finish()
    }
}

impl Default for TraceHasher {
    fn default() -> Self {
        Self { hash: XxHash3_128::new() }
    }
}

impl TraceHasher {
    /// Adds a request.
    pub fn request(&mut self, seen: &HashedRequest) {
        self.hash.write(seen.as_bytes());
    }

    /// Adds the data of a write. Its length is that of the adjacent request.
    pub fn data(&mut self, data: &[u8]) {
        self.hash.write(data);
    }

    /// The fingerprint of everything so far.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.hash.finish_128())
    }
}

#[cfg(test)]
mod tests;

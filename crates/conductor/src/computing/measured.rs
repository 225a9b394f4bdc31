//! What a system call, copying, checksums, hashes and encryption cost on this machine, each
//! measured by itself.

use std::hint::black_box;

use aes::Aes256;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use rustix::process::getppid;
use sha2::{Digest, Sha256};
use ssdlab_host::thread;
use twox_hash::XxHash64;

use super::ChargedCounts;

/// Filesystems copy, digest and encrypt a block at a time.
const BLOCK_BYTES: usize = 4096;

/// The number of blocks of each measurement, and of calls: 64 MiB, more than most caches keep, as
/// data that are written back have left the cache.
const REPEATS: usize = 16_384;

/// How often each is measured.
const ROUNDS: usize = 5;

/// The costs that are measured by themselves, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredCosts {
    /// A system call that does next to nothing.
    pub call: f64,
    /// What is charged by the KiB.
    pub per_kib: PerKib,
}

/// The costs of a KiB, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerKib {
    /// Copying from the cache to memory, as a write to a file does.
    pub copy: f64,
    /// CRC-32 and CRC-32C.
    pub crc32: f64,
    /// `XXH64`.
    pub xxhash: f64,
    pub sha256: f64,
    /// `BLAKE2b`.
    pub blake2: f64,
    /// AES with a key of 256 bits, without the tweaks of XTS.
    pub aes: f64,
}

impl MeasuredCosts {
    /// Those of this machine, by the implementations of this program, not the kernel's.
    pub fn here() -> Self {
        let mut memory = vec![7; REPEATS * BLOCK_BYTES];
        let mut per_kib = |work: &dyn Fn(&mut [u8]) -> u64| {
            let of_block = least(&mut |index| {
                black_box(work(&mut memory[index * BLOCK_BYTES..][..BLOCK_BYTES]));
            });
            of_block * 1024.0 / BLOCK_BYTES as f64
        };
        let cached = [7; BLOCK_BYTES];
        let cipher = Aes256::new(&[1; 32].into());
        Self {
            call: least(&mut |_| {
                black_box(getppid());
            }),
            per_kib: PerKib {
                copy: per_kib(&|block| {
                    block.copy_from_slice(black_box(&cached));
                    0
                }),
                crc32: per_kib(&|block| u64::from(crc32fast::hash(block))),
                xxhash: per_kib(&|block| XxHash64::oneshot(0, block)),
                sha256: per_kib(&|block| u64::from(Sha256::digest(block)[0])),
                blake2: per_kib(&|block| u64::from(blake2::Blake2b512::digest(block)[0])),
                // As many at a time as the processor takes, as the kernel does.
                aes: per_kib(&|block| {
                    cipher.encrypt_blocks(Array::slice_as_chunks_mut(block).0);
                    u64::from(block[0])
                }),
            },
        }
    }

    /// The time of an operation with these counts without its basic blocks, in ns.
    pub fn of(&self, counts: &ChargedCounts) -> f64 {
        self.call * counts.calls
            + self.per_kib.copy * counts.copied_kib
            + self.per_kib.crc32 * counts.checksummed_kib
    }
}

impl PerKib {
    /// Each with its key in `[ns_per_kib]` of a host file.
    pub fn by_key(&self) -> [(&'static str, f64); 6] {
        let Self { copy, crc32, xxhash, sha256, blake2, aes } = *self;
        [
            ("copy", copy),
            ("crc32", crc32),
            ("xxhash", xxhash),
            ("sha256", sha256),
            ("blake2", blake2),
            ("aes", aes),
        ]
    }
}

/// The processor time of one repetition in ns, the least of some rounds.
fn least(work: &mut dyn FnMut(usize)) -> f64 {
    let mut round = || {
        let before = thread::used().cpu_ns;
        for index in 0..REPEATS {
            work(index);
        }
        (thread::used().cpu_ns - before) as f64 / REPEATS as f64
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

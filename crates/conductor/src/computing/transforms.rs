//! The processor time of checksums, hashes and encryption on this machine.

use std::hint::black_box;

use aes::Aes256;
use aes::cipher::KeyInit;
use sha2::{Digest, Sha256};
use ssdlab_host::thread;
use twox_hash::XxHash64;
use xts_mode::Xts128;

/// Filesystems digest a block at a time.
const BLOCK_BYTES: usize = 4096;

/// The number of blocks transformed for each measurement.
const BLOCKS: u32 = 8192;

/// The processor time per KiB in ns, by the key in a host file. A block stays in the cache, and the
/// implementations are those of this program, not the kernel's. CRC-32 is the first.
#[must_use]
pub fn transforms() -> [(&'static str, f64); 5] {
    let [data, tweak] = [[1; 32], [2; 32]].map(|key| Aes256::new(&key.into()));
    let cipher = Xts128::new(data, tweak);
    [
        ("crc32", per_kib(&|block| u64::from(crc32fast::hash(block)))),
        ("xxhash", per_kib(&|block| XxHash64::oneshot(0, block))),
        ("sha256", per_kib(&|block| u64::from(Sha256::digest(block)[0]))),
        ("blake2", per_kib(&|block| u64::from(blake2::Blake2b512::digest(block)[0]))),
        (
            "aes",
            per_kib(&|block| {
                cipher.encrypt_sector(block, [0; 16].into());
                u64::from(block[0])
            }),
        ),
    ]
}

fn per_kib(transform: &dyn Fn(&mut [u8]) -> u64) -> f64 {
    let mut block = vec![7; BLOCK_BYTES];
    let before = thread::used().cpu_ns;
    for _ in 0..BLOCKS {
        black_box(transform(black_box(&mut block)));
    }
    let spent = thread::used().cpu_ns - before;
    spent as f64 / (f64::from(BLOCKS) * BLOCK_BYTES as f64 / 1024.0)
}

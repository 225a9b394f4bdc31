//! The processor time that a computer takes for what the lab kernel counts.

use std::fmt;

/// The processor time that a computer takes for the kernel's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// A basic block of the kernel's code, in ps.
    pub block_ps: u64,
    /// Entering the kernel and leaving it, in ns.
    pub call_ns: u64,
    /// A KiB copied or zeroed, in ns.
    pub copy_ns: u64,
    /// A KiB of CRC-32 or CRC-32C, in ns.
    pub crc32_ns: u64,
    /// A KiB of `xxHash`, in ns.
    pub xxhash_ns: u64,
    /// A KiB of SHA-256, in ns.
    pub sha256_ns: u64,
    /// A KiB of `BLAKE2b`, in ns.
    pub blake2_ns: u64,
    /// A KiB of AES-256-XTS, as dm-crypt encrypts with, in ns.
    pub aes_ns: u64,
}

impl Costs {
    /// Sets a cost by its key in a host file; any other key changes nothing.
    pub(super) fn set(&mut self, key: &str, number: f64) {
        let whole = whole(number);
        match key {
            "ns_per_block" => self.block_ps = picoseconds(number),
            "ns_per_call" => self.call_ns = whole,
            "ns_per_kib.copy" => self.copy_ns = whole,
            "ns_per_kib.crc32" => self.crc32_ns = whole,
            "ns_per_kib.xxhash" => self.xxhash_ns = whole,
            "ns_per_kib.sha256" => self.sha256_ns = whole,
            "ns_per_kib.blake2" => self.blake2_ns = whole,
            "ns_per_kib.aes" => self.aes_ns = whole,
            _ => {}
        }
    }
}

impl fmt::Display for Costs {
    /// The lab kernel's parameter `ssdlab.cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block_ps, call_ns, copy_ns, .. } = self;
        let Self { crc32_ns, xxhash_ns, sha256_ns, blake2_ns, aes_ns, .. } = self;
        write!(f, "{block_ps},{call_ns},{copy_ns},")?;
        write!(f, "{crc32_ns},{xxhash_ns},{sha256_ns},{blake2_ns},{aes_ns}")
    }
}

/// The cost of a block, in ps.
pub(super) fn picoseconds(nanos: f64) -> u64 {
    whole(nanos * 1e3)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a cost")]
pub(super) fn whole(number: f64) -> u64 {
    number.round() as u64
}

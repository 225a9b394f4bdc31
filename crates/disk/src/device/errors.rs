//! Requests that fail although the drive could perform them, as on one that is wearing out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ssdlab_plan::{FailingRequest, WriteErrors};

use super::request::{DiskCommand, KernelHints};

/// Has a share of some requests fail, chosen by a seed.
#[derive(Debug, Clone)]
pub struct RequestErrors {
    errors: WriteErrors,
    seed: u64,
    /// Whether requests fail at present.
    active: Arc<AtomicBool>,
    /// The requests of the kind so far.
    number: u64,
}

impl RequestErrors {
    /// The requests that fail once this is active.
    pub fn new(errors: WriteErrors, seed: u64) -> Self {
        Self { errors, seed, active: Arc::default(), number: 0 }
    }

    /// Has them fail from now on, or no more; clones follow.
    pub fn set_active(&self, active: bool) {
        self.active.store(active, Ordering::Relaxed);
    }

    /// Whether the next request fails.
    pub(super) fn fails(&mut self, asked: &DiskCommand, told: KernelHints) -> bool {
        let is_of_files =
            || told.origin.is_some_and(|of| of.metadata_bytes == 0 && of.directory_bytes == 0);
        let is_of_kind = match self.errors.of {
            FailingRequest::Writes => matches!(asked, DiskCommand::Write(_)) && is_of_files(),
            FailingRequest::Flushes => matches!(asked, DiskCommand::Flush),
        };
        if !is_of_kind || !self.active.load(Ordering::Relaxed) {
            return false;
        }
        self.number += 1;
        mixed(self.seed ^ self.number) % 1_000_000 < u64::from(self.errors.per_million)
    }
}

/// One step of splitmix64 (G. Steele and others, OOPSLA 2014).
const fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

//! Who changed each block of metadata since it was last written, and who joined a transaction.

use std::collections::BTreeMap;

use crate::shares::CauseShares;

/// The weight of one change: large enough that divided ones keep their proportions.
const CHANGE: u64 = 1024;
/// The most blocks: 4 GiB of dirty metadata.
const MOST_BLOCKS: usize = 1 << 20;

/// The causes of metadata of a filesystem. Blocks are numbered by their reader: by 4 KiB of the
/// device, or of btrfs's logical addresses.
#[derive(Debug, Default)]
pub struct MetadataCauses {
    touched: BTreeMap<u64, CauseShares>,
    /// Who changed metadata since the last commit.
    pub pool: CauseShares,
    /// Who changed metadata before that commit, since the one before.
    pub last_pool: CauseShares,
}

impl MetadataCauses {
    /// Somebody changed a block.
    pub fn touch(&mut self, block: u64, causes: &CauseShares) {
        if causes.is_empty() {
            return;
        }
        if self.touched.len() >= MOST_BLOCKS {
            self.touched.pop_first();
        }
        self.touched.entry(block).or_default().add_split(CHANGE, causes);
    }

    /// Whether somebody is known to have changed a block.
    pub fn is_touched(&self, block: u64) -> bool {
        self.touched.contains_key(&block)
    }

    /// Who changed a block.
    pub fn get(&self, block: u64) -> CauseShares {
        self.touched.get(&block).cloned().unwrap_or_default()
    }

    /// Takes who changed a block.
    pub fn take(&mut self, block: u64) -> CauseShares {
        self.touched.remove(&block).unwrap_or_default()
    }

    /// Somebody joined the transaction.
    pub fn join(&mut self, causes: &CauseShares, times: u64) {
        self.pool.add_split(times.saturating_mul(CHANGE), causes);
    }

    /// The transaction ended.
    pub fn commit(&mut self) {
        self.last_pool = std::mem::take(&mut self.pool);
    }

    /// The causers of the transaction, else those of the last.
    pub fn pooled(&self) -> CauseShares {
        self.pool.clone().or(|| self.last_pool.clone())
    }
}

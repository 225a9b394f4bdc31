//! Folds the SLC cache into the data blocks: in the background while the drive is idle, and in the
//! foreground, delaying the host's writes, once no cache block is left. That is the write cliff.

use super::slc::Slc;
use super::state::PageMapped;
use crate::counters::OperationReason;
use crate::nand::Nand;
use crate::units::{Nanos, count};

impl PageMapped {
    /// Opens a block of the cache, which the drive has, after folding one if necessary.
    pub(super) fn open_slc<N: Nand>(&mut self, nand: &mut N, pool: u8, earliest: Nanos) {
        let Some(slc) = &mut self.slc else { return };
        let frontier = slc.frontier;
        slc.full.extend(self.frontiers[frontier].block);
        if slc.free.is_empty() {
            self.fold(nand, pool, earliest);
        }
        let opened = self.slc.as_mut().and_then(Slc::open_next);
        self.frontiers[frontier] = opened.expect("a fold frees a block");
    }

    /// Does the share of folding that is due for a number of the host's pages, once the last block
    /// of the cache is being filled.
    pub(super) fn fold_a_part<N: Nand>(
        &mut self,
        nand: &mut N,
        pool: u8,
        pages: u32,
        earliest: Nanos,
    ) {
        let Some(slc) = self.slc.as_mut().filter(|slc| slc.free.is_empty()) else { return };
        slc.was_full = true;
        slc.folding = slc.next_to_fold();
        if let Some(folding) = &mut slc.folding
            && folding.charge(pages)
        {
            let until = folding.due();
            self.fold_until(nand, pool, until, earliest);
        }
    }

    /// Folds a full block of the cache: the one already begun, or the oldest. Returns when that is
    /// done; none if no block is full.
    pub(super) fn fold<N: Nand>(
        &mut self,
        nand: &mut N,
        pool: u8,
        earliest: Nanos,
    ) -> Option<Nanos> {
        let slc = self.slc.as_mut()?;
        slc.folding = Some(slc.next_to_fold()?);
        let all = slc.pages_per_block;
        self.fold_until(nand, pool, all, earliest)
    }

    /// Folds the block already begun, up to a page. Returns when that is done, if it is empty then.
    fn fold_until<N: Nand>(
        &mut self,
        nand: &mut N,
        pool: u8,
        until: u32,
        earliest: Nanos,
    ) -> Option<Nanos> {
        let mut folding = self.slc.as_ref()?.folding?;
        while let Some(part) = folding.take_part(until) {
            let read = self.read_out(nand, folding.block, part, OperationReason::Fold, earliest);
            self.look_ahead(folding.block, folding.next);
            let safe = self.put_folded(nand, pool, earliest);
            folding.safe = folding.safe.max(read).max(safe);
        }
        let slc = self.slc.as_mut()?;
        if !folding.is_done() {
            slc.folding = Some(folding);
            return None;
        }
        slc.folding = None;
        slc.free.push_back(folding.block);
        Some(nand.erase(folding.block, OperationReason::Fold, folding.safe))
    }

    /// Puts the pages in `moving` where the host's would go without a cache. Returns when they
    /// are safe.
    fn put_folded<N: Nand>(&mut self, nand: &mut N, pool: u8, earliest: Nanos) -> Nanos {
        let moving = std::mem::take(&mut self.moving);
        let frontier = self.pools[pool].host;
        let mut safe = Nanos::ZERO;
        let mut left = &moving[..];
        while !left.is_empty() {
            while self.frontiers[frontier].is_full() {
                self.advance(nand, frontier, pool, earliest);
            }
            let room = self.frontiers[frontier].room() as usize;
            let (now, later) = left.split_at(room.min(left.len()));
            let Some(first) = self.frontiers[frontier].take(count(now.len())) else { break };
            safe = safe.max(self.put_moving_at(nand, first, now, OperationReason::Fold));
            self.collect_a_part(nand, count(now.len()), earliest);
            left = later;
        }
        self.moving = moving;
        safe
    }
}

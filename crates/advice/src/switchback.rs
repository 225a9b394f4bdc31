//! What stretches of a running machine's time tell: the ratio of totals, by the order in which the
//! treatments were in force, which was drawn.
//!
//! A run is judged after certain numbers of blocks only, each time at its share of the error, so
//! that it may end at any of them. Where a few blocks have most of all, nothing is said about the
//! total.

use ssdlab_plan::live::LOOKS;
use ssdlab_stats::{Interval, Switchback, even_blocks};

use super::CONFIDENCE;
use super::judgement::{ClaimEstimate, EstimatedValue, OpenReason};

/// The fewest blocks of a verdict.
const FEWEST_BLOCKS: usize = LOOKS[0] as usize;

/// The error of the statement that treatments change what is asked of the machine: as small as
/// twelve blocks allow.
const CHANGED: f64 = 0.002;

/// The ratio of two treatments of a running machine.
#[derive(Debug, Clone)]
pub(super) struct LiveRatio {
    found: Switchback,
    /// The number of blocks.
    pub blocks: usize,
    /// The number of blocks that had too much, and their share of the total.
    uneven: Option<(usize, f64)>,
}

impl LiveRatio {
    /// The ratio of the totals of both sides by block. What was asked of the machine, where it is
    /// known, is taken out; whether blocks are even is told by themselves, as other drives may have
    /// been asked. `None` if there is nothing in any stretch.
    pub fn of(found: &[(f64, f64)], asked: Option<&[(f64, f64)]>) -> Option<Self> {
        let in_block = |(own, other): &(f64, f64)| own + other;
        let of_blocks: Vec<f64> = found.iter().map(in_block).collect();
        let is_kept = even_blocks(&of_blocks);
        let only = |blocks: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let kept = blocks.iter().zip(&is_kept).filter(|(_, kept)| **kept);
            kept.map(|(block, _)| *block).collect()
        };
        let (kept, asked) = (only(found), asked.map(only));
        // Taking out what a treatment itself changes would take out its effect. If it only seems to
        // change it, leaving it in would make the same chance an effect.
        let is_changed = |asked: &[(f64, f64)]| {
            let of = Switchback::of(asked, None);
            of.is_some_and(|of| looks() * of.p_differs() < CHANGED)
        };
        let asked = asked.filter(|asked| !is_changed(asked));
        let dropped = found.len() - kept.len();
        let all: f64 = of_blocks.iter().sum();
        let of_dropped = of_blocks.iter().zip(&is_kept).filter(|(_, kept)| !**kept);
        let of_dropped: f64 = of_dropped.map(|(of_block, _)| of_block).sum();
        Some(Self {
            // Of rare events only stretches without any are even.
            found: Switchback::of(&kept, asked.as_deref())
                .or_else(|| Switchback::of(found, None))?,
            blocks: found.len(),
            uneven: (dropped > 0).then(|| (dropped, of_dropped / all)),
        })
    }

    pub fn ratio(&self) -> f64 {
        self.found.ratio()
    }

    /// Its interval, of 95 % over all looks; `None` if an end is infinite or there are few blocks.
    pub fn interval(&self) -> Option<Interval> {
        let interval = self.found.interval(1.0 - (1.0 - CONFIDENCE) / looks());
        (self.blocks >= FEWEST_BLOCKS && interval.hi.is_finite()).then_some(interval)
    }

    /// The two-sided p-value over all looks; `None` where there is nothing to say about the total.
    pub fn p_differs(&self) -> Option<f64> {
        let is_told = self.blocks >= FEWEST_BLOCKS && self.uneven.is_none();
        is_told.then(|| (looks() * self.found.p_differs()).min(1.0))
    }

    /// The p-values over all looks of lying above and below a bound.
    pub fn p_above_and_below(&self, bound: f64) -> (f64, f64) {
        let (above, below) = self.found.p_above_and_below(bound);
        ((looks() * above).min(1.0), (looks() * below).min(1.0))
    }

    pub fn estimate(&self) -> ClaimEstimate {
        let interval = self.interval().map(Into::into);
        let found = EstimatedValue::Ratio { ratio: self.ratio(), interval };
        ClaimEstimate { found, n: self.blocks, across_hosts: None, p: None }
    }

    /// Why no verdict follows from it.
    pub fn why_open(&self) -> Option<OpenReason> {
        if self.blocks < FEWEST_BLOCKS {
            let missing = u32::try_from(FEWEST_BLOCKS - self.blocks).ok();
            let why = format!("{} blocks, and a verdict takes {FEWEST_BLOCKS}", self.blocks);
            return Some(OpenReason::Reason(why, missing));
        }
        let (dropped, share) = self.uneven?;
        let kept = self.blocks - dropped;
        Some(OpenReason::from(format!(
            "cannot tell about the total: {dropped} of {} blocks have {:.0} % of it; the ratio is \
             that of the other {kept}",
            self.blocks,
            100.0 * share
        )))
    }
}

/// The number of times that a run is judged.
fn looks() -> f64 {
    f64::from(u32::try_from(LOOKS.len()).expect("there are three"))
}

/// The number of blocks, of those that are whole, that a run is judged by: as many as at its last
/// look, or all before the first.
pub(super) fn looked_at(whole: usize) -> usize {
    let looks = LOOKS.into_iter().map(|look| look as usize);
    looks.rev().find(|look| *look <= whole).unwrap_or(whole)
}

#[cfg(test)]
mod tests;

//! Defines how the write amplification of greedy collection settles, window by window.
//!
//! The drive is the distribution of its blocks over their numbers of valid pages, without chance:
//! the limit of infinitely many blocks (the mean field of Van Houdt 2013, here in time and not at
//! rest). It is stepped through short stretches of uniform random host writes; the results are
//! within 0.03 % of those of ever shorter steps. The steady state it ends in is
//! [`page_mapped::greedy`](super::page_mapped::greedy).

use super::argument::{assert_block, assert_fraction};

/// The length of a window, in host page writes per U.
///
/// Element k of a result, counted from 0, covers the writes from k to k + 1 windows; so the figure
/// "at 2.5 U", for the window that ends there, is element 24.
pub const WINDOW: f64 = 0.1;

/// Steps per window for blocks of up to 256 pages; more of both keeps the ratio.
const STEPS: u32 = 200;

/// The amplification in each of the first `windows` windows after a sequential fill.
///
/// All U pages are mapped and lie in full blocks; the T - U spare pages are erased.
///
/// `spare_factor` lies strictly between 0 and 1, `pages_per_block` is at least 1.
pub fn after_fill(spare_factor: f64, pages_per_block: u32, windows: usize) -> Vec<f64> {
    amplifications(spare_factor, pages_per_block, windows, spare_factor)
}

/// The amplification in each of the first `windows` windows after everything was discarded.
///
/// All T pages are erased and none of the U is mapped. The writes go to all U pages alike, and
/// the pages not yet written serve as spare: the rise to the steady state takes many times U.
///
/// `spare_factor` lies strictly between 0 and 1, `pages_per_block` is at least 1.
pub fn after_purge(spare_factor: f64, pages_per_block: u32, windows: usize) -> Vec<f64> {
    amplifications(spare_factor, pages_per_block, windows, 1.0)
}

/// The amplification per window; a share `erased` of the blocks starts erased, the others full.
fn amplifications(
    spare_factor: f64,
    pages_per_block: u32,
    windows: usize,
    erased: f64,
) -> Vec<f64> {
    assert_fraction("the spare factor", spare_factor);
    assert_block(pages_per_block);
    let steps = STEPS * pages_per_block.div_ceil(256);
    let writes_per_page = WINDOW / f64::from(steps);
    let host_writes = writes_per_page * (1.0 - spare_factor);
    let mut blocks = Blocks::new(pages_per_block, erased);
    // Half a step ahead, so that the pages of a step are placed in the middle of its overwrites;
    // that takes away most of what the step's length adds to the error.
    blocks.invalidate(writes_per_page / 2.0);
    let mut step = || {
        let copied = blocks.write(host_writes);
        blocks.invalidate(writes_per_page);
        copied
    };
    let mut window = || (0..steps).map(|_| step()).sum::<f64>();
    (0..windows).map(|_| 1.0 + window() / (host_writes * f64::from(steps))).collect()
}

/// Shares of all blocks, by state; together they make 1.
///
/// The one block that is being written has no share, so every block is either erased or has been
/// written in full.
struct Blocks {
    /// The share with a given number of valid pages, from 0 to b.
    with_valid: Vec<f64>,
    /// The share that is erased.
    erased: f64,
    /// b.
    pages: u32,
}

impl Blocks {
    fn new(pages: u32, erased: f64) -> Self {
        let mut with_valid = vec![0.0; pages as usize + 1];
        with_valid[pages as usize] = 1.0 - erased;
        Self { with_valid, erased, pages }
    }

    /// Overwrites every mapped page `writes_per_page` times in the mean, which must be below 1 / b.
    ///
    /// Each valid page is lost independently. The number lost in a block is binomial; more than
    /// two are left out, in such a way that mean and variance stay exact. The variance matters:
    /// the collector lives on the blocks that have lost the most.
    fn invalidate(&mut self, writes_per_page: f64) {
        let lost = -(-writes_per_page).exp_m1();
        let mut valid = 0.0;
        // Rising, so that what falls to a lower level is not taken again in the same pass.
        for level in 1..self.with_valid.len() {
            valid += 1.0;
            let others = (valid - 1.0) * lost;
            let one = self.with_valid[level] * valid * lost * (1.0 - others);
            let two = self.with_valid[level] * valid * lost * others / 2.0;
            self.with_valid[level] -= one + two;
            self.with_valid[level - 1] += one;
            if level >= 2 {
                self.with_valid[level - 2] += two;
            }
        }
    }

    /// Writes `host_writes` pages, making room as needed; returns the pages copied.
    ///
    /// Both are in units of T. Erased blocks are used first. A collected block with v valid pages
    /// leaves room for b - v host pages, and together these make a new full block.
    fn write(&mut self, host_writes: f64) -> f64 {
        let mut full = self.erased.min(host_writes);
        self.erased -= full;
        let mut remaining = host_writes - full;
        let mut copied = 0.0;
        for (level, share) in (0..self.pages).zip(&mut self.with_valid) {
            if remaining <= 0.0 {
                break;
            }
            let valid = f64::from(level) / f64::from(self.pages);
            let collected = share.min(remaining / (1.0 - valid));
            *share -= collected;
            full += collected;
            copied += collected * valid;
            remaining -= collected * (1.0 - valid);
        }
        self.with_valid[self.pages as usize] += full;
        copied
    }
}

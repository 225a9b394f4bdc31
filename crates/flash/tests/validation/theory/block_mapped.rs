//! Defines the cost of writing to early drives, which map whole blocks.
//!
//! To change a page of a block means to write the block anew, unless the change can wait in a log
//! block. `log_share`, the phi of the formulae, is the number of log blocks per data block.

use super::argument::{assert_block, assert_fraction};

/// What a host page write costs in the steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The write amplification.
    pub amplification: f64,
    /// The blocks erased per host page write.
    pub erases: f64,
}

/// Block mapping without a log, written in runs of pages that follow each other in one block.
///
/// Each run of k pages copies the rest of its block and erases the old one: b / k pages and 1 / k
/// erases per page. Random writes of one page cost b; a whole block in order costs exactly 1.
///
/// `run` goes from 1 to `pages_per_block`.
pub fn block_mapped(pages_per_block: u32, run: u32) -> Cost {
    assert!(
        (1..=pages_per_block).contains(&run),
        "a run must have 1 to {pages_per_block} pages, but has {run}"
    );
    let run = f64::from(run);
    Cost { amplification: f64::from(pages_per_block) / run, erases: 1.0 / run }
}

/// BAST: a log block belongs to one data block, and the oldest log block makes way for a new one.
///
/// Kim, Kim, Noh, Min & Cho 2002, "A space-efficient flash translation layer for `CompactFlash`
/// systems", IEEE Transactions on Consumer Electronics 48. Under uniform random one-page writes a
/// page's data block has a log block with probability phi; otherwise a merge copies b pages and
/// erases the data and the log block: 1 + b (1 - phi) and 2 (1 - phi). Log blocks that fill up
/// before they are evicted are neglected.
///
/// `pages_per_block` is at least 1, `log_share` lies strictly between 0 and 1.
pub fn bast(pages_per_block: u32, log_share: f64) -> Cost {
    assert_block(pages_per_block);
    assert_fraction("the share of log blocks", log_share);
    let merges = 1.0 - log_share;
    Cost { amplification: 1.0 + f64::from(pages_per_block) * merges, erases: 2.0 * merges }
}

/// FAST: every log block takes writes to any data block, and the oldest is emptied by merges.
///
/// Lee, Park, Chung, Lee, Park & Song 2007, "A log buffer-based flash translation layer using
/// fully-associative sector translation", ACM Transactions on Embedded Computing Systems 6. Under
/// uniform random one-page writes to N data blocks, a data block waits N writes for its first page
/// in the log, which takes phi b N more to come to its end; the merge then takes along all its
/// other pages. So there are 1 / (1 + phi b) merges per write, each of b copies and an erase, and
/// 1 / b erases of log blocks.
///
/// This neglects that a page may be written again while it is in the log, and so is too high: by
/// 0.5 % for phi = 0.03 and by 2 % for phi = 0.3 (b = 32). [`fast_with_rewrites`] is not.
///
/// `pages_per_block` is at least 1, `log_share` lies strictly between 0 and 1.
pub fn fast(pages_per_block: u32, log_share: f64) -> Cost {
    fast_with_wait(pages_per_block, log_share, 1.0)
}

/// FAST as in [`fast`], where a page that is written again in the log no longer causes a merge.
///
/// A page's stay in the log lasts phi of its mean time between writes, so it ends in a merge with
/// the probability c = e^-phi only. Of the b pages of a data block, each writes its first entry
/// that lasts at the rate c / (b N) to begin with; the chance that none has, a time s N after the
/// last merge, is (1 - c s / b)^b up to s = phi b, and falls at a rate that tends to 1 / N
/// beyond, as c e^phi = 1. Its integral takes the place of the wait of N writes.
///
/// `pages_per_block` is at least 1, `log_share` lies strictly between 0 and 1. Page-by-page
/// simulations agree within 0.1 %, up to phi = 0.3. They need many blocks: as the log is emptied by
/// whole blocks, pages leave it half a block early, which is a share 1 / (2 phi N) of their stay.
pub fn fast_with_rewrites(pages_per_block: u32, log_share: f64) -> Cost {
    let block = f64::from(pages_per_block);
    let lasting = (-log_share).exp();
    let none_yet = 1.0 - lasting * log_share;
    let within = (1.0 - none_yet.powf(block + 1.0)) * block / ((block + 1.0) * lasting);
    let beyond = none_yet.powf(block);
    fast_with_wait(pages_per_block, log_share, within + beyond)
}

/// FAST when a data block waits `wait` N writes, after a merge, for the entry that causes another.
fn fast_with_wait(pages_per_block: u32, log_share: f64, wait: f64) -> Cost {
    assert_block(pages_per_block);
    assert_fraction("the share of log blocks", log_share);
    let block = f64::from(pages_per_block);
    let merges = 1.0 / (wait + log_share * block);
    Cost { amplification: 1.0 + block * merges, erases: merges + 1.0 / block }
}

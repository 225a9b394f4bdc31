//! Defines the write amplification when some pages are written more often than others.
//!
//! A share of the writes, `hot_writes`, goes to a share of the pages, `hot_pages`; within each of
//! the two classes writes are uniform. Mixing the classes in one block makes the drive copy cold
//! pages over and over; keeping them apart lets each have the spare capacity it needs.

use super::argument::assert_fraction;
use super::{page_mapped, root};

/// Collection in the order of writing, hot and cold data mixed at one frontier.
///
/// A(tau) tau = alpha, where tau is the age at collection in host writes per U, alpha = T / U, and
/// A(tau) = sum of f l / (1 - e^(-l tau)) over the classes is the amplification; f is a class's
/// share of the pages and l its writes per page relative to the mean (Desnoyers 2014, "Analytic
/// models of SSD write performance", ACM Transactions on Storage 10).
///
/// All arguments lie strictly between 0 and 1.
pub fn fifo_hot_cold(spare_factor: f64, hot_writes: f64, hot_pages: f64) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    assert_fraction("the hot share of the writes", hot_writes);
    assert_fraction("the hot share of the pages", hot_pages);
    let alpha = 1.0 / (1.0 - spare_factor);
    let amplification = |tau: f64| {
        let class = |writes: f64, pages: f64| writes / -(-tau * writes / pages).exp_m1();
        class(hot_writes, hot_pages) + class(1.0 - hot_writes, 1.0 - hot_pages)
    };
    // The amplification is at least 1, so tau is at most alpha; at tau = 0 the product is 1.
    let tau = root::of_falling(0.0, alpha, |tau| alpha - amplification(tau) * tau);
    alpha / tau
}

/// Greedy collection with a frontier, and blocks, for each of the two classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separated {
    /// The amplification over all writes.
    pub amplification: f64,
    /// The hot class's share of the T - U spare pages.
    pub hot_share_of_spare: f64,
    /// The amplification of the writes to hot pages.
    pub hot: f64,
    /// The amplification of the writes to cold pages.
    pub cold: f64,
}

/// The two classes kept apart, with the spare pages split so that the fewest pages are copied.
///
/// Each class is then a drive of its own under uniform writes (Desnoyers 2014), here with
/// [`page_mapped::greedy`] at finite b, which is piecewise linear in the spare pages: where several
/// splits are equally good, the result is one of them. A collector may find a worse split, not a
/// better one.
///
/// `spare_factor`, `hot_writes` and `hot_pages` lie strictly between 0 and 1; `pages_per_block` is
/// at least 1.
pub fn separated(
    spare_factor: f64,
    pages_per_block: u32,
    hot_writes: f64,
    hot_pages: f64,
) -> Separated {
    assert_fraction("the hot share of the writes", hot_writes);
    assert_fraction("the hot share of the pages", hot_pages);
    let best = root::of_minimum(0.0, 1.0, |share| {
        split(spare_factor, pages_per_block, hot_writes, hot_pages, share).amplification
    });
    split(spare_factor, pages_per_block, hot_writes, hot_pages, best)
}

/// The two classes kept apart, with a given split of the spare pages.
///
/// As [`separated`]; `hot_share_of_spare` lies strictly between 0 and 1.
pub fn split(
    spare_factor: f64,
    pages_per_block: u32,
    hot_writes: f64,
    hot_pages: f64,
    hot_share_of_spare: f64,
) -> Separated {
    let class = |pages: f64, share_of_spare: f64| {
        let spare = spare_factor * share_of_spare;
        page_mapped::greedy(spare / (spare + (1.0 - spare_factor) * pages), pages_per_block)
    };
    let hot = class(hot_pages, hot_share_of_spare);
    let cold = class(1.0 - hot_pages, 1.0 - hot_share_of_spare);
    let amplification = hot_writes * hot + (1.0 - hot_writes) * cold;
    Separated { amplification, hot_share_of_spare, hot, cold }
}

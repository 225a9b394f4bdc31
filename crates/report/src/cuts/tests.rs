use ssdlab_advice::{Proportion, Quantiles};

use super::{proportion, quantiles};
use crate::number;

#[test]
fn what_was_never_seen_is_a_bound() {
    let never = Proportion { count: 0, of: 1000, interval: [0.0, 0.003_682] };
    assert_eq!(proportion(Some(never), ""), "less than 0.37 %");
    let often = Proportion { count: 25, of: 1000, interval: [0.016_2, 0.036_7] };
    assert_eq!(proportion(Some(often), ""), "2.5 %\n1.62 to 3.67 %");
}

#[test]
fn a_spread_has_three_lines() {
    let of = Quantiles { p50: 0, p99: 10_000, max: 2_000_000 };
    assert_eq!(quantiles(Some(of), number::bytes).lines().count(), 3);
    assert_eq!(quantiles(None, number::bytes), "");
}

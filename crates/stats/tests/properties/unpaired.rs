//! The symmetries of a ratio without pairs.

use proptest::prelude::*;
use ssdlab_stats::UnpairedRatio;

use super::{agree, value};

fn side() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(value(), 2..12)
}

fn estimate(treatment: &[f64], baseline: &[f64]) -> UnpairedRatio {
    UnpairedRatio::of(treatment, baseline).expect("every generated value is above 0")
}

proptest! {
    #[test]
    fn exchanging_the_sides_inverts_everything(one in side(), other in side()) {
        let (forth, back) = (estimate(&one, &other), estimate(&other, &one));
        prop_assert!(agree(forth.ratio().ln(), -back.ratio().ln(), 12));
        let (there, here) = (forth.interval(0.95).unwrap(), back.interval(0.95).unwrap());
        prop_assert!(agree(there.lo.ln(), -here.hi.ln(), 9));
        prop_assert!(agree(there.hi.ln(), -here.lo.ln(), 9));
        prop_assert!(agree(forth.p_differs().unwrap(), back.p_differs().unwrap(), 9));
    }

    #[test]
    fn a_common_unit_cancels_and_order_does_not_matter(
        one in side(),
        other in side(),
        unit in value(),
    ) {
        let plain = estimate(&one, &other);
        let scaled = |values: &[f64]| values.iter().rev().map(|v| v * unit).collect::<Vec<_>>();
        let scaled = estimate(&scaled(&one), &scaled(&other));
        prop_assert!(agree(plain.ratio().ln(), scaled.ratio().ln(), 11));
        prop_assert!(agree(plain.p_differs().unwrap(), scaled.p_differs().unwrap(), 6));
    }

    #[test]
    fn the_interval_and_the_test_tell_the_same_story(one in side(), other in side()) {
        let estimate = estimate(&one, &other);
        let p = estimate.p_differs().unwrap();
        prop_assume!((1e-6..1.0 - 1e-6).contains(&p));
        // The interval at just that error ends at 1.
        let interval = estimate.interval(1.0 - p).unwrap();
        let nearest = if estimate.ratio() < 1.0 { interval.hi } else { interval.lo };
        prop_assert!(agree(nearest.ln(), 0.0, 6));
    }
}

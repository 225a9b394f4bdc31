//! Holm's adjustment against statsmodels and by hand.

use super::assert_within;
use ssdlab_stats::holm;

#[track_caller]
fn assert_adjusts(raw: &[f64], expected: &[f64]) {
    let adjusted = holm(raw);
    assert_eq!(adjusted.len(), expected.len());
    for (actual, expected) in adjusted.iter().zip(expected) {
        assert_within(*actual, *expected, 1e-12);
    }
}

/// `statsmodels.stats.multitest.multipletests(p, method="holm")[1]`
#[test]
fn agrees_with_statsmodels() {
    assert_adjusts(
        &[0.010, 0.031, 0.0004, 0.031, 0.62, 0.0027, 0.2, 0.049],
        &[0.06, 0.155, 0.0032, 0.155, 0.62, 0.0189, 0.4, 0.155],
    );
}

/// By hand: 4 · 0.005, 3 · 0.01, 2 · 0.03, and 1 · 0.04 raised to the value before it.
#[test]
fn agrees_with_a_calculation_by_hand() {
    assert_adjusts(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
}

#[test]
fn stops_at_one_and_accepts_nothing() {
    assert_adjusts(&[0.6, 1.0, 0.0], &[1.0, 1.0, 0.0]);
    assert_adjusts(&[], &[]);
}

//! Against tables of the ranks that bound a median (W. J. Conover, "Practical nonparametric
//! statistics", 1999, 3.2), and against counting.

use super::quantile_interval;
use crate::Interval;

fn ranks(number: u32, share: f64, confidence: f64) -> (f64, f64) {
    let sorted: Vec<f64> = (1..=number).map(f64::from).collect();
    let Interval { lo, hi } = quantile_interval(&sorted, share, confidence);
    (lo, hi)
}

#[test]
fn the_ranks_of_a_median_are_those_of_the_tables() {
    for (number, lo, hi) in [(6, 1.0, 6.0), (10, 2.0, 9.0), (20, 6.0, 15.0), (100, 40.0, 61.0)] {
        assert_eq!(ranks(number, 0.5, 0.95), (lo, hi), "of {number}");
    }
}

#[test]
fn too_few_values_leave_an_end_open() {
    assert_eq!(ranks(0, 0.5, 0.95), (f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!(ranks(5, 0.5, 0.95), (f64::NEG_INFINITY, f64::INFINITY));
    // 0.99^298 > 0.05 >= 0.99^299.
    let upper = |number| Some(ranks(number, 0.99, 0.9).1).filter(|rank| rank.is_finite());
    assert_eq!((upper(298), upper(299)), (None, Some(299.0)));
}

#[test]
fn equal_values_have_a_point_for_an_interval() {
    let Interval { lo, hi } = quantile_interval(&[0.0; 20], 0.5, 0.95);
    assert_eq!((lo, hi), (0.0, 0.0));
}

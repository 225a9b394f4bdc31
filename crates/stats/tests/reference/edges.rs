//! What happens where the formulas end: too few data, no spread, values without a logarithm.

use ssdlab_stats::{
    Drift, DriftSample, Interval, LogRatio, Resamples, StatsError, Summary, runs_to_separate,
};

use super::{assert_close, assert_within, throughput};

#[test]
fn summaries_of_little_leave_out_what_they_cannot_say() {
    assert_eq!(Summary::of(&[]), None);
    assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
    let single = Summary::of(&[4.0]).expect("there is a sample");
    assert_eq!((single.sd, single.cv), (None, None));
    let negative = Summary::of(&[-1.0, -3.0]).expect("there are samples");
    assert_close(negative.cv.expect("n is 2"), 0.5_f64.sqrt());
    let zero_mean = Summary::of(&[-1.0, 1.0]).expect("there are samples");
    assert!(zero_mean.sd.is_some() && zero_mean.cv.is_none());
}

#[test]
fn pairs_that_cannot_be_compared_are_named() {
    let lengths = LogRatio::paired(&[1.0, 2.0], &[1.0]);
    assert_eq!(lengths, Err(StatsError::Lengths { treatment: 2, baseline: 1 }));
    assert_eq!(LogRatio::paired(&[], &[]), Err(StatsError::Empty));
    for value in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(LogRatio::paired(&[1.0, value], &[1.0, 1.0]).is_err());
    }
    let zero = LogRatio::paired(&[1.0, 1.0], &[1.0, 0.0]).expect_err("0 has no logarithm");
    assert_eq!(zero.to_string(), "baseline value 1 is 0, which is not a finite number above 0");
}

#[test]
fn one_pair_gives_a_ratio_and_no_uncertainty() {
    let single = LogRatio::paired(&[3.0], &[2.0]).expect("both are above 0");
    assert_close(single.ratio(), 1.5);
    assert_eq!(single.sd_log(), None);
    assert_eq!(single.interval(0.95), None);
    assert_eq!(single.relative_half_width(0.95), None);
    assert_eq!((single.p_above(1.0), single.p_below(1.0)), (None, None));
}

#[test]
fn two_pairs_are_too_few_to_resample() {
    let two = LogRatio::paired(&[3.0, 4.0], &[2.0, 3.0]).expect("all are above 0");
    assert!(two.interval(0.95).is_some());
    assert_eq!(two.bca(&Resamples::new(2, 1000, 1), 0.95), None);
}

/// All six ratios are 3, though 0.3 / 0.1 and 0.9 / 0.3 are not 3 to the last bit.
#[test]
fn identical_pairs_are_all_on_one_side() {
    let tripled =
        LogRatio::paired(&[3.0, 0.3, 0.9, 6.0, 3.0, 3.0], &[1.0, 0.1, 0.3, 2.0, 1.0, 1.0])
            .expect("all are above 0");
    assert_eq!(tripled.sd_log(), Some(0.0));
    let point = Interval { lo: tripled.ratio(), hi: tripled.ratio() };
    assert_eq!(tripled.interval(0.95), Some(point));
    assert_eq!(tripled.bca(&Resamples::new(6, 1000, 1), 0.95), Some(point));
    let (one_side, other) = (1.0 / 64.0, 63.0 / 64.0);
    for (bound, above, below) in [(2.9, one_side, other), (3.0, 0.5, 0.5), (3.1, other, one_side)] {
        assert_eq!(tripled.p_above(bound), Some(above));
        assert_eq!(tripled.p_below(bound), Some(below));
    }
}

#[test]
fn five_identical_pairs_are_too_few_to_conclude_from() {
    let five = LogRatio::paired(&[7.0; 5], &[6.0; 5]).expect("all are above 0");
    assert_eq!((five.sd_log(), five.interval(0.95)), (Some(0.0), None));
    assert_eq!((five.p_above(1.0), five.p_below(1.0), five.p_differs()), (None, None, None));
    assert_eq!(five.relative_half_width(0.05), None);
    assert_eq!(five.bca(&Resamples::new(5, 1000, 1), 0.95), None);
}

/// 0.99 / 0.9 is 1.1 but for the last bit, whichever side of the bound that bit falls on.
#[test]
fn a_bound_met_but_for_rounding_is_met() {
    let tenth_more = LogRatio::paired(&[0.99; 6], &[0.9; 6]).expect("all are above 0");
    assert_eq!(tenth_more.p_above(1.1), Some(0.5));
    assert_eq!(tenth_more.p_below(1.1), Some(0.5));
    assert_eq!(runs_to_separate(tenth_more.mean_log(), 0.0, 1.1, 0.05), None);
}

#[test]
fn ratios_beyond_the_range_of_f64_still_have_a_logarithm() {
    let huge = LogRatio::paired(&[1e300], &[1e-300]).expect("both are above 0");
    assert_close(huge.mean_log(), 600.0 * std::f64::consts::LN_10);
}

fn run(treatments: usize, values: &[f64]) -> Vec<DriftSample> {
    (0..)
        .zip(values)
        .map(|(position, &value)| DriftSample {
            treatment: position as usize % treatments,
            position,
            value,
        })
        .collect()
}

#[test]
fn drift_needs_a_degree_of_freedom_and_a_treatment_at_two_positions() {
    assert_eq!(Drift::of(&[]), Ok(None));
    assert_eq!(Drift::of(&run(2, &[1.0, 2.0, 1.1])), Ok(None));
    assert!(Drift::of(&run(2, &[1.0, 2.0, 1.1, 2.1])).is_ok_and(|drift| drift.is_some()));
    let still = [1.0, 1.1, 1.2].map(|value| DriftSample { treatment: 0, position: 5, value });
    assert_eq!(Drift::of(&still), Ok(None));
    let error = Drift::of(&run(1, &[1.0, -2.0])).expect_err("-2 has no logarithm");
    assert_eq!(error.to_string(), "trial value 1 is -2, which is not a finite number above 0");
}

#[test]
fn drift_without_residuals_is_certain_and_without_slope_is_none() {
    // 0.3 / 0.1 stands for a metric that is computed from counts and always 3.
    let values = [3.0, 7.0, 3.0, 7.0, 0.3 / 0.1, 7.0, 0.3 / 0.1, 7.0];
    let level = Drift::of(&run(2, &values)).expect("all are above 0");
    let level = level.expect("there are 5 degrees of freedom");
    assert_within(level.over_span, 0.0, 0.0);
    assert_within(level.p, 1.0, 0.0);

    let doubling = Drift::of(&run(1, &[1.0, 2.0, 4.0, 8.0])).expect("all are above 0");
    let doubling = doubling.expect("there are 2 degrees of freedom");
    assert_close(doubling.over_span, 7.0);
    assert!(doubling.p < 1e-12);
}

#[test]
#[should_panic(expected = "the confidence must lie strictly between 0 and 1, but is 95")]
fn a_confidence_in_percent_is_refused() {
    let _ = throughput().interval(95.0);
}

#[test]
#[should_panic(expected = "the bound must be a finite number above 0, but is -0.05")]
fn a_bound_given_as_a_change_is_refused() {
    let _ = throughput().p_below(-0.05);
}

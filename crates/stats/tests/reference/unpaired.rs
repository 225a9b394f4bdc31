//! The unpaired ratio against R and against the textbook's formulas.

use super::{SLEEP_DRUG_1, SLEEP_DRUG_2, assert_within};
use ssdlab_stats::{StatsError, UnpairedRatio};

/// R prints for `t.test(extra ~ group, data = sleep)`, an example of its manual: p-value = 0.07939,
/// 95 percent confidence interval -3.3654832 0.2054832, means 0.75 and 2.33.
#[test]
fn agrees_with_r_on_students_sleep_data() {
    let exp = |hours: [f64; 10]| hours.map(f64::exp);
    let estimate = UnpairedRatio::of(&exp(SLEEP_DRUG_1), &exp(SLEEP_DRUG_2))
        .expect("exponentials are above 0");
    let interval = estimate.interval(0.95).expect("n is 10");
    assert_within(estimate.ratio().ln(), -1.58, 1e-12);
    assert_within(interval.lo.ln(), -3.365_483_2, 5e-8);
    assert_within(interval.hi.ln(), 0.205_483_2, 5e-8);
    assert_within(estimate.p_differs().expect("n is 10"), 0.079_39, 5e-6);
}

/// With one side known exactly, Welch's interval is Student's of the other: t(2) is 4.302 653 at
/// 95 %, and the standard deviation of 0, 1 and 2 is 1.
#[test]
fn one_side_without_spread_leaves_students_interval_of_the_other() {
    let logs = [0.0, 1.0, 2.0_f64];
    let estimate = UnpairedRatio::of(&logs.map(f64::exp), &[1.0; 7]).expect("all are above 0");
    let interval = estimate.interval(0.95).expect("n is 3 and 7");
    assert_within(interval.hi.ln() - 1.0, 4.302_653 / 3.0_f64.sqrt(), 1e-6);
}

#[test]
fn what_cannot_be_estimated_is_refused() {
    assert_eq!(UnpairedRatio::of(&[], &[1.0]), Err(StatsError::Empty));
    assert_eq!(
        UnpairedRatio::of(&[1.0, 2.0], &[1.0, 0.0]),
        Err(StatsError::NotPositive { what: "baseline", index: 1, value: 0.0 })
    );
    let once = UnpairedRatio::of(&[2.0], &[1.0, 1.1]).expect("all are above 0");
    assert_eq!((once.interval(0.95), once.p_differs()), (None, None));
}

/// Counts that are the same in every run: 2 of the 1716 ways to divide 7 + 6 values part them so.
#[test]
fn no_spread_gives_a_point() {
    let equal = UnpairedRatio::of(&[4096.0; 7], &[4096.0; 6]).expect("all are above 0");
    assert_eq!(equal.p_differs(), Some(1.0));
    let apart = UnpairedRatio::of(&[8192.0; 7], &[4096.0; 6]).expect("all are above 0");
    assert_within(apart.p_differs().expect("n is 7 and 6"), 2.0 / 1716.0, 1e-15);
    let interval = apart.interval(0.95).expect("n is 7 and 6");
    assert_eq!(interval.lo.to_bits(), interval.hi.to_bits());
}

#[test]
fn five_equal_values_are_too_few_to_conclude_from() {
    let few = UnpairedRatio::of(&[8192.0; 7], &[4096.0; 5]).expect("all are above 0");
    assert_eq!((few.interval(0.95), few.p_differs()), (None, None));
    let spread = UnpairedRatio::of(&[8192.0, 8000.0], &[4096.0; 2]).expect("all are above 0");
    assert!(spread.interval(0.95).is_some() && spread.p_differs().is_some());
}

//! The ratio and its t interval against scipy, R and Fisher.

use super::{
    DARWIN, SLEEP_DRUG_1, SLEEP_DRUG_2, assert_close, assert_within, from_logs, throughput,
};
use ssdlab_stats::LogRatio;

/// With `l = np.log(np.array(TREATMENT) / np.array(BASELINE))`: `l.mean()`, `l.std(ddof=1)`, and
/// `st.gmean(TREATMENT) / st.gmean(BASELINE)`.
#[test]
fn estimate_agrees_with_numpy() {
    let estimate = throughput();
    assert_eq!(estimate.n(), 6);
    assert_close(estimate.mean_log(), 0.056_295_305_034_053_24);
    assert_close(estimate.sd_log().expect("n is 6"), 0.016_305_283_128_180_35);
    assert_close(estimate.ratio(), 1.057_910_043_775_098);
}

/// `r = st.ttest_1samp(l, 0).confidence_interval(c)`: `np.exp(r.low)`, `np.exp(r.high)`, and
/// `np.expm1((r.high - r.low) / 2)`, with `l` as above.
#[test]
fn interval_agrees_with_scipy() {
    for (confidence, lo, hi, relative) in [
        (0.90, 1.043_814_640_253_691_2, 1.072_195_787_988_011_5, 0.013_503_741_926_804_88),
        (0.95, 1.039_961_777_215_775_4, 1.076_168_071_980_994, 0.017_258_582_913_858_63),
        (0.99, 1.029_893_013_102_071_4, 1.086_689_244_885_001_8, 0.027_203_826_336_339_64),
    ] {
        let estimate = throughput();
        let interval = estimate.interval(confidence).expect("n is 6");
        assert_close(interval.lo, lo);
        assert_close(interval.hi, hi);
        let actual = estimate.relative_half_width(confidence);
        assert_close(actual.expect("n is 6"), relative);
    }
}

/// R prints for `with(sleep, t.test(extra[group == 1], extra[group == 2], paired = TRUE))`: mean
/// difference -1.58, 95 percent confidence interval -2.4598858 -0.7001142.
#[test]
fn interval_agrees_with_r_on_students_sleep_data() {
    let exp = |hours: [f64; 10]| hours.map(f64::exp);
    let estimate =
        LogRatio::paired(&exp(SLEEP_DRUG_1), &exp(SLEEP_DRUG_2)).expect("exponentials are above 0");
    let interval = estimate.interval(0.95).expect("n is 10");
    assert_within(estimate.mean_log(), -1.58, 1e-12);
    assert_within(interval.lo.ln(), -2.459_885_8, 5e-8);
    assert_within(interval.hi.ln(), -0.700_114_2, 5e-8);
}

/// Fisher 1935, chapter III: mean difference 20.933 eighths of an inch with t = 2.148, just above
/// 2.145, the tabled 5 % value for 14 degrees of freedom.
#[test]
fn interval_agrees_with_fisher_on_darwins_maize() {
    let estimate = from_logs(&DARWIN.map(|eighths| eighths / 100.0));
    assert_within(100.0 * estimate.mean_log(), 20.933, 5e-4);
    let standard_error = estimate.sd_log().expect("n is 15") / 15.0_f64.sqrt();
    assert_within(estimate.mean_log() / standard_error, 2.148, 5e-4);
    let half = estimate.relative_half_width(0.95).expect("n is 15").ln_1p();
    assert_within(half / standard_error, 2.145, 5e-4);
}

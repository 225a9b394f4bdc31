//! The tests against a bound against scipy and R.

use super::{SLEEP_DRUG_1, SLEEP_DRUG_2, assert_close, assert_within, from_logs, throughput};

/// `st.ttest_1samp(l, np.log(bound), alternative="greater").pvalue` and `"less"`, with
/// `l = np.log(np.array(TREATMENT) / np.array(BASELINE))`.
#[test]
fn p_values_agree_with_scipy() {
    for (bound, above, below) in [
        (1.00, 0.000_189_768_021_029_092_98, 0.999_810_231_978_970_9),
        (1.05, 0.155_361_053_569_655_8, 0.844_638_946_430_344_2),
        (1.10, 0.998_975_169_990_000_6, 0.001_024_830_009_999_391_5),
    ] {
        assert_close(throughput().p_above(bound).expect("n is 6"), above);
        assert_close(throughput().p_below(bound).expect("n is 6"), below);
    }
}

/// R prints p-value = 0.002833 for
/// `with(sleep, t.test(extra[group == 1], extra[group == 2], paired = TRUE))`, which is two-sided.
#[test]
fn p_value_agrees_with_r_on_students_sleep_data() {
    let gained: Vec<f64> =
        SLEEP_DRUG_2.iter().zip(SLEEP_DRUG_1).map(|(second, first)| second - first).collect();
    let p = from_logs(&gained).p_above(1.0).expect("n is 10");
    assert_within(2.0 * p, 0.002_833, 5e-7);
}

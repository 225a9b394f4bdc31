//! Checks the crate against published results and against independent implementations.
//!
//! Unless a test names a publication, its expected values were printed by Python 3.11 with numpy
//! 2.4.6, scipy 1.17.1 and statsmodels 0.15.0, by the call the test gives, with
//! `import numpy as np, scipy.stats as st`.

mod bca;
mod bound;
mod drift;
mod edges;
mod heterogeneity;
mod holm;
mod log_ratio;
mod runs;
mod summary;
mod unpaired;

use ssdlab_stats::LogRatio;

/// Throughputs of six blocks in MiB/s, as an experiment would give them.
const TREATMENT: [f64; 6] = [412.6, 405.1, 398.7, 421.9, 409.3, 415.0];
const BASELINE: [f64; 6] = [389.2, 391.4, 372.8, 401.7, 377.5, 395.6];

/// Student's sleep data (1908): hours of sleep gained under two drugs by ten patients.
const SLEEP_DRUG_1: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
const SLEEP_DRUG_2: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

/// Darwin's maize (Fisher 1935, "The Design of Experiments", chapter III): height of the crossed
/// plant less that of the self-fertilised one, in eighths of an inch.
const DARWIN: [f64; 15] =
    [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];

/// The estimate whose log-ratios are `logs`: published data are differences, not ratios.
fn from_logs(logs: &[f64]) -> LogRatio {
    let treatment: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    LogRatio::paired(&treatment, &vec![1.0; logs.len()]).expect("an exponential is above 0")
}

/// The estimate from the throughputs above.
fn throughput() -> LogRatio {
    LogRatio::paired(&TREATMENT, &BASELINE).expect("throughputs are above 0")
}

#[track_caller]
fn assert_within(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not within {tolerance} of {expected}"
    );
}

/// Asserts agreement to ten digits, which the distribution functions of both sides keep.
#[track_caller]
fn assert_close(actual: f64, expected: f64) {
    assert_within(actual, expected, 1e-10 * expected.abs());
}

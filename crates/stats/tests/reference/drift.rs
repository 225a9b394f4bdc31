//! The drift against NIST's certified regression and against a design matrix in numpy.

use ssdlab_stats::{Drift, DriftSample};

use super::{assert_close, assert_within};

/// NIST `StRD` "Norris", linear regression of (first) on (second): B1 = 1.00211681802045 with
/// standard deviation 0.000429796848199937, and 34 degrees of freedom.
const NORRIS: [(f64, f64); 36] = [
    (0.1, 0.2),
    (338.8, 337.4),
    (118.1, 118.2),
    (888.0, 884.6),
    (9.2, 10.1),
    (228.1, 226.5),
    (668.5, 666.3),
    (998.5, 996.3),
    (449.1, 448.6),
    (778.9, 777.0),
    (559.2, 558.2),
    (0.3, 0.4),
    (0.1, 0.6),
    (778.1, 775.5),
    (668.8, 666.9),
    (339.3, 338.0),
    (448.9, 447.5),
    (10.8, 11.6),
    (557.7, 556.0),
    (228.3, 228.1),
    (998.0, 995.8),
    (888.8, 887.6),
    (119.6, 120.2),
    (0.3, 0.3),
    (0.6, 0.3),
    (557.6, 556.8),
    (339.3, 339.1),
    (888.0, 887.2),
    (998.5, 999.0),
    (778.9, 779.0),
    (10.2, 11.1),
    (117.6, 118.3),
    (228.9, 229.2),
    (668.4, 669.1),
    (449.2, 448.9),
    (0.2, 0.5),
];

fn trials(treatments: &[usize], positions: &[u32], values: &[f64]) -> Vec<DriftSample> {
    treatments
        .iter()
        .zip(positions)
        .zip(values)
        .map(|((&treatment, &position), &value)| DriftSample { treatment, position, value })
        .collect()
}

/// With one treatment the analysis of covariance is a plain regression. Norris' x are tenths, so
/// ten times x is a position; y / 1000 keeps the exponential in range.
#[test]
fn agrees_with_nist_norris() {
    let trials = NORRIS.map(|(y, x)| DriftSample {
        treatment: 0,
        position: format!("{:.0}", 10.0 * x).parse().expect("a whole number"),
        value: (y / 1000.0).exp(),
    });
    let drift = Drift::of(&trials)
        .expect("exponentials are above 0")
        .expect("there are 34 degrees of freedom");
    assert_close(drift.over_span.ln_1p(), 1.002_116_818_020_45 * 0.998_8);
    // 2 * st.t.sf(1.00211681802045 / 0.000429796848199937, 34); a tail this far out
    // magnifies the last digits of the certified values.
    assert_within(drift.p / 4.654_040_852_473_124e-90, 1.0, 1e-8);
}

/// Expected values by least squares on a design matrix, not by centring:
///
/// ```python
/// groups = [(treatment == k).astype(float) for k in sorted(set(treatment))]
/// X = np.column_stack(groups + [position])
/// beta = np.linalg.lstsq(X, np.log(value))[0]
/// df = len(value) - X.shape[1]
/// se = np.sqrt(((np.log(value) - X @ beta)**2).sum() / df * np.linalg.inv(X.T @ X)[-1, -1])
/// np.expm1(beta[-1] * np.ptp(position)), 2 * st.t.sf(abs(beta[-1] / se), df)
/// ```
#[track_caller]
fn assert_agrees_with_lstsq(trials: &[DriftSample], [over_span, p]: [f64; 2]) {
    let drift =
        Drift::of(trials).expect("the values are above 0").expect("there are enough trials");
    assert_close(drift.over_span, over_span);
    assert_close(drift.p, p);
}

#[test]
fn agrees_with_lstsq_on_a_drifting_run_in_blocks() {
    let trials = trials(
        &[2, 0, 1, 1, 2, 0, 0, 1, 2, 2, 1, 0, 1, 0, 2],
        &(0..15).collect::<Vec<_>>(),
        &[
            331.2, 205.4, 148.9, 151.3, 326.0, 207.7, 203.1, 147.2, 322.8, 319.9, 146.5, 200.3,
            147.8, 199.6, 318.4,
        ],
    );
    assert_agrees_with_lstsq(&trials, [-0.036_848_423_635_913_35, 0.000_194_299_799_186_330_5]);
}

/// A treatment that occurs once costs its own degree of freedom and tells nothing about the slope.
#[test]
fn agrees_with_lstsq_on_unequal_counts_and_gaps() {
    let trials = trials(
        &[7, 3, 3, 7, 9, 3, 7, 3],
        &[10, 11, 14, 17, 20, 21, 25, 30],
        &[5.1, 8.9, 9.3, 4.8, 2.2, 9.0, 5.2, 9.4],
    );
    assert_agrees_with_lstsq(&trials, [0.035_694_977_047_458_63, 0.398_813_824_663_007_47]);
}

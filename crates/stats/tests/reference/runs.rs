//! The numbers of runs against a search over every n in scipy.

use ssdlab_stats::runs_to_separate;

/// The first n in `range(2, 10001)` with
/// `st.t.ppf(1 - alpha / 2, n - 1) * sd / math.sqrt(n) <= abs(mean - math.log(bound))`.
#[test]
fn runs_to_separate_agree_with_scipy() {
    for (mean, sd, bound, alpha, runs) in [
        (0.05, 0.02, 1.0, 0.05, Some(3)),
        (0.05, 0.08, 1.0, 0.05, Some(13)),
        (-0.1, 0.2, 0.95, 0.01, Some(116)),
        (0.001, 0.05, 1.0, 0.05, Some(9607)),
        (0.0005, 0.05, 1.0, 0.05, None),
        (0.05, 0.08, 1.05, 0.05, None),
        (0.05, 0.0, 1.0, 0.05, Some(2)),
    ] {
        assert_eq!(runs_to_separate(mean, sd, bound, alpha), runs);
    }
}

#[test]
fn no_number_of_runs_separates_a_mean_from_itself() {
    assert_eq!(runs_to_separate(0.0, 0.1, 1.0, 0.05), None);
    assert_eq!(runs_to_separate(0.0, 0.0, 1.0, 0.05), None);
}

//! What must not change the drift: the treatments' levels, the unit, and the order of the rows.

use proptest::prelude::*;
use ssdlab_stats::{Drift, DriftSample};

use super::agree;

/// A factor near 1: a change by orders of magnitude would leave no digits of 1 + change to compare.
fn value() -> impl Strategy<Value = f64> {
    (-0.5..0.5).prop_map(f64::exp)
}

/// Enough trials of three treatments, at distinct positions, for a degree of freedom to be left.
fn trials() -> impl Strategy<Value = Vec<DriftSample>> {
    prop::collection::vec((0..3_usize, value()), 5..30).prop_map(|rows| {
        (0..)
            .zip(rows)
            .map(|(position, (treatment, value))| DriftSample { treatment, position, value })
            .collect()
    })
}

fn drift(trials: &[DriftSample]) -> Drift {
    Drift::of(trials)
        .expect("every generated value is above 0")
        .expect("five trials of three treatments leave a degree of freedom")
}

fn drifts_agree(a: Drift, b: Drift) -> bool {
    agree(a.over_span, b.over_span, 9) && agree(a.p, b.p, 6)
}

proptest! {
    #[test]
    fn the_level_of_a_treatment_does_not_matter(
        trials in trials(),
        factors in [value(), value(), value()],
    ) {
        let scaled: Vec<DriftSample> = trials
            .iter()
            .map(|trial| DriftSample { value: trial.value * factors[trial.treatment], ..*trial })
            .collect();
        prop_assert!(drifts_agree(drift(&trials), drift(&scaled)));
    }

    #[test]
    fn the_order_of_the_rows_and_the_first_position_do_not_matter(
        trials in trials(),
        start in 0..1000_u32,
    ) {
        let moved: Vec<DriftSample> = trials
            .iter()
            .rev()
            .map(|trial| DriftSample { position: trial.position + start, ..*trial })
            .collect();
        prop_assert!(drifts_agree(drift(&trials), drift(&moved)));
    }

    #[test]
    fn running_backwards_inverts_the_drift(trials in trials()) {
        let last = trials[trials.len() - 1].position;
        let mirrored: Vec<DriftSample> = trials
            .iter()
            .map(|trial| DriftSample { position: last - trial.position, ..*trial })
            .collect();
        let (forth, back) = (drift(&trials), drift(&mirrored));
        prop_assert!(agree(forth.over_span.ln_1p(), -back.over_span.ln_1p(), 9));
        prop_assert!(agree(forth.p, back.p, 6));
    }
}

//! The symmetries of a ratio estimated on the logarithmic scale.

use proptest::prelude::*;
use ssdlab_stats::{Interval, LogRatio, Resamples};

use super::{agree, covers, pairs, value};

fn estimate(treatment: &[f64], baseline: &[f64]) -> LogRatio {
    LogRatio::paired(treatment, baseline).expect("every generated value is above 0")
}

/// Whether two intervals of a ratio agree on the logarithmic scale.
fn intervals_agree(a: Interval, b: Interval) -> bool {
    agree(a.lo.ln(), b.lo.ln(), 9) && agree(a.hi.ln(), b.hi.ln(), 9)
}

fn inverted(interval: Interval) -> Interval {
    Interval { lo: interval.hi.recip(), hi: interval.lo.recip() }
}

proptest! {
    #[test]
    fn exchanging_the_sides_inverts_everything(
        (treatment, baseline) in pairs(3..12),
        bound in value(),
        seed: u64,
    ) {
        let forth = estimate(&treatment, &baseline);
        let back = estimate(&baseline, &treatment);
        prop_assert!(agree(forth.mean_log(), -back.mean_log(), 12));
        prop_assert!(intervals_agree(
            forth.interval(0.95).unwrap(),
            inverted(back.interval(0.95).unwrap()),
        ));
        let resamples = Resamples::new(treatment.len(), 999, seed);
        prop_assert!(intervals_agree(
            forth.bca(&resamples, 0.9).unwrap(),
            inverted(back.bca(&resamples, 0.9).unwrap()),
        ));
        let above = forth.p_above(bound).unwrap();
        prop_assert!(agree(above, back.p_below(bound.recip()).unwrap(), 9));
        prop_assert!(agree(above + forth.p_below(bound).unwrap(), 1.0, 9));
    }

    #[test]
    fn a_common_unit_cancels(
        (treatment, baseline) in pairs(3..12),
        unit in value(),
        seed: u64,
    ) {
        let scaled = |values: &[f64]| values.iter().map(|value| value * unit).collect::<Vec<_>>();
        let plain = estimate(&treatment, &baseline);
        let other = estimate(&scaled(&treatment), &scaled(&baseline));
        prop_assert!(agree(plain.mean_log(), other.mean_log(), 12));
        prop_assert!(intervals_agree(
            plain.interval(0.95).unwrap(),
            other.interval(0.95).unwrap(),
        ));
        let resamples = Resamples::new(treatment.len(), 999, seed);
        prop_assert!(intervals_agree(
            plain.bca(&resamples, 0.9).unwrap(),
            other.bca(&resamples, 0.9).unwrap(),
        ));
    }

    #[test]
    fn the_interval_and_the_tests_tell_the_same_story(
        (treatment, baseline) in pairs(2..12),
        confidence in 0.5..0.999,
    ) {
        let estimate = estimate(&treatment, &baseline);
        let interval = estimate.interval(confidence).unwrap();
        prop_assert!(covers(interval, estimate.ratio()));
        // The lower end is the bound that the one-sided test just rejects at half the level.
        prop_assume!(interval.lo.is_normal() && interval.hi.is_normal());
        let tail = (1.0 - confidence) / 2.0;
        prop_assert!(agree(estimate.p_above(interval.lo).unwrap(), tail, 9));
        prop_assert!(agree(estimate.p_below(interval.hi).unwrap(), tail, 9));
        let relative = estimate.relative_half_width(confidence).unwrap();
        prop_assert!(agree((estimate.ratio() * (1.0 + relative)).ln(), interval.hi.ln(), 9));
    }

    #[test]
    fn the_bootstrap_stays_within_the_data(
        (treatment, baseline) in pairs(3..12),
        confidence in 0.5..0.999,
        seed: u64,
    ) {
        let resamples = Resamples::new(treatment.len(), 999, seed);
        let interval = estimate(&treatment, &baseline).bca(&resamples, confidence).unwrap();
        let ratios = || treatment.iter().zip(&baseline).map(|(t, b)| t / b);
        let least = ratios().fold(f64::INFINITY, f64::min);
        let greatest = ratios().fold(0.0, f64::max);
        prop_assert!(interval.lo <= interval.hi);
        prop_assert!(interval.lo >= least * (1.0 - 1e-12));
        prop_assert!(interval.hi <= greatest * (1.0 + 1e-12));
    }
}

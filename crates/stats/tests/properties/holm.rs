//! What Holm's adjustment promises about any set of p-values.

use proptest::prelude::*;
use ssdlab_stats::holm;

fn p_values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..=1.0, 0..20)
}

proptest! {
    #[test]
    fn lies_between_the_raw_values_and_bonferronis(p in p_values()) {
        let adjusted = holm(&p);
        prop_assert_eq!(adjusted.len(), p.len());
        let tests = f64::from(u32::try_from(p.len()).unwrap());
        for (raw, adjusted) in p.iter().zip(adjusted) {
            prop_assert!(*raw <= adjusted && adjusted <= (tests * raw).min(1.0));
        }
    }

    #[test]
    fn keeps_the_order_of_the_values(p in p_values()) {
        let adjusted = holm(&p);
        for i in 0..p.len() {
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn does_not_depend_on_the_order_of_the_tests(p in p_values()) {
        let reversed: Vec<f64> = p.iter().rev().copied().collect();
        let mut adjusted = holm(&reversed);
        adjusted.reverse();
        prop_assert_eq!(adjusted, holm(&p));
    }
}

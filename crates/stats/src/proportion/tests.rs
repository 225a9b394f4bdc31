//! Against R 4.2: `binom.test(x, n)$conf.int`, and the rule of three.

use super::clopper_pearson;

#[test]
fn the_interval_is_that_of_binom_test() {
    for (count, number, lo, hi) in [
        (0, 10, 0.0, 0.308_497_1),
        (10, 10, 0.691_502_9, 1.0),
        (1, 10, 0.002_528_579, 0.445_016_1),
        (5, 10, 0.187_086_0, 0.812_914_0),
        (682, 925, 0.707_668_3, 0.765_406_6),
        (0, 1000, 0.0, 0.003_682_084),
    ] {
        let found = clopper_pearson(count, number, 0.95).unwrap();
        let is_near = |found: f64, expected: f64| (found - expected).abs() < 1e-5;
        assert!(is_near(found.lo, lo) && is_near(found.hi, hi), "{count} of {number}: {found:?}");
    }
    assert_eq!(clopper_pearson(0, 0, 0.95), None);
}

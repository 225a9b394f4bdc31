//! Defines the correction of p-values for multiple tests.
//!
//! Of twenty tests at 5 % one succeeds by luck. Holm's procedure keeps the probability of *any*
//! false success at the requested level, however the tests depend on each other, and is never
//! weaker than dividing the level by their number.

/// Adjusts p-values for multiple testing; the result is in the order of `p`.
///
/// Comparing each adjusted value to a level controls the family-wise error rate at that level.
/// With the m values in rising order, the i-th (from 0) becomes the largest of (m - j) · p(j) over
/// j ≤ i, and at most 1 (Holm 1979, "A simple sequentially rejective multiple test procedure",
/// Scandinavian Journal of Statistics 6). An empty slice gives an empty vector.
///
/// # Panics
///
/// Unless every value lies between 0 and 1, ends included.
pub fn holm(p: &[f64]) -> Vec<f64> {
    for value in p {
        assert!(
            (0.0..=1.0).contains(value),
            "a p-value must lie between 0 and 1, but one is {value}"
        );
    }
    let mut rising: Vec<usize> = (0..p.len()).collect();
    rising.sort_by(|&a, &b| p[a].total_cmp(&p[b]));

    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    let mut remaining = crate::moments::count(p.len());
    for index in rising {
        largest = largest.max(remaining * p[index]).min(1.0);
        adjusted[index] = largest;
        remaining -= 1.0;
    }
    adjusted
}

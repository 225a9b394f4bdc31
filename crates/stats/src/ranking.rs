//! Defines a ranking of several treatments that shows which of them cannot be distinguished.
//!
//! Ranking by means alone makes the luckiest the winner. Here every pair is compared, the p-values
//! are adjusted for the number of pairs, and a treatment's place is the remaining range: below all
//! that are shown to be better, above all that are shown to be worse. The ranges hold jointly at
//! the requested level, because they depend only on the pairs' verdicts (Mogstad, Romano, Shaikh
//! and Wilhelm 2024, "Inference for ranks with applications to mobility across neighbourhoods and
//! academic achievement across countries", Review of Economic Studies 91).

use crate::error::assert_fraction;
use crate::{FEWEST_RUNS, LogRatio, StatsError, holm};

/// Treatments in order, the greatest first, with what is known about their places.
#[derive(Debug, Clone, PartialEq)]
pub struct RankEstimate {
    /// Indices of the treatments, by falling geometric mean.
    pub order: Vec<usize>,
    /// For each treatment, in the order they were given, the first and the last place (from 1) that
    /// it may have.
    pub places: Vec<(usize, usize)>,
    /// The largest groups whose members cannot be distinguished, each in the ranking's order; a
    /// treatment may be in several. Two treatments with no group in common are distinguishable.
    pub groups: Vec<Vec<usize>>,
}

impl RankEstimate {
    /// Ranks treatments by their values in common blocks: `values[treatment][block]`.
    ///
    /// Pairs are compared by paired t tests of log-ratios, adjusted by Holm's method for the number
    /// of pairs. With fewer than [`FEWEST_RUNS`] blocks nothing is distinguishable.
    ///
    /// # Errors
    ///
    /// As of [`LogRatio::paired`].
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn of(values: &[Vec<f64>], confidence: f64) -> Result<Self, StatsError> {
        assert_fraction("the confidence", confidence);
        let count = values.len();
        let ones: Vec<Vec<f64>> = values.iter().map(|own| vec![1.0; own.len()]).collect();
        let means = values
            .iter()
            .zip(&ones)
            .map(|(own, ones)| Ok(LogRatio::paired(own, ones)?.mean_log()))
            .collect::<Result<Vec<f64>, StatsError>>()?;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| means[b].total_cmp(&means[a]));

        let mut pairs = Vec::new();
        let mut p = Vec::new();
        for (place, &better) in order.iter().enumerate() {
            for &worse in &order[place + 1..] {
                let ratio = LogRatio::paired(&values[better], &values[worse])?;
                pairs.push((better, worse));
                let p_above = ratio.p_above(1.0).filter(|_| ratio.n() >= FEWEST_RUNS);
                p.push(p_above.map_or(1.0, |p| (2.0 * p).min(1.0)));
            }
        }
        let apart: Vec<(usize, usize)> = pairs
            .into_iter()
            .zip(holm(&p))
            .filter_map(|(pair, p)| (p < 1.0 - confidence).then_some(pair))
            .collect();
        let place = |treatment: usize| {
            let better = apart.iter().filter(|(_, worse)| *worse == treatment).count();
            let worse = apart.iter().filter(|(better, _)| *better == treatment).count();
            (1 + better, count - worse)
        };
        Ok(Self { places: (0..count).map(place).collect(), groups: groups(&order, &apart), order })
    }
}

/// The largest groups without a distinguishable pair: each such pair splits the groups that contain
/// it, and groups within another are dropped (Piepho 2004, "An algorithm for a letter-based
/// representation of all-pairwise comparisons", Journal of Computational and Graphical Statistics
/// 13).
fn groups(order: &[usize], apart: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut groups = vec![order.to_vec()];
    groups.retain(|group| !group.is_empty());
    for (better, worse) in apart {
        let mut split: Vec<Vec<usize>> = Vec::new();
        for group in groups {
            if group.contains(better) && group.contains(worse) {
                for gone in [worse, better] {
                    split.push(group.iter().copied().filter(|member| member != gone).collect());
                }
            } else {
                split.push(group);
            }
        }
        let is_within = |one: &[usize], other: &[usize]| one.iter().all(|m| other.contains(m));
        groups = Vec::new();
        for (index, group) in split.iter().enumerate() {
            let is_absorbed = split.iter().enumerate().any(|(other, larger)| {
                // Of two equal groups the first stays.
                other != index
                    && is_within(group, larger)
                    && (larger.len() > group.len() || other < index)
            });
            if !is_absorbed {
                groups.push(group.clone());
            }
        }
    }
    let place = |member: &usize| order.iter().position(|other| other == member);
    groups.sort_by_key(|group| group.iter().map(place).collect::<Vec<_>>());
    groups
}

#[cfg(test)]
mod tests;

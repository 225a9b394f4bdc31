//! Fits a computer's cost of a basic block to the times of operations and to their counts.

use super::{ChargedCounts, MeasuredCosts};

/// Fits the cost of a block, in ns, to the times of operations, in ns, by minimising the sum of
/// absolute relative errors: an outlying operation distorts it less than least squares. The sum is
/// least at the median of what the operations say a block costs, each weighted by the share that
/// a block has of its time (P. S. Laplace, second supplement to the Théorie analytique des
/// probabilités, 1818).
///
/// All other costs are given, since they can be measured by themselves: fitted to few operations,
/// copying came out as free.
///
/// Returns `None` without operations, or if the given costs exceed the times of most of them.
pub fn fit_block(operations: &[(ChargedCounts, f64)], measured: &MeasuredCosts) -> Option<f64> {
    let mut costs: Vec<(f64, f64)> = operations
        .iter()
        .map(|(of, ns)| ((ns - measured.of(of)) / of.blocks, of.blocks / ns))
        .collect();
    costs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let half = costs.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut weighed = 0.0;
    let (median, _) = costs.into_iter().find(|(_, weight)| {
        weighed += weight;
        weighed >= half
    })?;
    (median > 0.0).then_some(median)
}

#[cfg(test)]
mod tests;

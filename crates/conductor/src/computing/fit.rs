//! Fits a computer's cost of a basic block, a system call and a copied KiB to the times of
//! operations and to their counts of each.

/// How much of each charged item an operation needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counts {
    /// Basic blocks.
    pub blocks: f64,
    /// System calls.
    pub calls: f64,
    /// KiB copied or zeroed.
    pub copied_kib: f64,
    /// KiB whose CRC-32 or CRC-32C was computed.
    pub checksummed_kib: f64,
}

/// The costs of a computer, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fitted {
    /// For a basic block.
    pub block_ns: f64,
    /// For a system call.
    pub call_ns: f64,
    /// For a KiB copied.
    pub copy_ns: f64,
    /// For the CRC-32 of a KiB.
    pub crc32_ns: f64,
}

impl Fitted {
    /// The time of operations with these counts, in ns.
    #[must_use]
    pub fn of(&self, counts: &Counts) -> f64 {
        self.block_ns * counts.blocks
            + self.call_ns * counts.calls
            + self.copy_ns * counts.copied_kib
            + self.crc32_ns * counts.checksummed_kib
    }
}

/// How often the fit is repeated with weights from its residuals.
const ROUNDS: usize = 50;

/// Residuals below this weigh the same.
const SMALL: f64 = 0.01;

/// Fits costs to the times of operations, in ns, by minimising the sum of absolute relative errors:
/// an outlying operation distorts it less than least squares. It is found by iterated least
/// squares, weighted by the residuals of the previous fit (E. J. Schlossmacher, Journal of the
/// American Statistical Association 68, 1973). No cost is negative.
///
/// The cost of a CRC-32 is given, as it can be measured by itself.
///
/// Returns `None` for fewer operations than costs to fit, or if the CRC-32s exceed the times.
#[must_use]
pub fn fit(operations: &[(Counts, f64)], crc32_ns: f64) -> Option<Fitted> {
    if operations.len() < 3 {
        return None;
    }
    let mut rows: Vec<Row> = operations
        .iter()
        .map(|(of, ns)| Row {
            shares: [of.blocks / ns, of.calls / ns, of.copied_kib / ns],
            sum: 1.0 - crc32_ns * of.checksummed_kib / ns,
            weight: 1.0,
        })
        .collect();
    let mut costs = [0.0; 3];
    for _ in 0..ROUNDS {
        costs = solve_without_negative(&rows)?;
        for row in &mut rows {
            row.weight = 1.0 / row.error(&costs).abs().max(SMALL);
        }
    }
    let [block_ns, call_ns, copy_ns] = costs;
    Some(Fitted { block_ns, call_ns, copy_ns, crc32_ns })
}

/// An operation: its counts per ns of its time, and what their costs should add up to, which is the
/// share of its time without CRC-32s.
struct Row {
    shares: [f64; 3],
    sum: f64,
    weight: f64,
}

impl Row {
    /// How far the costs are from adding up to it.
    fn error(&self, costs: &[f64; 3]) -> f64 {
        self.sum - self.shares.iter().zip(costs).map(|(share, cost)| share * cost).sum::<f64>()
    }
}

/// The best of the solutions in which some costs are zero and no other is negative.
fn solve_without_negative(rows: &[Row]) -> Option<[f64; 3]> {
    let error = |costs: &[f64; 3]| -> f64 {
        rows.iter().map(|row| row.weight * row.error(costs).powi(2)).sum()
    };
    let free = (1..8).map(|bits| [0, 1, 2].map(|index| bits >> index & 1 == 1));
    free.filter_map(|is_free| solve(rows, is_free))
        .filter(|costs| costs.iter().all(|cost| *cost >= 0.0))
        .min_by(|one, other| error(one).total_cmp(&error(other)))
}

/// The costs that add up in each row as closely as they can; those that are not free are zero.
/// Gauss-Jordan elimination of the normal equations, with pivots on the diagonal, which suits a
/// symmetric positive matrix.
fn solve(rows: &[Row], is_free: [bool; 3]) -> Option<[f64; 3]> {
    let mut matrix = [[0.0; 4]; 3];
    for Row { shares, sum, weight } in rows {
        for i in 0..3 {
            for j in 0..3 {
                matrix[i][j] += weight * shares[i] * shares[j];
            }
            matrix[i][3] += weight * shares[i] * sum;
        }
    }
    for i in (0..3).filter(|i| !is_free[*i]) {
        matrix[i] = [0.0; 4];
        for row in &mut matrix {
            row[i] = 0.0;
        }
        matrix[i][i] = 1.0;
    }
    for i in 0..3 {
        let pivot = matrix[i][i];
        if pivot.abs() < 1e-12 * matrix[i].iter().fold(f64::MIN_POSITIVE, |a, b| a.max(b.abs())) {
            return None;
        }
        matrix[i] = matrix[i].map(|value| value / pivot);
        for j in (0..3).filter(|j| *j != i) {
            let (factor, pivots) = (matrix[j][i], matrix[i]);
            for (value, pivot) in matrix[j].iter_mut().zip(pivots) {
                *value -= factor * pivot;
            }
        }
    }
    Some(matrix.map(|row| row[3]))
}

#[cfg(test)]
mod tests;

//! Causers with weights, and the split of whole bytes among them by largest remainder.
//!
//! Source: the Hamilton method of apportionment: each gets the whole part of its share, and what
//! is left goes to the largest remainders, one byte each.

use crate::tasks::Causer;

/// Causers with weights above 0, sorted by causer. Nearly always there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CauseShares(Vec<(Causer, u64)>);

impl CauseShares {
    /// One causer of everything.
    pub fn all(causer: Causer) -> Self {
        Self(vec![(causer, 1)])
    }

    /// Whether nobody is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The causers and their weights.
    pub fn iter(&self) -> impl Iterator<Item = (Causer, u64)> {
        self.0.iter().copied()
    }

    pub fn add(&mut self, causer: Causer, weight: u64) {
        if weight == 0 {
            return;
        }
        match self.0.binary_search_by_key(&causer, |(own, _)| *own) {
            Ok(index) => self.0[index].1 = self.0[index].1.saturating_add(weight),
            Err(index) => self.0.insert(index, (causer, weight)),
        }
    }

    /// Adds a weight, divided as these shares are.
    pub fn add_split(&mut self, weight: u64, as_these: &Self) {
        as_these.split(weight, |causer, part| self.add(causer, part));
    }

    /// Adds all of these weights.
    pub fn merge(&mut self, other: &Self) {
        for (causer, weight) in other.iter() {
            self.add(causer, weight);
        }
    }

    /// The causer with the largest weight.
    pub fn largest(&self) -> Option<Causer> {
        self.0.iter().max_by_key(|(_, weight)| *weight).map(|(causer, _)| *causer)
    }

    /// Whether a causer has a weight.
    pub fn has(&self, causer: Causer) -> bool {
        self.0.binary_search_by_key(&causer, |(own, _)| *own).is_ok()
    }

    /// These shares, or others if these are nobody's.
    #[must_use]
    pub fn or(self, others: impl FnOnce() -> Self) -> Self {
        if self.is_empty() { others() } else { self }
    }

    /// Divides a whole number in proportion to the weights; the parts add up to it. With nobody,
    /// nothing is given.
    pub fn split(&self, total: u64, mut give: impl FnMut(Causer, u64)) {
        if let [(causer, _)] = self.0[..] {
            give(causer, total);
            return;
        }
        let sum: u128 = self.0.iter().map(|(_, weight)| u128::from(*weight)).sum();
        if sum == 0 {
            return;
        }
        let product = |weight: u64| u128::from(total) * u128::from(weight);
        let whole = |weight: u64| u64::try_from(product(weight) / sum).unwrap_or(u64::MAX);
        let given: u64 = self.0.iter().map(|(_, weight)| whole(*weight)).sum();
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(product(self.0[*index].1) % sum));
        for (rank, index) in order.into_iter().enumerate() {
            let (causer, weight) = self.0[index];
            let left = u64::from((rank as u64) < total - given);
            give(causer, whole(weight) + left);
        }
    }
}

#[cfg(test)]
mod tests;

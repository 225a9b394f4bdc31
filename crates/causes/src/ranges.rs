//! Disjoint ranges with a value, of which a later one replaces what it covers.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values of ranges; neighbours of the same value are one range.
#[derive(Debug, Clone)]
pub struct RangeMap<T> {
    /// By start: the end, and the value.
    by_start: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for RangeMap<T> {
    fn default() -> Self {
        Self { by_start: BTreeMap::new() }
    }
}

impl<T: Clone + PartialEq> RangeMap<T> {
    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Gives a range a value.
    pub fn put(&mut self, range: Range<u64>, value: T) {
        if range.is_empty() {
            return;
        }
        self.cut(&range);
        let (mut start, mut end) = (range.start, range.end);
        if let Some((before, (until, own))) = self.by_start.range(..start).next_back()
            && *until == start
            && *own == value
        {
            start = *before;
        }
        if let Some((_, (until, own))) = self.by_start.range(end..).next()
            && self.by_start.contains_key(&end)
            && *own == value
        {
            end = *until;
            self.by_start.remove(&range.end);
        }
        self.by_start.insert(start, (end, value));
    }

    /// Removes what a range has, and returns its pieces in order.
    pub fn cut(&mut self, range: &Range<u64>) -> Vec<(Range<u64>, T)> {
        let mut pieces = Vec::new();
        if range.is_empty() {
            return pieces;
        }
        while let Some((start, (end, _))) = self.by_start.range(..range.end).next_back()
            && *end > range.start
        {
            let start = *start;
            let Some((end, value)) = self.by_start.remove(&start) else { break };
            if start < range.start {
                self.by_start.insert(start, (range.start, value.clone()));
            }
            if end > range.end {
                self.by_start.insert(range.end, (end, value.clone()));
            }
            pieces.push((start.max(range.start)..end.min(range.end), value));
        }
        pieces.reverse();
        pieces
    }

    /// What a range has, in order.
    pub fn within(&self, range: &Range<u64>) -> Vec<(Range<u64>, &T)> {
        let overlapping = self.by_start.range(..range.end).rev();
        let overlapping = overlapping.take_while(|(_, (end, _))| *end > range.start);
        let mut found: Vec<_> = overlapping
            .map(|(start, (end, value))| ((*start).max(range.start)..(*end).min(range.end), value))
            .collect();
        found.reverse();
        found
    }

    /// The parts of a range that have no value, in order.
    pub fn gaps(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut at = range.start;
        for (found, _) in self.within(range) {
            if at < found.start {
                gaps.push(at..found.start);
            }
            at = found.end;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        gaps
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.by_start.clear();
    }
}

#[cfg(test)]
mod tests;

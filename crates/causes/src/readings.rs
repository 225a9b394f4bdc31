//! The moments at which the device's counter was read, among the completions.
//!
//! A reading takes some microseconds, during which requests complete, and the kernel reports a
//! completion just before it counts it. So which of the completions around a reading it includes
//! is not known by their times. But between two readings the counter tells the sum, and where it
//! began and ended among the completions follows from that.

use std::collections::BTreeMap;

use crate::ledger::{AttributedWrites, LedgerKey};

/// How long before a reading a completion may have been reported and not counted: a processor of a
/// virtual machine may pause in between.
const SLACK_NS: u64 = 5_000_000;

/// A reading of the counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenReading {
    /// When it began, on the monotonic clock.
    pub began_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
    /// The bytes written so far.
    pub written_bytes: u64,
}

impl WrittenReading {
    fn surely_includes(&self, time_ns: u64) -> bool {
        time_ns.saturating_add(SLACK_NS) < self.began_ns
    }

    fn may_include(&self, time_ns: u64) -> bool {
        time_ns <= self.ended_ns
    }
}

/// What was attributed between two readings, beside the counter's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterBalance {
    /// When the first reading ended.
    pub from_ns: u64,
    /// When the second ended.
    pub to_ns: u64,
    /// The counter's increase.
    pub counter_bytes: u64,
    /// The sum of the rows.
    pub attributed_bytes: u64,
}

impl CounterBalance {
    /// Whether they are equal.
    pub fn is_exact(&self) -> bool {
        self.counter_bytes == self.attributed_bytes
    }
}

/// A completion, divided into its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedWrite {
    pub time_ns: u64,
    pub bytes: u64,
    pub parts: Vec<(LedgerKey, u64)>,
}

impl CompletedWrite {
    fn credit(&self, ledger: &mut AttributedWrites) {
        for (key, bytes) in &self.parts {
            ledger.row(*key).bytes += bytes;
        }
    }
}

/// Matches the completions of a device to the readings of its counter.
#[derive(Debug, Default)]
pub struct CompletionMatcher {
    last: WrittenReading,
    /// Whether it is the first reading, of which it is not known what it includes.
    is_open: bool,
    /// Completions that the first reading may include, until that is known.
    opening: Vec<CompletedWrite>,
    /// Bytes of the completions since the last reading that are credited.
    credited_bytes: u64,
    next: Option<WrittenReading>,
    /// Completions that `next` may include.
    closing: Vec<CompletedWrite>,
    /// Completions after `next`.
    later: Vec<CompletedWrite>,
}

impl CompletionMatcher {
    pub fn begin(&mut self, reading: WrittenReading) {
        (self.last, self.is_open) = (reading, true);
    }

    /// Sets the next reading, which must be known before completions from its time are entered, and
    /// be later than the last by more than a completion may be reported before it is counted.
    pub fn set_next(&mut self, reading: WrittenReading) {
        self.next = Some(reading);
    }

    pub fn enter(&mut self, completion: CompletedWrite, ledger: &mut AttributedWrites) {
        let time_ns = completion.time_ns;
        if self.is_open && self.last.may_include(time_ns) {
            if !self.last.surely_includes(time_ns) {
                self.opening.push(completion);
            }
            return;
        }
        match self.next {
            Some(next) if !next.may_include(time_ns) => self.later.push(completion),
            Some(next) if !next.surely_includes(time_ns) => self.closing.push(completion),
            _ => {
                self.credited_bytes += completion.bytes;
                completion.credit(ledger);
            }
        }
    }

    /// Settles the next reading, once every completion up to its end has been entered: the ledger
    /// then has what it includes, and no more.
    pub fn settle(&mut self, ledger: &mut AttributedWrites) -> Option<CounterBalance> {
        let next = self.next.take()?;
        let counter_bytes = next.written_bytes.wrapping_sub(self.last.written_bytes);
        let (first, end) = self.cuts(counter_bytes);
        let opening = std::mem::take(&mut self.opening);
        let mut closing = std::mem::take(&mut self.closing);
        let behind = closing.split_off(end);
        let mut attributed_bytes = self.credited_bytes;
        for completion in opening[first..].iter().chain(&closing) {
            attributed_bytes += completion.bytes;
            completion.credit(ledger);
        }
        let from_ns = self.last.ended_ns;
        // Its place among the completions is known now.
        self.last = next;
        self.is_open = false;
        self.credited_bytes = 0;
        self.later.splice(0..0, behind);
        Some(CounterBalance { from_ns, to_ns: next.ended_ns, counter_bytes, attributed_bytes })
    }

    /// Credits what came after the reading that was settled.
    pub fn resume(&mut self, ledger: &mut AttributedWrites) {
        for completion in std::mem::take(&mut self.later) {
            self.credited_bytes += completion.bytes;
            completion.credit(ledger);
        }
    }

    /// How many completions of the opening are not included, and how many of the closing are: those
    /// nearest to the times of the readings with which the sum is right, if there are such.
    fn cuts(&self, counter_bytes: u64) -> (usize, usize) {
        let by_time = |completions: &[CompletedWrite], reading_ns: u64| {
            completions.partition_point(|completion| completion.time_ns < reading_ns)
        };
        let next_ns = self.next.map_or(u64::MAX, |next| next.began_ns);
        let first = by_time(&self.opening, self.last.began_ns);
        let end = by_time(&self.closing, next_ns);
        // The sums of the closing's beginnings, each with the length nearest to `end`.
        let mut lengths: BTreeMap<u64, usize> = BTreeMap::new();
        let mut sum = 0;
        for length in 0..=self.closing.len() {
            let nearest = lengths.entry(sum).or_insert(length);
            if length.abs_diff(end) < nearest.abs_diff(end) {
                *nearest = length;
            }
            sum += self.closing.get(length).map_or(0, |completion| completion.bytes);
        }
        let total: u64 = self.opening.iter().map(|completion| completion.bytes).sum();
        let mut before = 0;
        let mut best: Option<(usize, usize, usize)> = None;
        for skipped in 0..=self.opening.len() {
            let needed = counter_bytes.checked_sub(self.credited_bytes + total - before);
            if let Some(length) = needed.and_then(|needed| lengths.get(&needed)) {
                let distance = skipped.abs_diff(first) + length.abs_diff(end);
                if best.is_none_or(|(nearest, ..)| distance < nearest) {
                    best = Some((distance, skipped, *length));
                }
            }
            before += self.opening.get(skipped).map_or(0, |completion| completion.bytes);
        }
        best.map_or((first, end), |(_, skipped, length)| (skipped, length))
    }
}

#[cfg(test)]
mod tests;

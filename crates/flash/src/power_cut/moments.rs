//! Which moments of a log to cut the power at.

use std::collections::BTreeSet;

use super::log::Logged;
use crate::command::Command;
use crate::random::Random;
use crate::units::Nanos;

/// So many moments, in ascending order: marked ones first, then any at which something happened.
pub(super) fn choose(log: &[Logged], marks: &[Nanos], count: usize, seed: u64) -> Vec<Nanos> {
    let times = |logged: &Logged| [Some(logged.submitted), logged.completed];
    let flushes = log.iter().filter(|logged| logged.command == Command::Flush);
    let marked: BTreeSet<Nanos> =
        flushes.flat_map(times).flatten().chain(marks.iter().copied()).collect();
    if marked.len() > count {
        return evenly(&marked.into_iter().collect::<Vec<_>>(), count, seed);
    }
    let all: BTreeSet<Nanos> = log.iter().flat_map(times).flatten().collect();
    let mut others: Vec<Nanos> = all.difference(&marked).copied().collect();
    let mut random = Random::new(seed);
    let mut chosen = marked;
    while chosen.len() < count && !others.is_empty() {
        let place = random.below(u32::try_from(others.len()).unwrap_or(u32::MAX));
        chosen.insert(others.swap_remove(place as usize));
    }
    chosen.into_iter().collect()
}

/// One of each of `count` stretches of equal length.
fn evenly(all: &[Nanos], count: usize, seed: u64) -> Vec<Nanos> {
    let mut random = Random::new(seed);
    let bounds = |part: usize| part * all.len() / count;
    (0..count)
        .map(|part| {
            let (first, end) = (bounds(part), bounds(part + 1));
            let offset = random.below(u32::try_from(end - first).unwrap_or(u32::MAX));
            all[first + offset as usize]
        })
        .collect()
}

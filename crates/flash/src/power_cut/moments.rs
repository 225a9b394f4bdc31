//! Chooses the moments of a log at which to cut the power.

use std::collections::BTreeSet;
use std::ops::Range;

use super::log::LoggedRequest;
use crate::command::Command;
use crate::random::DriveRandom;
use crate::units::Nanos;

/// A number of moments, in ascending order: marked ones first, then any at which something
/// happened.
pub(super) fn choose(
    log: &[LoggedRequest],
    within: &Range<Nanos>,
    marks: &[Nanos],
    count: usize,
    seed: u64,
) -> Vec<Nanos> {
    let times = |logged: &LoggedRequest| [Some(logged.submitted), logged.completed];
    let flushes = log.iter().filter(|logged| logged.command == Command::Flush);
    let marked = flushes.flat_map(times).flatten().chain(marks.iter().copied());
    let marked: BTreeSet<Nanos> = marked.filter(|at| within.contains(at)).collect();
    if marked.len() > count {
        return evenly(&marked.into_iter().collect::<Vec<_>>(), count, seed);
    }
    let all = log.iter().flat_map(times).flatten().filter(|at| within.contains(at));
    let all: BTreeSet<Nanos> = all.collect();
    let mut others: Vec<Nanos> = all.difference(&marked).copied().collect();
    let mut random = DriveRandom::new(seed);
    let mut chosen = marked;
    while chosen.len() < count && !others.is_empty() {
        let place = random.below(u32::try_from(others.len()).unwrap_or(u32::MAX));
        chosen.insert(others.swap_remove(place as usize));
    }
    chosen.into_iter().collect()
}

/// One moment from each of `count` stretches of equal length.
fn evenly(all: &[Nanos], count: usize, seed: u64) -> Vec<Nanos> {
    let mut random = DriveRandom::new(seed);
    let bounds = |part: usize| part * all.len() / count;
    (0..count)
        .map(|part| {
            let (first, end) = (bounds(part), bounds(part + 1));
            let offset = random.below(u32::try_from(end - first).unwrap_or(u32::MAX));
            all[first + offset as usize]
        })
        .collect()
}

/// A number of moments of a range, uniformly distributed.
pub(super) fn at_random(within: &Range<Nanos>, count: usize, seed: u64) -> Vec<Nanos> {
    let mut random = DriveRandom::new(seed);
    let length = within.end.since(within.start).0;
    let moment = |_| {
        // Scaled in integers: the same on every machine.
        let offset = (u128::from(length) * u128::from(random.below(u32::MAX))) >> 32;
        within.start + Nanos(u64::try_from(offset).unwrap_or(length))
    };
    let mut chosen: Vec<Nanos> = (0..count).map(moment).collect();
    chosen.sort_unstable();
    chosen
}

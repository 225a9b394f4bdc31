//! What survives a power cut, on a drive that received the requests of a log.
//!
//! [`PowerCuts`] follows a log and knows at any moment what is safe, what is only in the drive's
//! volatile write cache, and what is under way. A [`PowerCut`] is one such moment, and each seed
//! gives one [`Survivor`] of it: what the drive may hold when it is switched on again. Contents are
//! unknown here: a survivor says which request's data a sector holds.
//!
//! What was acknowledged before a flush that was acknowledged, or was written with forced unit
//! access (FUA), is safe, unless the drive ignores both. All other acknowledged data are in the
//! cache, as far as they fit: it holds lines (a page, or the atomic write unit if that is larger)
//! and, when it is full, writes out the least recently written line. A discard takes a line. On a
//! drive with power-loss protection or without a cache, what is acknowledged is safe. Of the
//! cache's contents, and of requests under way, anything may survive, in any order, subject to two
//! rules:
//!
//! - The data that one request writes into one aligned atomic write unit survive as a whole or not
//!   at all.
//! - The cache holds a unit once: a version that reached the flash includes everything written to
//!   the unit before. So a sector holds its last safe version or a later one.
//!
//! On a drive whose [`PowerFault`](crate::specification::PowerFault) is a lost map, a cut may cost
//! safe data, too: one in eight loses a third of the erase blocks, at random, whose sectors
//! then hold what they did before the log. Which sectors share a block is simplified: those of an
//! aligned range of its size.
//!
//! Idle time makes nothing safe: how soon a drive writes out its cache unasked is not known.

mod cache;
mod cut;
mod log;
mod moments;

pub use cut::{PowerCut, RevertedSectors, SectorContents, Survivor};
pub use log::{LoggedRequest, RequestLogError};

use std::collections::BTreeSet;
use std::ops::Range;

use crate::specification::Specification;
use crate::units::Nanos;
use cache::VolatileCache;

/// The moments of a log at which the power can be cut.
#[derive(Debug, Clone)]
pub struct PowerCuts<'a> {
    log: &'a [LoggedRequest],
    /// The completed requests, by time of completion.
    completions: Vec<(Nanos, usize)>,
    /// A cache at the beginning of the log.
    fresh: VolatileCache,
    cache: VolatileCache,
    now: Nanos,
    submitted: usize,
    completed: usize,
    under_way: BTreeSet<usize>,
}

impl<'a> PowerCuts<'a> {
    /// A drive whose cache is empty when the log begins. Fails if the log contradicts itself.
    pub fn new(drive: &Specification, log: &'a [LoggedRequest]) -> Result<Self, RequestLogError> {
        log::check(log)?;
        let ends = log.iter().enumerate();
        let mut completions: Vec<_> =
            ends.filter_map(|(number, logged)| Some((logged.completed?, number))).collect();
        completions.sort_unstable();
        let cache = VolatileCache::new(drive);
        Ok(Self {
            log,
            completions,
            fresh: cache.clone(),
            cache,
            now: Nanos::ZERO,
            submitted: 0,
            completed: 0,
            under_way: BTreeSet::new(),
        })
    }

    /// Cuts the power, right after everything that happened by then. Fast for moments in ascending
    /// order; an earlier one starts from the beginning of the log.
    pub fn at(&mut self, moment: Nanos) -> PowerCut<'_> {
        if moment < self.now {
            self.cache = self.fresh.clone();
            (self.submitted, self.completed) = (0, 0);
            self.under_way.clear();
        }
        self.now = moment;
        while let Some(logged) = self.log.get(self.submitted)
            && logged.submitted <= moment
        {
            self.under_way.insert(self.submitted);
            self.submitted += 1;
        }
        while let Some((at, number)) = self.completions.get(self.completed)
            && *at <= moment
        {
            self.under_way.remove(number);
            self.cache.complete(self.log, *number);
            self.completed += 1;
        }
        PowerCut::new(self.log, &self.cache, &self.under_way, self.submitted)
    }

    /// Chooses moments of a range, uniformly, in ascending order.
    pub fn at_random(within: &Range<Nanos>, count: usize, seed: u64) -> Vec<Nanos> {
        moments::at_random(within, count, seed)
    }

    /// Chooses moments for cuts from a range, in ascending order: the beginning and the end of
    /// every flush and the `marks`, such as the times at which a program was told that something is
    /// durable, or evenly chosen ones if there are more than `count`; then other moments at which
    /// something happened, at random, up to that number. Between two such moments nothing changes,
    /// so a log may have fewer.
    pub fn moments(
        &self,
        within: &Range<Nanos>,
        marks: &[Nanos],
        count: usize,
        seed: u64,
    ) -> Vec<Nanos> {
        moments::choose(self.log, within, marks, count, seed)
    }
}

#[cfg(test)]
mod tests;

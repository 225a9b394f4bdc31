//! Shares of a run: parts of its trials that machines perform independently of each other.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{LabKind, Schedule, Setup};

use super::{ConductorError, Executor, RunState};

/// A share of a run, `NUMBER/COUNT`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunShare {
    pub number: u32,
    pub count: u32,
}

impl FromStr for RunShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let parse = |(number, count): (&str, &str)| {
            Some(Self { number: number.parse().ok()?, count: count.parse().ok()? })
        };
        parts
            .and_then(parse)
            .filter(|share| (1..=share.count).contains(&share.number))
            .ok_or_else(|| "expected NUMBER/COUNT, such as 1/8 to 8/8".to_owned())
    }
}

impl fmt::Display for RunShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

/// The division of a run's trials into shares. It depends on the schedule alone.
///
/// Where trials need machines with different features, each share is for one kind of machine. On a
/// wall clock, trials of a block share a machine if they may: only pairs within one count.
#[derive(Debug)]
pub struct Division {
    pub count: u32,
    /// The features of each kind of machine.
    kinds: Vec<BTreeSet<String>>,
    /// The kind of machine of each treatment.
    kind_of: Vec<u32>,
    is_by_block: bool,
}

impl Division {
    /// The division into so many shares; at least one for each kind of machine.
    pub fn new(schedule: &Schedule, count: u32) -> Self {
        let all = (0..schedule.treatments.len()).map(|treatment| schedule.features(treatment));
        let all: Vec<BTreeSet<String>> = all.collect();
        let kinds: Vec<_> = BTreeSet::from_iter(all.clone()).into_iter().collect();
        let kind =
            |of| (0_u32..).zip(&kinds).find_map(|(kind, known)| (known == of).then_some(kind));
        let kind_of = all.iter().filter_map(kind).collect();
        let least = u32::try_from(kinds.len()).unwrap_or(u32::MAX).max(1);
        let is_by_block = !schedule.is_in(LabKind::Virtual);
        Self { count: count.max(least), kinds, kind_of, is_by_block }
    }

    /// The number of the share that a trial belongs to.
    pub fn share_of(&self, trial: &Trial) -> u32 {
        let kinds = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        let kind = self.kind_of[trial.treatment];
        // The shares of a kind are every `kinds`th, from this one.
        let of_kind = (self.count - kind).div_ceil(kinds);
        let unit = if self.is_by_block { trial.block } else { trial.position };
        1 + kind + unit % of_kind * kinds
    }

    /// Groups shares by the features that their machines need.
    pub fn by_features<'a>(
        &'a self,
        shares: &'a BTreeSet<u32>,
    ) -> impl Iterator<Item = (&'a BTreeSet<String>, Vec<u32>)> {
        let kinds = self.kinds.len();
        self.kinds.iter().enumerate().filter_map(move |(kind, features)| {
            let is_own = |share: &&u32| (**share as usize - 1) % kinds == kind;
            let own: Vec<u32> = shares.iter().filter(is_own).copied().collect();
            (!own.is_empty()).then_some((features, own))
        })
    }
}

/// An executor that performs one share of a run.
pub struct OwnShare<'a> {
    /// Where its trials take place.
    pub executor: &'a mut dyn Executor,
    pub division: &'a Division,
    pub number: u32,
}

impl Executor for OwnShare<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        self.executor.missing(setup)
    }

    fn takes(&self, trial: &Trial) -> bool {
        self.division.share_of(trial) == self.number
    }

    /// What follows the others' trials is decided from their records, once they are merged.
    fn perform(
        &mut self,
        trials: &[Trial],
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError> {
        let own: Vec<Trial> = trials.iter().filter(|trial| self.takes(trial)).copied().collect();
        Ok(self.executor.perform(&own, run_state)? && own.len() == trials.len())
    }
}

#[cfg(test)]
mod tests;

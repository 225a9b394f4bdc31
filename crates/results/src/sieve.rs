//! Which of the records in a file belong to its run.

use std::collections::BTreeSet;

use ssdlab_plan::Schedule;

use super::record::Record;

/// Drops records of other runs and repeated records of a trial, as they are read.
pub(super) struct Sieve<'a> {
    schedule: &'a Schedule,
    known: BTreeSet<(u32, usize)>,
    foreign: usize,
    repeated: usize,
}

impl<'a> Sieve<'a> {
    pub fn new(schedule: &'a Schedule) -> Self {
        Self { schedule, known: BTreeSet::new(), foreign: 0, repeated: 0 }
    }

    pub fn keeps(&mut self, record: &Record) -> bool {
        let treatment = self.schedule.treatments.get(record.trial.treatment);
        if treatment.is_none_or(|treatment| treatment.levels != record.levels) {
            self.foreign += 1;
            return false;
        }
        let is_new = self.known.insert((record.trial.block, record.trial.treatment));
        self.repeated += usize::from(!is_new);
        is_new
    }

    /// Warnings about what it dropped.
    pub fn warnings(self) -> impl Iterator<Item = String> {
        let says = |count: usize, what: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("records.jsonl: {count} record{plural} of {what}: ignored"))
        };
        let foreign = says(self.foreign, "treatments that this run does not have");
        let repeated = says(self.repeated, "trials that were recorded earlier");
        foreign.into_iter().chain(repeated)
    }
}

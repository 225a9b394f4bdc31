//! Which records of a run count.

use std::collections::BTreeSet;

use ssdlab_plan::Schedule;
use ssdlab_results::{Record, TrialStatus};

/// The records that an answer is made of: those of trials that succeeded. If a trial was recorded
/// twice, the first record counts.
pub(super) fn counted(records: &[Record]) -> impl Iterator<Item = &Record> {
    let mut known = BTreeSet::new();
    let succeeded = records.iter().filter(|record| record.status == TrialStatus::Ok);
    succeeded.filter(move |record| known.insert((record.trial.treatment, record.trial.block)))
}

/// Of a treatment's records those of the last step that has any: trials that selected a treatment
/// are biased in its favour.
pub(super) fn of_last_step<'a>(schedule: &Schedule, records: Vec<&'a Record>) -> Vec<&'a Record> {
    let step_of = |record: &Record| schedule.step_of(record.trial.block);
    let last = records.iter().copied().map(step_of).max();
    records.into_iter().filter(|record| Some(step_of(record)) == last).collect()
}

//! An element of a submitted array, and which of its records are still to come.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use ssdlab_host::{program, regular_file};
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{ATTEMPTS, AttemptId, Record, output_of};
use ssdlab_slurm::{JobId, attempt};

use super::Desk;

/// An element of an array.
#[derive(Debug)]
pub(super) struct Element {
    pub array: String,
    pub job: JobId,
    pub index: usize,
    pub trials: Vec<Trial>,
    /// How it ended, in Slurm's words, and where.
    pub ended: String,
    /// Since when it has been gone from the queue.
    pub gone: Option<Instant>,
}

impl Element {
    pub fn new(array: &str, job: JobId, index: usize, trials: &[Trial]) -> Self {
        Self {
            array: array.to_owned(),
            job,
            index,
            trials: trials.to_vec(),
            ended: String::new(),
            gone: None,
        }
    }

    /// Whether each trial has a record, or a refusal by the node.
    pub fn is_answered(&self, desk: &Desk<'_>, refusals: &[Record]) -> bool {
        let own = AttemptId::read(&attempt(self.job, self.index));
        // A restarted element is another attempt, named after the first.
        let is_own =
            |record: &&Record| record.attempt.as_ref().is_some_and(|of| Some(of.id.first()) == own);
        let refused: BTreeSet<usize> =
            refusals.iter().filter(is_own).map(|record| record.trial.treatment).collect();
        let is_missing = |trial: &Trial| desk.is_open(trial) && !refused.contains(&trial.treatment);
        !self.trials.iter().any(is_missing)
    }

    /// The last output of its program.
    pub fn last_words(&self, run: &Path) -> String {
        let id = attempt(self.job, self.index);
        match regular_file::read_end_of_own(&output_of(run, &id)) {
            Err(_) => format!(
                "{id}: {}its output is not in {}: do nodes see this folder, under this name?",
                self.ended,
                run.join(ATTEMPTS).display()
            ),
            Ok(text) => format!("{id}: {}{}", self.ended, program::tail(&text)),
        }
    }
}

//! The executor of trials on other machines: they perform shares, whose records are merged here.

use std::collections::BTreeSet;

use ssdlab_host::{program, regular_file};
use ssdlab_plan::Setup;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{ATTEMPTS, Record};

use super::share::{Division, RunShare};
use super::slurm::{Array, Slurm, output_name};
use super::{ConductorError, Executor, RunEvent, RunState};

/// Other machines.
pub struct RemoteExecutor<'a> {
    pub division: &'a Division,
    /// What starts its shares there, and waits for them; none if somebody else does.
    pub slurm: Option<Slurm<'a>>,
    /// The shares with trials that have no record, once nothing more happens here.
    pub open: BTreeSet<u32>,
}

impl Executor for RemoteExecutor<'_> {
    /// Only the other machines know.
    fn missing(&self, _: &Setup) -> Option<String> {
        None
    }

    fn perform(
        &mut self,
        trials: &[Trial],
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError> {
        settle_refusals(trials, run_state)?;
        self.look(trials, run_state);
        if self.open.is_empty() {
            return Ok(true);
        }
        let Some(slurm) = &self.slurm else { return Ok(false) };
        let mut scripts = Vec::new();
        for (features, shares) in self.division.by_features(&self.open) {
            // Jobs of one name wait for each other, but these need not.
            let words = ["ssdlab".to_owned(), run_state.run.id()].into_iter();
            let name = words.chain(features.iter().cloned()).collect::<Vec<_>>().join("-");
            let (shares, count) = (&shares[..], self.division.count);
            let array = Array { name: &name, features, shares, count };
            scripts.push(slurm.write(run_state.run.folder(), &array)?);
            run_state.observer.notice(RunEvent::Submitted { shares: shares.len(), name: &name });
        }
        if !slurm.run(&scripts)? {
            return Ok(false);
        }
        run_state.merge()?;
        settle_refusals(trials, run_state)?;
        self.look(trials, run_state);
        if self.open.is_empty() { Ok(true) } else { Err(self.lost(trials, run_state)) }
    }
}

impl RemoteExecutor<'_> {
    fn look(&mut self, trials: &[Trial], run_state: &RunState<'_>) {
        let open = trials.iter().filter(|trial| run_state.is_open(trial));
        self.open = open.map(|trial| self.division.share_of(trial)).collect();
    }

    /// An error for trials that have no record although their shares have ended.
    fn lost(&self, trials: &[Trial], run_state: &RunState<'_>) -> ConductorError {
        let count = trials.iter().filter(|trial| run_state.is_open(trial)).count();
        let refused = run_state.refusals.iter().map(|record| refusal(record, run_state));
        let ended = self.open.iter().map(|number| {
            let share = RunShare { number: *number, count: self.division.count };
            let name = output_name(share.count, &number.to_string());
            let path = run_state.run.folder().join(ATTEMPTS).join(name);
            let said = regular_file::read_end_of_own(&path);
            let said = said.map_or_else(|error| error.to_string(), |text| program::tail(&text));
            format!("share {share}: {said}")
        });
        let says: BTreeSet<String> = refused.chain(ended).collect();
        let says = says.into_iter().take(3).collect::<Vec<_>>().join("; ");
        ConductorError::Lost { count, says }
    }
}

/// Gives up treatments that a machine cannot run and none has run, once everything else is
/// recorded: until then, another may run them.
fn settle_refusals(trials: &[Trial], run_state: &mut RunState<'_>) -> Result<(), ConductorError> {
    let is_refused = |trial: &Trial| {
        let is_of = |record: &Record| record.trial.treatment == trial.treatment;
        run_state.refusals.iter().any(is_of) && !run_state.has_run(trial.treatment)
    };
    if !trials.iter().filter(|trial| run_state.is_open(trial)).all(is_refused) {
        return Ok(());
    }
    for record in std::mem::take(&mut run_state.refusals) {
        if run_state.is_open(&record.trial) && !run_state.has_run(record.trial.treatment) {
            run_state.begin_trial(record.trial);
            run_state.add_record(record)?;
        }
    }
    Ok(())
}

/// The message of a refusal.
fn refusal(record: &Record, run_state: &RunState<'_>) -> String {
    let machine = record.attempt.as_ref().map_or("a machine", |of| of.node.as_str());
    let levels = run_state.schedule.distinct(&record.levels);
    format!("{machine} cannot run {levels}: {}", record.reason.as_deref().unwrap_or_default())
}

//! The trial that ends the building of a lab kernel.

use std::collections::BTreeMap;
use std::path::Path;

use miette::{Diagnostic, Report};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::{self as plan, Overrides};
use ssdlab_results::{Record, TrialStatus};
use thiserror::Error;

use super::executors::{self, RunOptions};
use super::output;

const PLAN: &str = include_str!("kernel_trial.toml");

/// Why results of a kernel cannot be trusted on this machine.
#[derive(Debug, Error, Diagnostic)]
enum Unfit {
    #[error("the lab kernel was built, but no trial runs in it on this machine: {reason}")]
    #[diagnostic(help(
        "try another source: --source PATH; if it is Linux 6.1, 6.12 or 7.3, please report this"
    ))]
    Fails { reason: String },
    #[error(
        "the lab kernel was built, but a trial in it differs when it is repeated: fingerprint \
         {first}, then {second}"
    )]
    #[diagnostic(help("no result of this machine would repeat; please report this"))]
    Differs { first: String, second: String },
}

/// Runs a small trial in a kernel twice: it has to succeed, and to be the same to the bit.
pub fn run(kernel: &Path, interrupt: &Interrupt) -> Result<(), Report> {
    let schedule =
        plan::schedule("kernel_trial.toml", PLAN, &Overrides::default(), Path::new("/"))?;
    let run_options = RunOptions { kernel: Some(kernel), jobs: Some(1), ..RunOptions::default() };
    let records = executors::in_guests(&schedule, run_options, interrupt, |mut guests| {
        let trial = schedule.trials[0];
        Ok(guests.measure(BTreeMap::new(), vec![trial; 2], &mut |_| ()))
    })?;
    if interrupt.is_set() {
        return Ok(());
    }
    judge(&records)
}

fn judge(records: &[Record]) -> Result<(), Report> {
    for Record { status, reason, .. } in records {
        let reason = reason.clone().unwrap_or_default();
        match status {
            TrialStatus::Ok => {}
            TrialStatus::Unavailable => {
                output::tell(&format!("no trial was run in it: {reason}"));
                return Ok(());
            }
            TrialStatus::Failed | TrialStatus::Void => return Err(Unfit::Fails { reason }.into()),
        }
    }
    let fingerprints: Vec<String> =
        records.iter().filter_map(|record| record.fingerprint.clone()).collect();
    match &fingerprints[..] {
        [first, second] if first != second => {
            Err(Unfit::Differs { first: first.clone(), second: second.clone() }.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;

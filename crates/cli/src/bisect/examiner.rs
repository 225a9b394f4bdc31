//! Examines a revision: builds its kernel, runs the trials that the claim needs, and judges it.

use std::collections::BTreeMap;

use miette::Report;
use ssdlab_advice as advice;
use ssdlab_bisect::{Bisection, Commit, Examiner, Finding};
use ssdlab_conductor::Stage;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::ProgramError;
use ssdlab_kernel::{KernelError, LabKernel};
use ssdlab_report::counted;
use ssdlab_results::{Record, Status};

use super::asked::Asked;
use super::kept::Kept;
use super::shown;
use super::workshop::Workshop;
use crate::output;
use crate::stages::{self, Manner};

/// Examines revisions, and stores what is found.
pub struct Examining<'a> {
    pub asked: &'a Asked,
    pub workshop: Workshop<'a>,
    pub kept: &'a mut Kept,
    pub interrupt: &'a Interrupt,
}

impl Examiner for Examining<'_> {
    type Stop = Report;

    fn examine(&mut self, commit: &Commit, left: u32) -> Result<Option<Finding>, Report> {
        let (id, after) = (shown::short(commit), counted(left as usize, "step"));
        output::tell(&format!("{id} {}; about {after} to follow", commit.subject));
        let finding = match self.workshop.build(&commit.id)? {
            Ok(kernel) => self.judge(&kernel)?,
            Err(KernelError::Program(ProgramError::Interrupted)) => None,
            Err(
                KernelError::Failed { said }
                | KernelError::Lacking { said }
                | KernelError::NoLabKernel { reason: said, .. },
            ) => Some(Finding::Skipped(format!("it does not build: {}", last_line(&said)))),
            Err(error) => return Err(error.into()),
        };
        let finding = finding.filter(|_| !self.interrupt.is_set());
        if let Some(finding) = &finding {
            output::tell(&format!("{id} {}", shown::finding(self.asked, finding)));
        }
        Ok(finding)
    }

    fn keep(&mut self, bisection: &Bisection) -> Result<(), Report> {
        self.kept.write(bisection)
    }
}

impl Examining<'_> {
    /// Runs the trials under a kernel, and judges the claim; `None` if that was interrupted.
    fn judge(&self, kernel: &LabKernel) -> Result<Option<Finding>, Report> {
        let schedule = &self.asked.schedule;
        let manner = Manner { kernel: Some(&kernel.path), ..Manner::default() };
        let logs = self.workshop.folder().join("requests");
        let measured = stages::in_guests(schedule, manner, self.interrupt, |mut guests| {
            let setups = self.asked.subject.treatments.iter();
            let setups = setups.filter_map(|one| schedule.treatments[*one].setup.as_ref().ok());
            if let Some(reason) = setups.map(|setup| guests.missing(setup)).find_map(|why| why) {
                return Ok(Err(reason));
            }
            guests.log_to(&logs)?;
            Ok(Ok(guests.measure(BTreeMap::new(), schedule.trials.clone(), &mut |_| ())))
        })?;
        if self.interrupt.is_set() {
            return Ok(None);
        }
        Ok(Some(match measured {
            Ok(records) => self.finding(&records),
            Err(reason) => Finding::Skipped(reason),
        }))
    }

    fn finding(&self, records: &[Record]) -> Finding {
        let Asked { schedule, subject, claim } = self.asked;
        if let Some(record) = records.iter().find(|record| record.status != Status::Ok) {
            let reason = record.reason.as_deref().unwrap_or("no reason is recorded");
            let levels = schedule.distinct(&record.levels);
            let of = if levels.0.is_empty() { String::new() } else { format!(" of {levels}") };
            return Finding::Skipped(format!("its trial{of} is {}: {reason}", record.status));
        }
        let standings = advice::standings(schedule, records);
        let own = standings.iter().find(|standing| standing.subject == *subject);
        match own.and_then(|own| own.holds.get(&0).zip(own.values.get(&0))) {
            Some((holds, value)) => {
                Finding::Judged { holds: *holds, value: Some(*value).filter(|v| v.is_finite()) }
            }
            None => Finding::Skipped(format!("its trials did not measure {}", claim.metric)),
        }
    }
}

fn last_line(said: &str) -> &str {
    let mut errors = said.lines().filter(|line| line.contains("error:"));
    errors.next_back().or_else(|| said.lines().next_back()).unwrap_or("nothing was printed").trim()
}

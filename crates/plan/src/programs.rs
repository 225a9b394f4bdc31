//! The programs of this machine that a plan runs. Guests of the virtual lab have copies of them.

use std::collections::BTreeSet;

use ssdlab_quantity::Words;

use super::error::PlanFault;
use super::lab_kind::LabKind;
use super::schedule::{Action, Schedule};

impl Schedule {
    /// The names of the programs that trials start, other than those of filesystems: in phases and
    /// to check what survived a power cut, and those that the plan says these start in turn.
    pub fn programs(&self) -> BTreeSet<&str> {
        let started = self.workload.phases.iter().filter_map(|phase| match &phase.action {
            Action::Command { run, .. } => run.first(),
            _ => None,
        });
        let check = self.cuts.iter().filter_map(|cuts| cuts.check.as_ref());
        let check = check.filter_map(|Words(words)| words.first());
        // A system has its own.
        let named = started.chain(check).filter(|_| self.workload.system.is_none());
        named.chain(&self.workload.programs).map(String::as_str).collect()
    }

    /// The first program that guests cannot have. They have all programs in one folder, so a path
    /// says nothing there.
    pub(super) fn misnamed_program(&self) -> Option<&str> {
        let mut programs = self.programs().into_iter();
        let is_misnamed = |name: &&str| name.is_empty() || name.contains('/');
        programs.find(is_misnamed).filter(|_| self.is_in(LabKind::Virtual))
    }
}

/// Refuses programs that guests cannot have.
pub(super) fn check(schedule: &Schedule) -> Result<(), PlanFault> {
    match schedule.misnamed_program() {
        None => Ok(()),
        Some(name) => Err(PlanFault::nowhere(
            format!("the virtual lab finds programs by their names, not by a path: `{name}`"),
            "write the name only, and have its folder in PATH when ssdlab runs",
        )),
    }
}

#[cfg(test)]
mod tests;

//! Explains a finding after a power cut of programs: what no sync had made durable then, and which
//! sync makes the finding vanish. Each is tried.

use std::collections::BTreeSet;

use ssdlab_flash::Nanos;
use ssdlab_operations::calls::{CallEffect, FileCall, Unsynced};
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::cuts::Cuts;
use ssdlab_plan::schedule::Workload;
use ssdlab_plan::{CommandSystem, Schedule, SyncRemedy};
use ssdlab_quantity::listed;
use ssdlab_results::{CrashCause, TriedRemedy};

use super::error::TaskError;
use super::failure::Failure;
use super::guests::Guests;
use super::repeat::CutOfRun;

/// How seldom a finding may be missed by chance where it is said to have vanished.
const MISSED: f64 = 0.001;

/// Cuts by which it is tried at least.
const LEAST_CUTS: u32 = 20;

/// The calls of a trial up to a cut, and after it.
struct Course {
    before: Vec<FileCall>,
    after: Vec<FileCall>,
    said: Option<String>,
}

impl Guests<'_> {
    /// Explains a cut of a run, whose share of cuts with a finding is known.
    pub fn explain(&mut self, cut: &CutOfRun<'_>, share: f64) -> Result<CrashCause, TaskError> {
        let trial = cut.record.trial;
        let explained = self.explained(cut, share);
        explained.map_err(|failure| self.unrepeated(trial.position, failure))
    }

    fn explained(&mut self, cut: &CutOfRun<'_>, share: f64) -> Result<CrashCause, Failure> {
        self.log_briefly()?;
        let course = self.course_of(cut)?;
        let unsynced = Unsynced::after(&course.before);
        let is_failed = |call: &&FileCall| call.error.is_some();
        if let Some(ignored) = course.before.iter().rev().find(is_failed).cloned()
            && let Some(schedule) = without_errors(cut.schedule.only(cut.record.trial), share)
            && self.is_healed(&schedule)?.is_some()
        {
            let (said, ignored) = (course.said, Some(ignored));
            return Ok(CrashCause { unsynced, said, ignored, remedy: None });
        }
        let mut remedy = None;
        for candidate in SyncRemedy::ALL {
            // What has nothing to make durable cannot be what is missing.
            let Some((of, call)) = site(candidate, &unsynced, &course.before) else { continue };
            let schedule = cut.schedule.only(cut.record.trial);
            let Some(schedule) = remedied(schedule, candidate, cuts_for(share)) else { break };
            let Some(cuts) = self.is_healed(&schedule)? else { continue };
            let is_late = course.after.iter().any(|call| of.iter().any(|name| syncs(call, name)));
            let named = |name: &String| match name.as_str() {
                "." => "the top folder".to_owned(),
                other => other.to_owned(),
            };
            let of = listed(&of.iter().map(named).collect::<Vec<_>>());
            remedy = Some(TriedRemedy { remedy: candidate, cuts, of, call, is_late });
            break;
        }
        Ok(CrashCause { unsynced, said: course.said, ignored: None, remedy })
    }

    /// What programs did in the trial of a cut.
    fn course_of(&self, cut: &CutOfRun<'_>) -> Result<Course, Failure> {
        let at = Nanos(cut.outcome.at_ns);
        let mut course = None;
        self.trial_alone(cut.schedule, cut.record.trial, |evidence| {
            let log = evidence.trial_log;
            let (before, after): (Vec<_>, Vec<_>) =
                log.calls.iter().cloned().partition(|(called, _)| *called <= at);
            let calls = |calls: Vec<(Nanos, FileCall)>| {
                calls.into_iter().map(|(_, call)| call).collect::<Vec<_>>()
            };
            let said = log.said[..log.said_before(at)].last().map(|(_, line)| line.clone());
            course = Some(Course { before: calls(before), after: calls(after), said });
            Ok(Vec::new())
        })?;
        course.ok_or_else(|| Failure::Failed("its power was not cut".to_owned()))
    }

    /// After how many cuts a trial has no finding; none if it has one.
    fn is_healed(&self, schedule: &Schedule) -> Result<Option<u32>, Failure> {
        let trial = schedule.trials[0];
        let performed = self.trial_alone(schedule, trial, |evidence| self.cut(evidence))?;
        let cuts = &performed.measured.cuts;
        let has_any = |outcome: &CutOutcome| outcome.worst().is_some();
        let number = cuts.iter().map(|outcome| outcome.cut + 1).max().unwrap_or(0);
        Ok((number > 0 && !cuts.iter().any(has_any)).then_some(number))
    }
}

/// The number of cuts of which a finding with this share is very likely in one.
fn cuts_for(share: f64) -> u32 {
    let cuts = MISSED.ln() / (1.0 - share.clamp(0.001, 0.9)).ln();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 7,000")]
    let cuts = cuts.ceil() as u32;
    cuts.max(LEAST_CUTS)
}

/// A schedule in which no request fails; none if none does anyway.
fn without_errors(schedule: Schedule, share: f64) -> Option<Schedule> {
    let cuts = Cuts { of_trial: cuts_for(share), ..schedule.cuts.clone()? };
    let system = schedule.workload.system.clone().filter(|of| of.write_errors.is_some())?;
    let system = CommandSystem { write_errors: None, ..system };
    let workload = Workload { system: Some(system), ..schedule.workload.clone() };
    Some(schedule.with_workload(workload).with_cuts(cuts))
}

/// A schedule in which a sync is made for the program.
fn remedied(schedule: Schedule, remedy: SyncRemedy, number: u32) -> Option<Schedule> {
    let cuts = schedule.cuts.clone()?;
    let system = schedule.workload.system.clone()?;
    let system = CommandSystem { remedy: Some(remedy), ..system };
    let workload = Workload { system: Some(system), ..schedule.workload.clone() };
    let cuts = Cuts { of_trial: number, ..cuts };
    Some(schedule.with_workload(workload).with_cuts(cuts))
}

/// What syncs would have made durable at a cut, and at which call they are made; none if nothing.
fn site(
    remedy: SyncRemedy,
    unsynced: &Unsynced,
    before: &[FileCall],
) -> Option<(Vec<String>, Option<FileCall>)> {
    let files = || unsynced.files.keys().cloned();
    let directories: BTreeSet<String> =
        unsynced.names.iter().flat_map(FileCall::directories).map(str::to_owned).collect();
    let is_rename = |call: &&FileCall| matches!(call.effect, CallEffect::Names { to: Some(_), .. });
    match remedy {
        SyncRemedy::DirectoryAfterChange => {
            // What is renamed or removed matters more than what was made for the next time.
            let is_other = |call: &&FileCall| call.name != "open";
            let other = unsynced.names.iter().rev().find(is_other);
            let call = other.or_else(|| unsynced.names.last())?.clone();
            let of: BTreeSet<String> = call.directories().map(str::to_owned).collect();
            Some((of.into_iter().collect(), Some(call)))
        }
        SyncRemedy::FileBeforeRename => {
            let of = |call: &FileCall| match &call.effect {
                CallEffect::Names { path, to: Some(to) } if unsynced.files.contains_key(to) => {
                    Some(path.clone())
                }
                _ => None,
            };
            let mut renames = unsynced.names.iter().rev();
            renames.find_map(|call| Some((vec![of(call)?], Some(call.clone()))))
        }
        SyncRemedy::OthersBeforeSync => {
            let is_sync = |call: &&FileCall| {
                matches!(call.effect, CallEffect::Sync { .. }) || is_rename(call)
            };
            let last = before.iter().rev().find(is_sync)?;
            let files: Vec<String> = files().collect();
            (!files.is_empty()).then(|| (files, Some(last.clone())))
        }
        SyncRemedy::FilesBeforeLine => {
            let all: Vec<String> = files().chain(directories).collect();
            (!all.is_empty()).then_some((all, None))
        }
    }
}

fn syncs(call: &FileCall, name: &str) -> bool {
    match &call.effect {
        CallEffect::Sync { path } => path == name && call.error.is_none(),
        CallEffect::SyncAll => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;

//! Whether a schedule could come from a plan: its parts are consistent, and its amounts are within
//! the limits of plans. A stored one may have been edited, and is input like a plan.

use super::bonnie::Bonnie;
use super::claims;
use super::database::Database;
use super::io::Io;
use super::lab_kind::LabKind;
use super::limits::{MOST_BLOCKS, MOST_FILES, fault_of_bytes, first_false};
use super::maildir::Maildir;
use super::recordings::{self, Recording};
use super::rotation::Rotate;
use super::schedule::{Action, Build, Claim, FileTree, Schedule, Workload};
use super::sequences::Sequences;
use super::transactions::Transactions;
use super::versions::{Append, Replace};

impl Schedule {
    /// The fault of a schedule that was edited after it was resolved, if any.
    pub fn fault(&self) -> Option<String> {
        let parts = [self.fault_of_parts(), self.fault_of_blocks()];
        parts.into_iter().flatten().next().or_else(|| fault_of(&self.workload))
    }

    fn fault_of_parts(&self) -> Option<String> {
        let count = self.treatments.len();
        let has_sizes = self.workload.phases.iter().all(|phase| match &phase.action {
            Action::Command { run, .. } => !run.is_empty(),
            Action::Bonnie { .. } => self.workload.bonnie.is_some(),
            Action::Imported => self.target.is_none(),
            _ => true,
        });
        let has_drive = |index| self.needed_drive(index).is_some();
        let has_place = !self.is_without_device() || (0..count).all(has_drive);
        let has_bounds =
            |claim: &Claim| claims::are_possible(claim.metric, claim.statement.bounds());
        let are_bounds = self.claims.iter().all(has_bounds);
        let is_baseline = self.treatments.iter().all(|t| t.baseline.is_none_or(|of| of < count));
        let is_treatment = self.trials.iter().all(|trial| trial.treatment < count);
        let are_cuts = self
            .cuts
            .as_ref()
            .is_none_or(|cuts| self.is_in(LabKind::Virtual) && cuts.are_possible());
        first_false([
            (are_cuts, "its power cuts are not possible"),
            (has_sizes, "a phase has no work to do"),
            (self.misnamed_program().is_none(), "a program has no name that guests can find"),
            (has_place, "a treatment has no device"),
            (are_bounds, "a claim's bound is not above 0"),
            (is_baseline, "a treatment's baseline does not exist"),
            (is_treatment, "a trial's treatment does not exist"),
        ])
    }

    fn fault_of_blocks(&self) -> Option<String> {
        let limits = &self.repetitions;
        let is_run = self.target.is_none()
            || 0 < limits.least && limits.least <= limits.most && limits.most <= MOST_BLOCKS;
        let trials = &self.trials;
        let follow = |two: &[super::schedule::Step]| {
            let end = two[0].first_block.checked_add(two[0].blocks);
            end.is_some_and(|end| two[0].first_block < end && end <= two[1].first_block)
        };
        let last = self.steps.last().map(|last| last.first_block.checked_add(last.blocks));
        first_false([
            (is_run, "its number of blocks is out of range"),
            (trials.iter().all(|trial| trial.block < u32::MAX), "a block's number is too large"),
            (self.steps.windows(2).all(follow) && last != Some(None), "its steps overlap"),
        ])
    }
}

/// What of a workload exceeds the limits of plans, if anything.
pub(super) fn fault_of(workload: &Workload) -> Option<String> {
    let tree = match &workload.tree {
        Some(FileTree::Synthetic { files, bytes }) => fault_of_files(*files, *bytes),
        Some(FileTree::Archive { share, .. }) => first_false([(
            *share > 0.0 && *share <= 1.0,
            "the share of an archive is out of range",
        )]),
        None => None,
    };
    let build = match &workload.build {
        Some(Build::Synthetic { files, bytes }) => fault_of_files(*files, *bytes),
        Some(Build::Git { make, clean, .. }) => {
            first_false([(!make.is_empty() && !clean.is_empty(), "a build has no program")])
        }
        None => None,
    };
    let bonnie = workload.bonnie.as_ref().and_then(Bonnie::fault);
    let of_trees = tree.or(build).or(bonnie);
    of_trees.or_else(|| {
        workload.phases.iter().find_map(|phase| {
            let fault = match &phase.action {
                Action::Io(io) => Io::fault(io),
                Action::Transactions(work) => Transactions::fault(work),
                Action::Replace(replace) => Replace::fault(replace),
                Action::Append(append) => Append::fault(append),
                Action::Database(database) => Database::fault(database),
                Action::Sequences(sequences) => Sequences::fault(*sequences),
                Action::Maildir(maildir) => Maildir::fault(maildir),
                Action::Rotate(rotate) => Rotate::fault(rotate),
                Action::Replay { log: Recording::Shipped(name) } => {
                    first_false([(recordings::find(name).is_some(), "there is no such log")])
                }
                _ => None,
            };
            fault.map(|fault| format!("phase `{}`: {fault}", phase.name))
        })
    })
}

fn fault_of_files(files: u64, bytes: u64) -> Option<String> {
    fault_of_count(files).or_else(|| fault_of_bytes(bytes))
}

/// What is wrong with a tree of so many files, if anything.
pub(super) fn fault_of_count(files: u64) -> Option<String> {
    (!(1..=MOST_FILES).contains(&files))
        .then(|| format!("a tree of {files} files, where 1 to {MOST_FILES} are possible"))
}

#[cfg(test)]
mod tests;

//! Cancels the submissions of a run, and has nodes undo the changes that killed attempts have left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use ssdlab_host::{program, regular_file};
use ssdlab_results::{ATTEMPTS, Attempts, Left, StoreError, output_of};
use ssdlab_slurm::{Array, Slurm, SlurmError, attempt};

use super::collect::{Rsync, Seen, quoted};
use super::error::{ConductorError, FleetError};
use super::patience::wait_until_gone;
use super::submission::Submission;

/// The longest that ending or undoing may take.
const LIMIT: Duration = Duration::from_mins(5);

/// The most memory that undoing takes, in bytes.
const LITTLE_BYTES: u64 = 64 << 20;

/// What was cancelled.
#[derive(Debug, Default)]
pub struct Cancelled {
    /// Elements that had not ended.
    pub elements: usize,
    /// Nodes on which remaining changes were undone.
    pub undone: BTreeSet<String>,
    /// Nodes on which that failed, with their error messages.
    pub failed: BTreeMap<String, String>,
    /// Messages of nodes that did not hand over what they may still have to undo.
    pub unasked: Vec<String>,
    /// Unreadable files that should say where there is something to undo.
    pub unreadable: Vec<StoreError>,
}

/// Cancels all submissions of a run; `ssdlab` is the program with which nodes undo changes.
pub fn cancel(run: &Path, ssdlab: &Path) -> Result<Cancelled, ConductorError> {
    let submitted = Submission::all(run)
        .map_err(|cause| FleetError::Submission { path: run.join(ATTEMPTS), cause })?;
    let slurm = Slurm::find(partition(&submitted)).map_err(FleetError::from)?;
    let arrays: BTreeSet<String> = submitted.keys().cloned().collect();
    let queue = slurm.queue(&arrays).map_err(FleetError::from)?;
    slurm.cancel(&queue.jobs()).map_err(FleetError::from)?;
    let is_over = wait_until_gone(&slurm, &arrays, LIMIT).map_err(FleetError::from)?;
    let (mut rsync, unasked) = collected(&slurm, run, &submitted)?;
    let mut cancelled =
        Cancelled { elements: queue.elements.len(), unasked, ..Cancelled::default() };
    // An attempt that had enough time has undone its changes itself.
    let attempts = Attempts::new(run, &[]);
    let mut by_node: BTreeMap<String, Vec<Left>> = BTreeMap::new();
    let not_undone = attempts.not_undone()?;
    for left in not_undone.left {
        by_node.entry(left.node.clone()).or_default().push(left);
    }
    cancelled.unreadable = not_undone.unreadable;
    for (node, left) in by_node {
        if !is_over {
            cancelled.failed.insert(node, "its element has not ended yet".to_owned());
            continue;
        }
        let says = undo(&slurm, run, ssdlab, &left, &submitted, rsync.as_mut());
        let says = says.unwrap_or_else(|error| error.to_string());
        match all_undone(&attempts, &left, says) {
            Ok(()) => {
                cancelled.undone.insert(node);
            }
            Err(says) => {
                cancelled.failed.insert(node, says);
            }
        }
    }
    Ok(cancelled)
}

/// Ensures that all that attempts have left on a node is undone; otherwise returns why not: `says`,
/// the output of undoing, unless a marker cannot be read.
fn all_undone(attempts: &Attempts, left: &[Left], says: String) -> Result<(), String> {
    let undone = left.iter().map(|left| attempts.is_undone(left.id)).collect::<Result<Vec<_>, _>>();
    match undone {
        Ok(undone) if undone.iter().all(|is_undone| *is_undone) => Ok(()),
        Ok(_) => Err(says),
        Err(error) => Err(error.to_string()),
    }
}

/// The partition that a run was submitted to; all of its jobs go to the same one.
#[must_use]
pub fn partition(submitted: &BTreeMap<String, Submission>) -> Option<String> {
    submitted.values().find_map(|submission| submission.partition.clone())
}

/// The rsync for nodes that do not see the run's folder, after a first fetch; and the nodes that
/// handed nothing over.
fn collected(
    slurm: &Slurm,
    run: &Path,
    submitted: &BTreeMap<String, Submission>,
) -> Result<(Option<Rsync>, Vec<String>), FleetError> {
    let staged: Vec<_> = submitted.values().filter(|of| of.staged.is_some()).collect();
    if staged.is_empty() {
        return Ok((None, Vec::new()));
    }
    let mut rsync = Rsync::find().map_err(SlurmError::from)?;
    for submission in staged {
        rsync.ask_all(submission, slurm.nodes(&submission.features)?.into_keys());
    }
    let troubles = rsync.fetch_now(run);
    Ok((Some(rsync), troubles))
}

/// Has a node undo the changes that attempts have left there; returns its output.
fn undo(
    slurm: &Slurm,
    run: &Path,
    ssdlab: &Path,
    left: &[Left],
    submitted: &BTreeMap<String, Submission>,
    rsync: Option<&mut Rsync>,
) -> Result<String, SlurmError> {
    let Some(first) = left.first() else { return Ok(String::new()) };
    let staged = submitted.get(&first.submission).and_then(|of| of.staged.as_deref());
    let lines = left.iter().map(|Left { id, submission, journal, .. }| {
        // The journal is in the undo folder, in the state folder of the user who ran the attempt.
        let state = journal.ancestors().nth(3).unwrap_or(Path::new("/var/lib"));
        let of = submitted.get(submission).map(|of| Seen::by_nodes_of(of, run).word());
        let seen = of.unwrap_or_else(|| quoted(run));
        let (state, ssdlab, journal) = (quoted(state), quoted(ssdlab), quoted(journal));
        format!(
            "XDG_STATE_HOME={state} {ssdlab} restore || :\n\
             [ -e {journal} ] || : >{seen}/{ATTEMPTS}/{id}.node\n"
        )
    });
    let script = format!("#!/bin/sh\nset -e\n{}", lines.collect::<Vec<_>>().concat());
    let name = format!("ssdlab-restore-{}", first.id);
    let array = Array {
        name: &name,
        elements: 1,
        features: &BTreeSet::new(),
        node: Some(&first.node),
        is_exclusive: false,
        memory_bytes: Some(LITTLE_BYTES),
        limit: LIMIT,
        output: &output_of(staged.unwrap_or(run), "restore-%A_%a"),
        script: &script,
    };
    let job = slurm.submit(&array, slurm.limits()?)?;
    if !wait_until_gone(slurm, &BTreeSet::from([name]), LIMIT)? {
        slurm.cancel(&BTreeSet::from([job]))?;
        return Ok("Slurm does not run anything there now".to_owned());
    }
    if let Some(rsync) = rsync {
        rsync.fetch_now(run);
    }
    let said =
        regular_file::read_end_of_own(&output_of(run, &format!("restore-{}", attempt(job, 0))));
    Ok(program::tail(&said.unwrap_or_default()))
}

#[cfg(test)]
mod tests;

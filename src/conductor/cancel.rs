//! Cancels what a run has submitted, and has nodes undo what attempts that were killed have left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::ConductorError;
use super::fleet::{FleetError, quoted, wait_until_gone};
use super::submission::Submission;
use crate::host::program;
use crate::results::{ATTEMPTS, Attempts, node_of, output_of};
use crate::slurm::{Array, Slurm, attempt};

/// The longest that ending or undoing may take.
const LIMIT: Duration = Duration::from_mins(5);

/// What was cancelled.
#[derive(Debug, Default)]
pub struct Cancelled {
    /// Elements that had not ended.
    pub elements: usize,
    /// Nodes on which what was left was undone.
    pub undone: BTreeSet<String>,
    /// Nodes on which that failed, with what was said there.
    pub failed: BTreeMap<String, String>,
}

/// Cancels all that a run has submitted; `ssdlab` is the program that nodes undo with.
pub fn cancel(slurm: &Slurm, run: &Path, ssdlab: &Path) -> Result<Cancelled, ConductorError> {
    let submitted = Submission::all(run)
        .map_err(|cause| FleetError::Submission { path: run.join(ATTEMPTS), cause })?;
    let arrays: BTreeSet<String> = submitted.into_keys().collect();
    let queue = slurm.queue(&arrays).map_err(FleetError::from)?;
    slurm.cancel(&queue.jobs()).map_err(FleetError::from)?;
    wait_until_gone(slurm, &arrays, LIMIT).map_err(FleetError::from)?;
    let mut cancelled = Cancelled { elements: queue.elements.len(), ..Cancelled::default() };
    // An attempt that was given the time has undone its changes itself.
    let attempts = Attempts::new(run, &[]);
    let mut left: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, node) in attempts.not_undone()? {
        left.entry(node).or_default().push(id);
    }
    for (node, ids) in left {
        match undo(slurm, run, ssdlab, &node, &ids) {
            Err(FleetError::Slurm(error)) => {
                cancelled.failed.insert(node, error.to_string());
            }
            Err(error) => return Err(error.into()),
            Ok(says) if attempts.not_undone()?.values().any(|left| *left == node) => {
                cancelled.failed.insert(node, says);
            }
            Ok(_) => {
                cancelled.undone.insert(node);
            }
        }
    }
    Ok(cancelled)
}

/// Has a node undo what its attempts have left; what it says.
fn undo(
    slurm: &Slurm,
    run: &Path,
    ssdlab: &Path,
    node: &str,
    ids: &[String],
) -> Result<String, FleetError> {
    let left: Vec<String> = ids.iter().map(|id| quoted(&node_of(run, id))).collect();
    let restore = format!("{} restore && rm -f {}", quoted(ssdlab), left.join(" "));
    let name = format!("ssdlab-restore-{}", ids[0]);
    let array = Array {
        name: &name,
        elements: 1,
        features: &BTreeSet::new(),
        node: Some(node),
        is_exclusive: false,
        limit: LIMIT,
        output: &output_of(run, "restore-%A_%a"),
        script: &format!("#!/bin/sh\n{restore}\n"),
    };
    let job = slurm.submit(&array)?;
    if !wait_until_gone(slurm, &BTreeSet::from([name]), LIMIT)? {
        slurm.cancel(&BTreeSet::from([job]))?;
        return Ok("Slurm does not run anything there now".to_owned());
    }
    let said = std::fs::read_to_string(output_of(run, &format!("restore-{}", attempt(&job, 0))));
    Ok(program::tail(&said.unwrap_or_default()))
}

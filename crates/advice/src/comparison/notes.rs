//! What a reader of a comparison must know before believing its numbers.

use ssdlab_plan::LabKind;

use super::between::{ComparisonMethod, RunRatio};
use super::candidate::{Candidate, ComparedRun};
use super::differences::Difference;
use super::row::ComparisonRow;
use crate::Completeness;

pub(super) fn notes(
    candidates: &[Candidate],
    rows: &[ComparisonRow],
    differences: &[Difference],
) -> Vec<String> {
    let mut notes = Vec::new();
    for candidate in candidates {
        let ComparedRun { run, status, trials, trials_ok, .. } = candidate.described();
        if status == Completeness::Partial {
            notes.push(format!("{run} is partial: it was interrupted, or is still running"));
        }
        if trials_ok < trials {
            let bad = trials - trials_ok;
            notes.push(format!("{bad} of {trials} trials of {run} did not go well: left out"));
        }
    }
    let mut effects = rows.iter().flat_map(|row| &row.cells).filter_map(|c| c.effect.as_ref());
    if effects.clone().any(|effect| effect.method == ComparisonMethod::PairedBySeed) {
        notes.push(
            "trials with equal seeds performed the same operations and are paired; the intervals \
             are over seeds"
                .to_owned(),
        );
    }
    if rows.iter().any(has_unpaired_trials) {
        notes.push(
            "not every seed is in both runs: means are over all trials, ratios over the pairs"
                .to_owned(),
        );
    }
    let has_interval = |effect: &RunRatio| effect.interval.is_some();
    if effects.any(|effect| effect.method == ComparisonMethod::Unpaired && has_interval(effect)) {
        notes.push(
            "trials of different runs have nothing in common to pair them by: the intervals are \
             Welch's, over the trials within each run"
                .to_owned(),
        );
    }
    if candidates.iter().any(|candidate| !candidate.schedule.is_in(LabKind::Virtual)) {
        notes.push(
            "what changed from one run to the next without being recorded is in the ratios and not \
             in their intervals: the first run, repeated, would show how much that is"
                .to_owned(),
        );
    }
    match differences.len() {
        0 => notes.push("nothing that was recorded differs between the runs".to_owned()),
        1 => {}
        several => notes.push(format!(
            "{several} things differ between the runs: what is found is the effect of all of them"
        )),
    }
    notes
}

/// Whether pairs leave out trials that the means beside them include.
fn has_unpaired_trials(row: &ComparisonRow) -> bool {
    let of_baseline = row.cells[0].n;
    row.cells.iter().any(|cell| {
        let paired = cell.effect.filter(|effect| effect.method == ComparisonMethod::PairedBySeed);
        paired.is_some_and(|effect| effect.n != [of_baseline, cell.n])
    })
}

//! Attempts by other machines to run shares of a run, in its folder `attempts`.
//!
//! Each attempt appends to a file of its own, so that no machine waits for another or is harmed by
//! a dead one. Whoever holds the run puts each trial's record into `records.jsonl` once: a record
//! that is there stays, and of others that of the attempt with the least id counts, whatever was
//! measured.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ssdlab_host::missing::if_there;
use ssdlab_host::regular_file;
use ssdlab_plan::Schedule;

use super::attempt_id::AttemptId;
use super::error::{StoreError, at};
use super::lines::{LONGEST_LINE_BYTES, versioned};
use super::paths::ATTEMPTS;
use super::record::{Record, TrialStatus};

/// The file of an attempt's records.
pub(super) fn records_of(run: &Path, id: AttemptId) -> PathBuf {
    run.join(ATTEMPTS).join(format!("{id}.jsonl"))
}

/// What attempts have recorded beyond the records of a run.
#[derive(Debug, Default)]
pub struct UnmergedRecords {
    /// Records of trials that had none.
    pub records: Vec<Record>,
    /// Records saying that a machine cannot run a treatment; another may have run it.
    pub refusals: Vec<Record>,
    /// Warnings about the files.
    pub warnings: Vec<String>,
}

/// What attempts, or only those at one share, have recorded beyond these records.
pub(super) fn unmerged(
    run: &Path,
    schedule: &Schedule,
    records: &[Record],
    share: Option<AttemptId>,
) -> Result<UnmergedRecords, StoreError> {
    let id = |record: &Record| record.attempt.as_ref().map(|attempt| attempt.id);
    let mut recorded: BTreeMap<(u32, usize), Option<AttemptId>> =
        records.iter().map(|record| (key(record), id(record))).collect();
    let mut found = UnmergedRecords::default();
    for (id, path) in files(run)? {
        if share.is_some_and(|share| share.first() != id.first()) {
            continue;
        }
        let UnmergedRecords { records, refusals, warnings } = &mut found;
        let mut repeated = 0;
        read(&path, id, schedule, warnings, |record| match recorded.entry(key(&record)) {
            _ if record.status == TrialStatus::Unavailable => refusals.push(record),
            Entry::Vacant(place) => {
                place.insert(Some(id));
                records.push(record);
            }
            // This very record was merged earlier.
            Entry::Occupied(counts) if *counts.get() == Some(id) => {}
            Entry::Occupied(_) => repeated += 1,
        })?;
        if repeated > 0 {
            warnings.push(format!(
                "{}: {repeated} of its trials were recorded elsewhere, too; those records count",
                path.display()
            ));
        }
    }
    Ok(found)
}

/// Reads the records of an attempt. An incomplete last line is not one yet.
fn read(
    path: &Path,
    id: AttemptId,
    schedule: &Schedule,
    warnings: &mut Vec<String>,
    mut take: impl FnMut(Record),
) -> Result<(), StoreError> {
    // On a shared folder, only opening a file revalidates its cached contents.
    let mut file = BufReader::new(regular_file::open_own(path).map_err(at("read", path))?);
    let (mut text, mut ignored, mut first) = (Vec::new(), 0, None);
    for line in 1.. {
        text.clear();
        let part = file.by_ref().take(LONGEST_LINE_BYTES as u64).read_until(b'\n', &mut text);
        part.map_err(at("read", path))?;
        if !text.ends_with(b"\n") {
            break;
        }
        let says = match versioned::<Record>(path, line, &text) {
            Ok(record) if is_of(&record, schedule, id) => {
                take(record);
                continue;
            }
            Ok(_) => format!("line {line} is not a trial of this run and attempt"),
            Err(error) => error.to_string(),
        };
        ignored += 1;
        first.get_or_insert(says);
    }
    if let Some(first) = first {
        warnings.push(format!("{}: {ignored} lines are ignored: {first}", path.display()));
    }
    Ok(())
}

/// The files of attempts' records.
fn files(run: &Path) -> Result<BTreeSet<(AttemptId, PathBuf)>, StoreError> {
    let folder = run.join(ATTEMPTS);
    let entries = if_there(fs::read_dir(&folder)).map_err(at("read the folder", &folder))?;
    let mut found = BTreeSet::new();
    for entry in entries.into_iter().flatten() {
        let path = entry.map_err(at("read the folder", &folder))?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.extend(AttemptId::of_file(&path).map(|id| (id, path)));
        }
    }
    Ok(found)
}

fn key(record: &Record) -> (u32, usize) {
    (record.trial.block, record.trial.treatment)
}

/// Whether a record belongs to a trial of this schedule and to this attempt.
fn is_of(record: &Record, schedule: &Schedule, id: AttemptId) -> bool {
    let levels = schedule.treatments.get(record.trial.treatment).map(|of| &of.levels);
    let planned = schedule.trials.get(record.trial.position as usize);
    planned == Some(&record.trial)
        && levels == Some(&record.levels)
        && record.attempt.as_ref().is_some_and(|attempt| attempt.id == id)
}

#[cfg(test)]
mod tests;

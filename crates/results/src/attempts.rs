//! Attempts by other machines to run shares of a run, in its folder `attempts`.
//!
//! Each attempt appends to a file of its own, so that no machine waits for another or is harmed by
//! a dead one. Whoever holds the run puts each trial's record into `records.jsonl` once: a record
//! that is there stays, and of others that of the attempt with the least id counts, whatever was
//! measured.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ssdlab_host::regular_file;
use ssdlab_host::sync::sync_folder;
use ssdlab_plan::Schedule;

use super::attempt_id::AttemptId;
use super::record::{Attempt, RECORD_SCHEMA, Record, Status};
use super::store::{Contents, LONGEST_LINE_BYTES, Run, StoreError, at, versioned};

/// The folder of attempts in a run's folder.
pub const ATTEMPTS: &str = "attempts";

/// The file of an attempt's records.
fn records_of(run: &Path, id: AttemptId) -> PathBuf {
    run.join(ATTEMPTS).join(format!("{id}.jsonl"))
}

/// What attempts have recorded beyond the records of a run.
#[derive(Debug, Default)]
pub struct Unmerged {
    /// Records of trials that had none.
    pub records: Vec<Record>,
    /// Records saying that a machine cannot run a treatment; another may have run it.
    pub refusals: Vec<Record>,
    /// Warnings about the files.
    pub warnings: Vec<String>,
}

impl Run {
    /// Opens a run for an attempt at one of its shares, whose records go to a file of their own.
    /// The contents include what earlier attempts at that share have recorded. The attempt gets a
    /// number if its id is taken.
    pub fn attempt(folder: &Path, mut attempt: Attempt) -> Result<(Self, Contents), StoreError> {
        let (mut contents, _) = Self::read_with_cut(folder)?;
        let Contents { schedule, records, .. } = &contents;
        let earlier = unmerged(folder, schedule, records, Some(attempt.id))?;
        // What its machine could not run then, this one may run now.
        contents.records.extend(earlier.records);
        contents.warnings.extend(earlier.warnings);
        let attempts = folder.join(ATTEMPTS);
        fs::create_dir_all(&attempts).map_err(at("make the folder", &attempts))?;
        let mut start = 1;
        let (records, path) = loop {
            let path = records_of(folder, attempt.id);
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    start += 1;
                    attempt.id = attempt.id.again(start);
                }
                other => break (other.map_err(at("make", &path))?, path),
            }
        };
        sync_folder(&attempts).map_err(at("sync", &attempts))?;
        let run = Self { folder: folder.to_owned(), records, path, attempt: Some(attempt) };
        Ok((run, contents))
    }

    /// What attempts have recorded beyond these records; nothing for an attempt, as only the holder
    /// of the run merges.
    pub fn unmerged(
        &self,
        schedule: &Schedule,
        records: &[Record],
    ) -> Result<Unmerged, StoreError> {
        let attempts = self.folder.join(ATTEMPTS);
        if self.attempt.is_some() || !attempts.exists() {
            return Ok(Unmerged::default());
        }
        // NFS may list a folder as it was a minute ago (nfs(5), `acdirmax`), until it is changed
        // from here.
        let mark = attempts.join("merging");
        let change = fs::write(&mark, "").and_then(|()| fs::remove_file(&mark));
        change.map_err(at("change", &attempts))?;
        unmerged(&self.folder, schedule, records, None)
    }
}

/// What attempts, or only those at one share, have recorded beyond these records.
pub(super) fn unmerged(
    run: &Path,
    schedule: &Schedule,
    records: &[Record],
    share: Option<AttemptId>,
) -> Result<Unmerged, StoreError> {
    let id = |record: &Record| record.attempt.as_ref().map(|attempt| attempt.id);
    let mut recorded: BTreeMap<(u32, usize), Option<AttemptId>> =
        records.iter().map(|record| (key(record), id(record))).collect();
    let mut found = Unmerged::default();
    for (id, path) in files(run)? {
        if share.is_some_and(|share| share.first() != id.first()) {
            continue;
        }
        let Unmerged { records, refusals, warnings } = &mut found;
        let mut repeated = 0;
        read(&path, id, schedule, warnings, |record| match recorded.entry(key(&record)) {
            _ if record.status == Status::Unavailable => refusals.push(record),
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
        let says = match versioned::<Record>(path, line, &text, RECORD_SCHEMA) {
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
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        other => other.map_err(at("read the folder", &folder))?,
    };
    let mut found = BTreeSet::new();
    for entry in entries {
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

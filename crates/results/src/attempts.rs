//! Attempts by nodes to run trials, in the run's folder `attempts`.
//!
//! Each attempt appends to its own file, so that no node waits for another or is harmed by a dead
//! one. One program, the holder of the run, reads them all and puts each trial's record into
//! `records.jsonl` once. A trial attempted twice counts once: a record in `records.jsonl` stays
//! there, and if several arrive together, the attempt submitted first counts, regardless of the
//! measured values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ssdlab_host::regular_file;
use ssdlab_plan::Schedule;

use super::attempt_id::AttemptId;
use super::error::{StoreError, at};
use super::lines::{versioned, whole_lines};
use super::paths::ATTEMPTS;
use super::record::{RECORD_SCHEMA, Record, Status};

/// The file name extension of an attempt's records.
const ENDING: &str = "jsonl";

/// The file of an attempt's records.
pub(super) fn records_of(run: &Path, id: AttemptId) -> PathBuf {
    run.join(ATTEMPTS).join(id.to_string()).with_extension(ENDING)
}

/// The folder of the request logs of an attempt's trials.
#[must_use]
pub fn logs_of(run: &Path, id: AttemptId) -> PathBuf {
    run.join(ATTEMPTS).join(id.to_string())
}

/// The file of an attempt's output.
#[must_use]
pub fn output_of(run: &Path, id: &str) -> PathBuf {
    run.join(ATTEMPTS).join(id).with_extension("out")
}

/// The marker of an attempt: while some of its changes to the node are not undone, a line each with
/// the node, the submission, and the path of the undo journal there; then empty.
#[must_use]
pub fn node_of(run: &Path, id: AttemptId) -> PathBuf {
    run.join(ATTEMPTS).join(id.to_string()).with_extension("node")
}

/// The attempts at a run, read as they grow.
#[derive(Debug)]
pub struct Attempts {
    run: PathBuf,
    /// How much of each file has been read, in bytes and in lines.
    read: BTreeMap<PathBuf, (u64, usize)>,
    /// The recorded trials, by block and treatment, and the attempts that ran them.
    recorded: BTreeMap<(u32, usize), Option<AttemptId>>,
}

/// What attempts have recorded since the last look.
#[derive(Debug, Default)]
pub struct News {
    /// Records of trials that had no record.
    pub records: Vec<Record>,
    /// Records saying that a node cannot run a treatment; another node may have run it.
    pub refusals: Vec<Record>,
    /// Records that do not count, because their trials already have one.
    pub doubles: Vec<Double>,
    /// Warnings about the files.
    pub warnings: Vec<String>,
}

/// A record that does not count, because its trial has another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Double {
    /// The block of the trial.
    pub block: u32,
    /// Its treatment.
    pub treatment: usize,
    /// The attempt with this record.
    pub attempt: AttemptId,
    /// The attempt whose record counts.
    pub counts: String,
}

/// An attempt with changes left on its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Its id.
    pub id: AttemptId,
    /// The node.
    pub node: String,
    /// The submission it was an element of.
    pub submission: String,
    /// The undo journal on the node.
    pub journal: PathBuf,
}

/// The attempts with changes left on their nodes.
#[derive(Debug, Default)]
pub struct NotUndone {
    /// Those with a readable marker.
    pub left: Vec<Left>,
    /// Unreadable markers, which may mean that changes are left.
    pub unreadable: Vec<StoreError>,
}

impl Attempts {
    /// The attempts at a run that already has these records.
    #[must_use]
    pub fn new(run: &Path, records: &[Record]) -> Self {
        let id = |record: &Record| record.attempt.as_ref().map(|attempt| attempt.id);
        let recorded = records.iter().map(|record| (key(record), id(record))).collect();
        Self { run: run.to_owned(), read: BTreeMap::new(), recorded }
    }

    /// Reads what has been written since the last call. An incomplete last line is left for the
    /// next.
    pub fn news(&mut self, schedule: &Schedule) -> Result<News, StoreError> {
        let mut news = News::default();
        let mut found: Vec<(AttemptId, Record)> = Vec::new();
        for (id, path) in self.with_ending(ENDING)? {
            while self.read_on(id, &path, schedule, &mut news.warnings, &mut found)? {}
        }
        found.sort_by_key(|(id, _)| *id);
        for (id, record) in found {
            if record.status == Status::Unavailable {
                news.refusals.push(record);
                continue;
            }
            match self.recorded.get(&key(&record)) {
                // The recorded one, read again.
                Some(Some(counts)) if *counts == id => {}
                Some(counts) => news.doubles.push(Double {
                    block: record.trial.block,
                    treatment: record.trial.treatment,
                    attempt: id,
                    counts: counts.map_or_else(|| "this machine".to_owned(), |id| id.to_string()),
                }),
                None => {
                    self.recorded.insert(key(&record), Some(id));
                    news.records.push(record);
                }
            }
        }
        Ok(news)
    }

    /// Reads what was appended to a file; returns whether there may be more.
    fn read_on(
        &mut self,
        id: AttemptId,
        path: &Path,
        schedule: &Schedule,
        warnings: &mut Vec<String>,
        found: &mut Vec<(AttemptId, Record)>,
    ) -> Result<bool, StoreError> {
        let (offset, lines) = self.read.get(path).copied().unwrap_or_default();
        let text = read_from(path, offset)?;
        let whole = whole_lines(&text);
        let (mut last, mut ignored) = (lines, 0);
        for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
            last += 1;
            let says = match versioned::<Record>(path, last, line, RECORD_SCHEMA) {
                Ok(record) if is_of(&record, schedule, id) => {
                    found.push((id, record));
                    continue;
                }
                Ok(_) => format!(
                    "{}, line {last}: not a trial of this run and attempt; ignored",
                    path.display()
                ),
                Err(error) => format!("{error}; ignored"),
            };
            ignored += 1;
            if ignored <= MOST_WARNINGS {
                warnings.push(says);
            }
        }
        if let more @ 1.. = ignored.saturating_sub(MOST_WARNINGS) {
            warnings.push(format!("{}: {more} more lines ignored", path.display()));
        }
        self.read.insert(path.to_owned(), (offset + whole as u64, last));
        Ok(whole > 0 && text.len() as u64 == regular_file::MOST_BYTES)
    }

    /// The attempts whose changes to their nodes have not all been undone.
    pub fn not_undone(&self) -> Result<NotUndone, StoreError> {
        let mut found = NotUndone::default();
        for (id, path) in self.with_ending("node")? {
            match left(id, &path) {
                Ok(left) => found.left.extend(left),
                Err(error) => found.unreadable.push(error),
            }
        }
        Ok(found)
    }

    /// Whether an attempt's changes have all been undone now. An error if its marker does not say.
    pub fn is_undone(&self, id: AttemptId) -> Result<bool, StoreError> {
        left(id, &node_of(&self.run, id)).map(|left| left.is_none())
    }

    /// The files with this extension that are named after attempts.
    fn with_ending(&self, ending: &str) -> Result<BTreeSet<(AttemptId, PathBuf)>, StoreError> {
        let folder = self.run.join(ATTEMPTS);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
            other => other.map_err(at("read the folder", &folder))?,
        };
        let mut found = BTreeSet::new();
        for entry in entries {
            let path = entry.map_err(at("read the folder", &folder))?.path();
            if path.extension().is_some_and(|of| of == ending) {
                found.extend(AttemptId::of_file(&path).map(|id| (id, path)));
            }
        }
        Ok(found)
    }
}

/// How many ignored lines of a file are named each time it is read.
const MOST_WARNINGS: usize = 10;

/// Whether what another machine has written can be a path there: it is absolute and has no NUL.
#[must_use]
pub fn is_path_of_node(path: &Path) -> bool {
    path.is_absolute() && !path.as_os_str().as_encoded_bytes().contains(&0)
}

/// What a marker says is left; `None` if it is empty.
fn left(id: AttemptId, path: &Path) -> Result<Option<Left>, StoreError> {
    let bytes = regular_file::read_own(path).map_err(at("read", path))?;
    let unreadable = || StoreError::Marker { path: path.to_owned() };
    let text = String::from_utf8(bytes).map_err(|_| unreadable())?;
    if text.is_empty() {
        return Ok(None);
    }
    let lines: Vec<&str> = text.lines().take(4).collect();
    let ([node, submission, journal], true) = (&lines[..], text.ends_with('\n')) else {
        return Err(unreadable());
    };
    if !is_path_of_node(Path::new(journal)) {
        return Err(unreadable());
    }
    Ok(Some(Left {
        id,
        node: (*node).to_owned(),
        submission: (*submission).to_owned(),
        journal: journal.into(),
    }))
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

fn read_from(path: &Path, offset: u64) -> Result<Vec<u8>, StoreError> {
    let mut text = Vec::new();
    let mut read = || {
        // On a shared folder, only opening a file revalidates its cached size.
        let mut file = regular_file::open_own(path)?;
        if file.metadata()?.len() == offset {
            return Ok(0);
        }
        file.seek(SeekFrom::Start(offset))?;
        file.take(regular_file::MOST_BYTES).read_to_end(&mut text)
    };
    read().map_err(at("read", path))?;
    Ok(text)
}

#[cfg(test)]
mod tests;

//! A run's folder: `plan.toml`, `schedule.json` and `records.jsonl`, append-only.
//!
//! Other machines append to files of their own (see [`super::attempts`]), whose records are merged
//! into `records.jsonl`.
//!
//! A record is one line, written and synced when its trial ends; a crash can only truncate the last
//! line. Reading never changes a file; appending first puts a truncated line aside.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use rayon::prelude::*;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Deserialize;
use ssdlab_host::base_folder::base_folder;
use ssdlab_host::regular_file;
use ssdlab_host::sync::sync_folder;
use ssdlab_host::whole_file;
use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::SCHEDULE_SCHEMA;
use thiserror::Error;

use super::attempts::{ATTEMPTS, unmerged};
use super::record::{Attempt, Ending, RECORD_SCHEMA, Record};
use super::sieve::Sieve;

/// The file that says why a run ended.
const ENDING: &str = "ending.json";

/// The file of the plan.
const PLAN: &str = "plan.toml";

/// The file of the schedule.
const SCHEDULE: &str = "schedule.json";

/// The file of records.
const RECORDS: &str = "records.jsonl";

/// The files and folders of a run.
const PARTS: [&str; 8] =
    [PLAN, SCHEDULE, RECORDS, "records.cut", ENDING, "ending.half", "requests", ATTEMPTS];

/// How much of the records is read at a time, in bytes: enough work for all processors.
const PART_BYTES: u64 = 8 << 20;

/// How many records are parsed at a time; those that are not kept are dropped with them.
const PARSED_RECORDS: usize = 4096;

/// More than any record has, in bytes: a longer line is not read to its end.
pub(super) const LONGEST_LINE_BYTES: usize = 256 << 20;

/// A run that cannot be stored or read.
#[derive(Debug, Error, Diagnostic)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error("cannot {step} {}: {cause}", path.display())]
    Io {
        /// What was attempted.
        step: &'static str,
        /// The path.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// There is no such run.
    #[error("there is no run {}: {why}", path.display())]
    #[diagnostic(help(
        "{}runs are in {}; name one of them, its folder, or another results folder with --results",
        did_you_mean(path, folder),
        folder.display()
    ))]
    NoRun {
        /// The requested path.
        path: PathBuf,
        /// What it is instead.
        why: String,
        /// Where runs are.
        folder: PathBuf,
    },
    /// A line is not a record.
    #[error("{}, line {line} is not a record: {cause}", path.display())]
    #[diagnostic(help(
        "something else changed the file; the other lines are intact, so remove this line to keep \
         them"
    ))]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A schedule is malformed.
    #[error("{} is not a schedule: {cause}", path.display())]
    #[diagnostic(help("start a new run from the plan.toml beside it; the records are unchanged"))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A schedule whose parts do not fit each other.
    #[error("{} was changed: {fault}", path.display())]
    #[diagnostic(help("start a new run from the plan.toml beside it"))]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What does not fit, or is out of range.
        fault: String,
    },
    /// An ending is malformed.
    #[error("cannot read how the run ended from {}: {cause}", path.display())]
    #[diagnostic(help(
        "the records are unchanged; if you remove the file, the run counts as interrupted"
    ))]
    Ending {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
    /// A newer program wrote it.
    #[error("{} has schema {found}; this program reads up to {known}", path.display())]
    #[diagnostic(help("read it with the version of ssdlab that wrote it, or a newer one"))]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The newest this program reads.
        known: u32,
    },
    /// Another program is appending to it.
    #[error("{} is being written by another ssdlab", path.display())]
    #[diagnostic(help("wait for that run to end, or stop it"))]
    Busy {
        /// The run's folder.
        path: PathBuf,
    },
}

impl StoreError {
    /// Says what is at a path instead of a run's folder. Runs are beside it, or in `folder`.
    #[must_use]
    pub fn no_run(path: &Path, folder: PathBuf) -> Self {
        if holds_runs(path) {
            let why = "it is a folder of runs".to_owned();
            return Self::NoRun { path: path.to_owned(), why, folder: path.to_owned() };
        }
        let beside = path.parent().filter(|parent| holds_runs(parent));
        let folder = beside.map_or(folder, Path::to_owned);
        let kind = regular_file::other_kind(path).unwrap_or("a file");
        let why = if path.exists() && !path.is_dir() {
            format!("it is {kind}, not the folder of a run")
        } else {
            "no schedule.json found".to_owned()
        };
        Self::NoRun { path: path.to_owned(), why, folder }
    }
}

fn holds_runs(folder: &Path) -> bool {
    run_folders(folder).next().is_some()
}

/// Whether a folder is that of a run, which may be broken.
#[must_use]
pub fn is_run(folder: &Path) -> bool {
    folder.join(SCHEDULE).exists()
}

fn run_folders(folder: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_run(&entry.path()))
}

/// The names of the runs in a folder as far as they are text, those of a plan with the latest last;
/// none if it cannot be read.
#[must_use]
pub fn runs_in(folder: &Path) -> Vec<String> {
    let runs = run_folders(folder);
    let mut names: Vec<String> =
        runs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// A question to begin a help text with, if a run in a folder has a name like the last of a path.
fn did_you_mean(path: &Path, folder: &Path) -> String {
    let named = path.file_name().unwrap_or_default().to_string_lossy();
    ssdlab_plan::did_you_mean(&named, runs_in(folder).iter().map(String::as_str))
}

pub(super) fn at<'a>(
    step: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> StoreError + 'a {
    move |cause| StoreError::Io { step, path: path.to_owned(), cause }
}

/// A run's folder, open for appending.
#[derive(Debug)]
pub struct Run {
    pub(super) folder: PathBuf,
    /// The file that records go to, and its path.
    pub(super) records: File,
    pub(super) path: PathBuf,
    /// The attempt that writes the records, if they are not the run's own.
    pub(super) attempt: Option<Attempt>,
}

/// What a run's folder holds.
#[derive(Debug)]
pub struct Contents {
    /// The plan as written; empty if something else made the folder.
    pub plan: String,
    /// The schedule.
    pub schedule: Schedule,
    /// The records.
    pub records: Vec<Record>,
    /// Why it ended; `Interrupted` if something else made the folder.
    pub ending: Ending,
    /// Harmless irregularities.
    pub warnings: Vec<String>,
}

/// The folder for results: `$XDG_DATA_HOME/ssdlab`, or `~/.local/share/ssdlab`.
#[must_use]
pub fn default_folder() -> PathBuf {
    let data = base_folder("XDG_DATA_HOME", ".local/share");
    data.unwrap_or_else(|| PathBuf::from(".local/share")).join("ssdlab")
}

/// Whether a path, with links resolved, is a file of a run, as opposed to other files in its
/// folder.
#[must_use]
pub fn is_of_a_run(path: &Path) -> bool {
    path.ancestors().take(2).any(|part| {
        let is_part = part.file_name().is_some_and(|name| PARTS.iter().any(|part| name == *part));
        let folder = part.parent().filter(|parent| !parent.as_os_str().is_empty());
        is_part && folder.unwrap_or(Path::new(".")).join(SCHEDULE).exists()
    })
}

impl Run {
    /// Makes a new run's folder below `results`, named `id`, with a number if that is taken.
    pub fn create(
        results: &Path,
        id: &str,
        plan: &str,
        schedule: &Schedule,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(results).map_err(at("make the folder", results))?;
        let folder = (1_u32..)
            .map(|n| if n == 1 { id.to_owned() } else { format!("{id}-{n}") })
            .map(|name| results.join(name))
            .find_map(|folder| match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
                Err(error) => Some(Err(at("make the folder", &folder)(error))),
                Ok(()) => Some(Ok(folder)),
            })
            .expect("there are infinitely many names")?;
        Self::begin(&folder, plan, schedule).inspect_err(|_| {
            // Without its schedule it is not a run yet.
            let _ = fs::remove_dir_all(&folder);
        })?;
        sync_folder(results).map_err(at("sync", results))?;
        Self::append(&folder).map(|(run, _)| run)
    }

    fn begin(folder: &Path, plan: &str, schedule: &Schedule) -> Result<(), StoreError> {
        write_synced(&folder.join(RECORDS), b"")?;
        write_synced(&folder.join(PLAN), plan.as_bytes())?;
        // The schedule comes last, and whole: a folder that has one is complete.
        let text = serde_json::to_vec_pretty(schedule).expect("a schedule is plain data");
        write_whole(&folder.join(SCHEDULE), &text)
    }

    /// Opens a run to append to it. A truncated last line is moved to `records.cut`.
    pub fn append(folder: &Path) -> Result<(Self, Contents), StoreError> {
        if !folder.join(SCHEDULE).exists() {
            return Err(StoreError::no_run(folder, default_folder()));
        }
        let path = folder.join(RECORDS);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let records =
            regular_file::open_own_with(&path, &mut options).map_err(at("open", &path))?;
        claim(&records, folder)?;
        let (contents, cut) = Self::read_with_cut(folder)?;
        if !cut.is_empty() {
            write_synced(&folder.join("records.cut"), &cut)?;
            let length = records.metadata().map_err(at("look at", &path))?.len();
            let whole = length - cut.len() as u64;
            records.set_len(whole).map_err(at("shorten", &path))?;
        }
        Ok((Self { folder: folder.to_owned(), records, path, attempt: None }, contents))
    }

    /// Reads a run without changing anything. One that has not ended includes what attempts have
    /// recorded so far.
    pub fn read(folder: &Path) -> Result<Contents, StoreError> {
        let (mut contents, _) = Self::read_with_cut(folder)?;
        if contents.ending == Ending::Interrupted {
            let found = unmerged(folder, &contents.schedule, &contents.records, None)?;
            contents.records.extend(found.records);
            contents.warnings.extend(found.warnings);
            for refusal in found.refusals {
                let is_same = |known: &Record| known.trial.treatment == refusal.trial.treatment;
                if !contents.records.iter().any(is_same) {
                    contents.records.push(refusal);
                }
            }
        }
        Ok(contents)
    }

    /// Reads a run and the truncated last line of its records, which is empty in an intact file.
    pub(super) fn read_with_cut(folder: &Path) -> Result<(Contents, Vec<u8>), StoreError> {
        let schedule = read_schedule(folder)?;
        let path = folder.join(RECORDS);
        let file = regular_file::open_own(&path).map_err(at("read", &path))?;
        let mut sieve = Sieve::new(&schedule);
        let is_kept = |record: &Record| sieve.keeps(record);
        let (records, cut) = parse_records(&path, file, LONGEST_LINE_BYTES, is_kept)?;
        let mut warnings = Vec::new();
        if !cut.is_empty() {
            warnings.push(format!(
                "{}: the last line was truncated ({} bytes) and is ignored; `--resume` runs its \
                 trial again",
                path.display(),
                cut.len()
            ));
        }
        warnings.extend(sieve.says());
        let plan = read_if_there(&folder.join(PLAN))?.unwrap_or_default();
        let plan = String::from_utf8_lossy(&plan).into_owned();
        let mut ending = read_ending(&folder.join(ENDING))?;
        if ending == Ending::AllBlocks && !reaches_the_end(&schedule, &records) {
            warnings.push(format!(
                "{}: the run claims that all blocks were done, but its records end earlier: \
                 treating it as partial",
                folder.display()
            ));
            ending = Ending::Interrupted;
        }
        Ok((Contents { plan, schedule, records, ending, warnings }, cut))
    }

    /// The run's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run's name.
    #[must_use]
    pub fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Stores why the run ended, in `ending.json`; a run that is killed keeps `interrupted`. An
    /// attempt does not decide about the run.
    pub fn ended(&self, ending: Ending) -> Result<(), StoreError> {
        if self.attempt.is_some() {
            return Ok(());
        }
        let text = serde_json::to_vec(&ending).expect("an ending is plain data");
        write_whole(&self.folder.join(ENDING), &text)
    }

    /// Appends a record and syncs it.
    pub fn push(&mut self, record: &Record) -> Result<(), StoreError> {
        self.push_all(std::slice::from_ref(record))
    }

    /// Appends records and syncs them. After an error the file is unchanged, unless it could not be
    /// truncated.
    pub fn push_all(&mut self, records: &[Record]) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for record in records {
            // Records are large: only those of an attempt are copied, to be marked.
            let own =
                self.attempt.clone().map(|own| Record { attempt: Some(own), ..record.clone() });
            let record = own.as_ref().unwrap_or(record);
            serde_json::to_writer(&mut lines, record).expect("a record is plain data");
            lines.push(b'\n');
        }
        let before = self.records.metadata().map_err(at("look at", &self.path))?.len();
        let written = self.records.write_all(&lines).and_then(|()| self.records.sync_data());
        written.or_else(|cause| {
            // A partial line would corrupt the next one.
            self.records.set_len(before).map_err(|error| {
                let both = io::Error::other(format!("{error}, after {cause}"));
                at("shorten", &self.path)(both)
            })?;
            Err(at("append to", &self.path)(cause))
        })
    }
}

/// Takes the lock of a run's records.
fn claim(records: &File, folder: &Path) -> Result<(), StoreError> {
    match flock(records, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(StoreError::Busy { path: folder.to_owned() }),
        Err(errno) => Err(at("lock the records of", folder)(errno.into())),
    }
}

/// A killed run has no ending.
fn read_ending(path: &Path) -> Result<Ending, StoreError> {
    let Some(text) = read_if_there(path)? else { return Ok(Ending::Interrupted) };
    serde_json::from_slice(&text)
        .map_err(|cause| StoreError::Ending { path: path.to_owned(), cause })
}

fn read_schedule(folder: &Path) -> Result<Schedule, StoreError> {
    let path = folder.join(SCHEDULE);
    let text = match regular_file::read_own(&path) {
        Err(error) if is_missing(&error) => {
            return Err(StoreError::no_run(folder, default_folder()));
        }
        other => other.map_err(at("read", &path))?,
    };
    let schedule: Schedule =
        versioned(&path, 1, &text, SCHEDULE_SCHEMA).map_err(|error| match error {
            StoreError::Corrupt { path, cause, .. } => StoreError::Malformed { path, cause },
            other => other,
        })?;
    match schedule.fault() {
        None => Ok(schedule),
        Some(fault) => Err(StoreError::Unsound { path, fault }),
    }
}

/// Reads an optional file.
fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match regular_file::read_own(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(at("read", path)),
    }
}

/// Whether there is a record of the last block, as in a complete run.
fn reaches_the_end(schedule: &Schedule, records: &[Record]) -> bool {
    let last = schedule.trials.iter().map(|trial| trial.block).max();
    let reached = records.iter().map(|record| record.trial.block).max();
    !schedule.steps.is_empty() || reached >= last
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Parses the records of a file, a part at a time; returns those that are kept, and an incomplete
/// last line beside them. A line longer than `longest_bytes` by more than a part is refused.
fn parse_records(
    path: &Path,
    file: impl Read,
    longest_bytes: usize,
    mut is_kept: impl FnMut(&Record) -> bool,
) -> Result<(Vec<Record>, Vec<u8>), StoreError> {
    let mut file = file.take(PART_BYTES);
    let (mut records, mut lines) = (Vec::new(), 0);
    let mut part = Vec::new();
    // The rest of a part is the beginning of the next part's first line.
    loop {
        let left = part.len();
        if file.read_to_end(&mut part).map_err(at("read", path))? == 0 {
            break;
        }
        // The rest of the previous part has no line break.
        let whole = match whole_lines(&part[left..]) {
            0 => 0,
            new => left + new,
        };
        if whole == 0 && part.len() > longest_bytes {
            let cause = serde::de::Error::custom("it is longer than any record");
            return Err(StoreError::Corrupt { path: path.to_owned(), line: lines + 1, cause });
        }
        // Without its line break: errors behind it would be on a second line.
        let own = part[..whole].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut own = (lines + 1..).zip(own).filter(|(_, line)| !line.is_empty());
        loop {
            // A parsed record has more bytes than its line.
            let some: Vec<(usize, &[u8])> = own.by_ref().take(PARSED_RECORDS).collect();
            if some.is_empty() {
                break;
            }
            let parse = |(line, text): &(usize, &[u8])| versioned(path, *line, text, RECORD_SCHEMA);
            let parsed: Vec<Result<Record, StoreError>> = some.par_iter().map(parse).collect();
            for record in parsed {
                let mut record = record?;
                if is_kept(&record) {
                    // It stays in memory; drop the spare capacity of a grown vector.
                    record.phases.shrink_to_fit();
                    records.push(record);
                }
            }
        }
        lines += part[..whole].split_inclusive(|byte| *byte == b'\n').count();
        part.drain(..whole);
        file.set_limit(PART_BYTES);
    }
    Ok((records, part))
}

/// The length up to and including the last line break.
pub(super) fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Parses JSON with a schema number, and refuses one that is too new.
pub(super) fn versioned<T: serde::de::DeserializeOwned>(
    path: &Path,
    line: usize,
    text: &[u8],
    known: u32,
) -> Result<T, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        schema: u64,
    }
    let corrupt = |cause| StoreError::Corrupt { path: path.to_owned(), line, cause };
    let version: Version = serde_json::from_slice(text).map_err(corrupt)?;
    if version.schema > u64::from(known) {
        return Err(StoreError::Newer { path: path.to_owned(), found: version.schema, known });
    }
    serde_json::from_slice(text).map_err(corrupt)
}

/// Replaces the contents of a file and syncs it.
fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    let mut file = regular_file::open_own_with(path, &mut options).map_err(at("write", path))?;
    file.write_all(bytes).map_err(at("write", path))?;
    file.sync_all().map_err(at("sync", path))
}

/// Writes a file that is there whole or not at all, and syncs it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    whole_file::write(path, |out| out.write_all(bytes)).map_err(at("write", path))
}

/// The fuzzer's entry point: accepted records must round-trip.
#[doc(hidden)]
pub fn fuzz_records(bytes: &[u8]) {
    let path = Path::new("records.jsonl");
    let Ok((records, _)) = parse_records(path, bytes, LONGEST_LINE_BYTES, |_| true) else { return };
    for record in records {
        let line = serde_json::to_string(&record).expect("a record is plain data");
        let again: Record = versioned(path, 1, line.as_bytes(), RECORD_SCHEMA)
            .expect("what is written can be read");
        assert_eq!(serde_json::to_string(&again).expect("a record is plain data"), line);
    }
}

#[cfg(test)]
mod tests;

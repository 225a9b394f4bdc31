//! A run's folder: `plan.toml`, `schedule.json` and `records.jsonl`, append-only.
//!
//! Other machines append to files of their own (see [`super::attempts`]), whose records are merged
//! into `records.jsonl`.
//!
//! A record is one line, written and synced when its trial ends; a crash can only truncate the last
//! line. Reading never changes a file; appending first puts a truncated line aside.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use ssdlab_host::files::sync_folder;
use ssdlab_host::{regular_file, whole_file};
use ssdlab_plan::Schedule;

use super::attempts::{UnmergedRecords, records_of, unmerged};
use super::error::{StoreError, at};
use super::lines::{LONGEST_LINE_BYTES, parse_records, versioned};
use super::paths::{ATTEMPTS, ENDING, PLAN, RECORDS, SCHEDULE, default_folder};
use super::record::{Attempt, Ending, Record};

/// A run's folder, open for appending.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    /// The file that records go to, and its path.
    records: File,
    path: PathBuf,
    /// The attempt that writes the records, if they are not the run's own.
    attempt: Option<Attempt>,
}

/// What a run's folder holds.
#[derive(Debug)]
pub struct RunContents {
    /// The plan as written; empty if something else made the folder.
    pub plan: String,
    pub schedule: Schedule,
    pub records: Vec<Record>,
    /// Why it ended; `Interrupted` if something else made the folder.
    pub ending: Ending,
    /// Harmless irregularities.
    pub warnings: Vec<String>,
}

impl RunFolder {
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
    pub fn append(folder: &Path) -> Result<(Self, RunContents), StoreError> {
        if !folder.join(SCHEDULE).exists() {
            return Err(StoreError::no_run(folder, default_folder()));
        }
        let path = folder.join(RECORDS);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let records =
            regular_file::open_own_with(&path, &mut options).map_err(at("open", &path))?;
        claim(&records, folder)?;
        let (mut contents, cut) = Self::read_with_cut(folder)?;
        if !cut.is_empty() {
            contents.warnings.insert(0, truncated(&path, &cut));
            write_synced(&folder.join("records.cut"), &cut)?;
            let length = records.metadata().map_err(at("look at", &path))?.len();
            let whole = length - cut.len() as u64;
            records.set_len(whole).map_err(at("shorten", &path))?;
        }
        Ok((Self { folder: folder.to_owned(), records, path, attempt: None }, contents))
    }

    /// Opens a run for an attempt at one of its shares, whose records go to a file of their own.
    /// The contents include what earlier attempts at that share have recorded. The attempt gets a
    /// number if its id is taken.
    pub fn attempt(folder: &Path, mut attempt: Attempt) -> Result<(Self, RunContents), StoreError> {
        let mut contents = Self::read_own(folder)?;
        let RunContents { schedule, records, .. } = &contents;
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

    /// Reads a run's schedule.
    pub fn schedule(folder: &Path) -> Result<Schedule, StoreError> {
        read_schedule(folder)
    }

    /// Reads a run without changing anything. One that has not ended includes what attempts have
    /// recorded so far.
    pub fn read(folder: &Path) -> Result<RunContents, StoreError> {
        let mut contents = Self::read_own(folder)?;
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

    /// Reads a run without what attempts have recorded.
    fn read_own(folder: &Path) -> Result<RunContents, StoreError> {
        let (mut contents, cut) = Self::read_with_cut(folder)?;
        let path = folder.join(RECORDS);
        if !cut.is_empty() && !is_being_written(&path) {
            contents.warnings.insert(0, truncated(&path, &cut));
        }
        Ok(contents)
    }

    /// Reads a run and the truncated last line of its records, which is empty in an intact file.
    fn read_with_cut(folder: &Path) -> Result<(RunContents, Vec<u8>), StoreError> {
        let schedule = read_schedule(folder)?;
        // A run may end while it is read: its ending comes after its records.
        let mut ending = read_ending(&folder.join(ENDING))?;
        let path = folder.join(RECORDS);
        let file = regular_file::open_own(&path).map_err(at("read", &path))?;
        let mut sieve = Sieve::new(&schedule);
        let is_kept = |record: &Record| sieve.keeps(record);
        let (records, cut) = parse_records(&path, file, LONGEST_LINE_BYTES, is_kept)?;
        let mut warnings: Vec<String> = sieve.warnings().collect();
        let plan = read_if_there(&folder.join(PLAN))?.unwrap_or_default();
        let plan = String::from_utf8_lossy(&plan).into_owned();
        if ending == Ending::AllBlocks && !reaches_the_end(&schedule, &records) {
            warnings.push(format!(
                "{}: the run claims that all blocks were done, but its records end earlier: \
                 treating it as partial",
                folder.display()
            ));
            ending = Ending::Interrupted;
        }
        Ok((RunContents { plan, schedule, records, ending, warnings }, cut))
    }

    /// What attempts have recorded beyond these records; nothing for an attempt, as only the holder
    /// of the run merges.
    pub fn unmerged(
        &self,
        schedule: &Schedule,
        records: &[Record],
    ) -> Result<UnmergedRecords, StoreError> {
        let attempts = self.folder.join(ATTEMPTS);
        if self.attempt.is_some() || !attempts.exists() {
            return Ok(UnmergedRecords::default());
        }
        // NFS may list a folder as it was a minute ago (nfs(5), `acdirmax`), until it is changed
        // from here.
        let mark = attempts.join("merging");
        let change = fs::write(&mark, "").and_then(|()| fs::remove_file(&mark));
        change.map_err(at("change", &attempts))?;
        unmerged(&self.folder, schedule, records, None)
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run's name.
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

/// Whether a program holds the lock of a run's records: the last line may be unfinished.
fn is_being_written(records: &Path) -> bool {
    let lock = |file| flock(file, FlockOperation::NonBlockingLockShared);
    regular_file::open_own(records).is_ok_and(|file| lock(file) == Err(Errno::WOULDBLOCK))
}

fn truncated(records: &Path, cut: &[u8]) -> String {
    format!(
        "{}: the last line was truncated ({} bytes) and is ignored; `--resume` runs its trial \
         again",
        records.display(),
        cut.len()
    )
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
    let schedule: Schedule = versioned(&path, 1, &text).map_err(|error| match error {
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

/// Drops records of other runs and repeated records of a trial, as they are read.
pub(super) struct Sieve<'a> {
    schedule: &'a Schedule,
    known: BTreeSet<(u32, usize)>,
    foreign: usize,
    repeated: usize,
}

impl<'a> Sieve<'a> {
    pub fn new(schedule: &'a Schedule) -> Self {
        Self { schedule, known: BTreeSet::new(), foreign: 0, repeated: 0 }
    }

    pub fn keeps(&mut self, record: &Record) -> bool {
        let treatment = self.schedule.treatments.get(record.trial.treatment);
        if treatment.is_none_or(|treatment| treatment.levels != record.levels) {
            self.foreign += 1;
            return false;
        }
        let is_new = self.known.insert((record.trial.block, record.trial.treatment));
        self.repeated += usize::from(!is_new);
        is_new
    }

    /// Warnings about what it dropped.
    pub fn warnings(self) -> impl Iterator<Item = String> {
        let says = |count: usize, what: &str| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("records.jsonl: {count} record{plural} of {what}: ignored"))
        };
        let foreign = says(self.foreign, "treatments that this run does not have");
        let repeated = says(self.repeated, "trials that were recorded earlier");
        foreign.into_iter().chain(repeated)
    }
}

#[cfg(test)]
mod tests;

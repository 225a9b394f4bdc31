//! Phases whose files record their own history: files replaced by renaming, a log, and databases.
//!
//! Each step is reported, so that the state after a power cut can be judged against what had been
//! done and promised by then.

use std::path::Path;

use crate::engine::OperationTally;
use rustix::fs::{Mode, OFlags, fdatasync, fsync, openat, renameat};
use ssdlab_operations::cuts::contents::{REPLACED_BYTES, logged, replaced};
use ssdlab_operations::cuts::{
    Damage, FileOperationStep, FileState, Sequence, WatchedFile, WatchedFiles,
};
use ssdlab_plan::schedule::{Action, Phase};
use ssdlab_plan::versions::{Append, Replace};

use super::history::{TrialReporter, make, read_all, timed};
use super::player::{open_directory, write_all};
use super::verify::differs;
use super::{PhaseContext, PhaseOutcome, WorkloadError, database, sequences};

/// The new version of a file before it is renamed.
const TEMPORARY: &str = "replacing";

pub fn subjects(phases: &[Phase]) -> WatchedFiles {
    let mut subjects = WatchedFiles::default();
    for phase in phases {
        match phase.action {
            Action::Replace(replace) => subjects.replaced = replace.files,
            Action::Append(append) => subjects.log = Some(append.record_bytes),
            Action::Database(database) => subjects.databases.push(database.shape),
            Action::Sequences(work) => subjects.sequences = work.operations,
            _ => {}
        }
    }
    subjects
}

/// Makes all files in their version 0.
pub(super) fn lay_out(
    subjects: &WatchedFiles,
    seed: u64,
    place: PhaseContext<'_>,
) -> Result<(), WorkloadError> {
    let directory = open_directory(place.directory)?;
    for file in 0..subjects.replaced {
        make(&directory, &WatchedFile::Replaced(file).name(), &replaced(file, 0))?;
    }
    if subjects.log.is_some() {
        make(&directory, &WatchedFile::Log.name(), &[])?;
    }
    for shape in &subjects.databases {
        database::lay_out(*shape, seed, place)?;
    }
    sequences::lay_out(subjects.sequences, place)
}

/// Checks that files are as these phases, the last ones, must have left them; the error is the
/// first difference.
pub(super) fn verify(phases: &[Phase], place: PhaseContext<'_>) -> Result<(), WorkloadError> {
    let subjects = subjects(phases);
    for (subject, found) in subjects.each().zip(look(&subjects, place.directory)) {
        let last = phases.iter().find_map(|phase| match (subject, &phase.action) {
            (WatchedFile::Replaced(_), Action::Replace(work)) => Some(work.rounds),
            (WatchedFile::Log, Action::Append(work)) => Some(work.records),
            (WatchedFile::Database(kind), Action::Database(work)) => {
                (work.shape.torn_pages == kind).then_some(work.commits)
            }
            (WatchedFile::Sequence(sequence), Action::Sequences(_)) => {
                sequence.steps().last().map(|(_, version)| *version)
            }
            _ => None,
        });
        let name = subject.name();
        if let Some(fault) = found.fault {
            return Err(differs(&name, &format!("is {fault}")));
        }
        if found.version != last {
            let [found, last] = [found.version, last].map(Option::unwrap_or_default);
            return Err(differs(&name, &format!("is at version {found} instead of {last}")));
        }
    }
    Ok(())
}

pub(super) fn replace(
    work: &Replace,
    teller: &TrialReporter,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let directory = open_directory(place.directory)?;
    let operations =
        (1..=work.rounds).flat_map(|version| (0..work.files).map(move |file| (file, version)));
    let counted = timed(operations, work.think_ns, place, |(file, version)| {
        let subject = WatchedFile::Replaced(file);
        let name = subject.name();
        let tell = |step| teller.tell(subject, version, step);
        let new = make(&directory, TEMPORARY, &replaced(file, version))?;
        if work.sync.file() {
            fsync(&new).map_err(WorkloadError::operation("sync", TEMPORARY))?;
            tell(FileOperationStep::Contents);
        }
        drop(new);
        tell(FileOperationStep::Begun);
        renameat(&directory, TEMPORARY, &directory, &name)
            .map_err(WorkloadError::operation("rename over", &name))?;
        tell(FileOperationStep::Done);
        if work.sync.directory() {
            fsync(&directory).map_err(WorkloadError::operation("sync the directory of", &name))?;
            tell(FileOperationStep::Place);
        }
        Ok(())
    })?;
    Ok(done(counted, REPLACED_BYTES, teller))
}

/// Appends records.
pub(super) fn append(
    work: &Append,
    teller: &TrialReporter,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let directory = open_directory(place.directory)?;
    let name = WatchedFile::Log.name();
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let log = openat(&directory, &name, flags, Mode::empty())
        .map_err(WorkloadError::operation("open", &name))?;
    let record_bytes = work.record_bytes as usize;
    let counted = timed(1..=work.records, work.think_ns, place, |version| {
        let tell = |step| teller.tell(WatchedFile::Log, version, step);
        tell(FileOperationStep::Begun);
        write_all(&log, &logged(version - 1, record_bytes))
            .map_err(WorkloadError::operation("append to", &name))?;
        tell(FileOperationStep::Done);
        if work.sync_every.is_some_and(|every| version % every == 0) {
            fdatasync(&log).map_err(WorkloadError::operation("sync", &name))?;
            tell(FileOperationStep::Place);
        }
        Ok(())
    })?;
    Ok(done(counted, record_bytes, teller))
}

/// The states of files after a power cut.
pub fn look(subjects: &WatchedFiles, directory: &Path) -> Vec<FileState> {
    let directory = open_directory(directory).map_err(|_| Damage::Missing);
    let bytes = |subject: WatchedFile| {
        read_all(directory.as_ref().map_err(|fault| *fault)?, &subject.name())
    };
    let replaced = (0..subjects.replaced).map(|file| {
        bytes(WatchedFile::Replaced(file)).map(|bytes| FileState::of_replaced(file, &bytes))
    });
    let log = subjects.log.map(|record_bytes| {
        bytes(WatchedFile::Log).map(|bytes| FileState::of_log(&bytes, record_bytes as usize))
    });
    let databases = subjects
        .databases
        .iter()
        .map(|shape| database::look(*shape, directory.as_ref().map_err(|fault| *fault)?));
    let sequences = Sequence::all(subjects.sequences).into_iter();
    let sequences = sequences
        .map(|sequence| sequences::look(sequence, directory.as_ref().map_err(|fault| *fault)?));
    let found = replaced.chain(log).chain(databases).chain(sequences);
    found.map(|found| found.unwrap_or_else(FileState::faulty)).collect()
}

/// The result of operations that write this many bytes each.
fn done(counted: OperationTally, bytes: usize, teller: &TrialReporter) -> PhaseOutcome {
    let application_bytes = teller.counted(counted.operations * bytes as u64);
    PhaseOutcome { application_bytes, counted: Some(counted), ..PhaseOutcome::default() }
}

#[cfg(test)]
mod tests;

//! The times of operations on files, and the verdict on the state in which files are found after a
//! cut.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::{RECORD_BYTES, REPLACED_BYTES};
use super::file_operation::{FileOperation, FileOperationStep, WatchedFile, WatchedFiles};
use super::file_state::{Damage, FileState};

/// The steps of a workload's file operations.
#[derive(Debug, Clone, Default)]
pub struct FileHistory {
    /// In the order of time, in ns.
    operations: BTreeMap<WatchedFile, Vec<(u64, FileOperation)>>,
}

/// What a power cut did to the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Verdict")]
pub struct CutVerdict {
    /// Files that are neither as they were before nor as they were to become, by what is wrong.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub damaged: BTreeMap<Damage, u32>,
    /// Files that break a promise: what was said to be durable is gone.
    pub broken_promises: u32,
    /// Operations that had been done and are gone, promised or not.
    pub lost_operations: u32,
    /// What they wrote, in bytes.
    pub lost_bytes: u64,
    /// How long before the cut the earliest of them was done, in ns; 0 if none is lost.
    pub lost_ns: u64,
}

/// What a file was to be at a moment. Version 0 was there and synced before all else; a log's
/// version is the number of its records, a database's that of its commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Expected")]
pub struct ExpectedVersions {
    /// The newest version whose place was promised: what is older breaks the promise.
    pub promised: u32,
    /// The newest version that was in place: what is older is lost work.
    pub done: u32,
    /// The newest version that was on its way there: nothing newer can be found.
    pub begun: u32,
    /// The newest version such that its contents and those of all before were promised: once it is
    /// the one that was begun, damage breaks a promise.
    pub contents: u32,
}

/// The progress of a file at a moment. Version 0 existed and was synced at the start.
#[derive(Debug, Default)]
struct Progress {
    begun: u32,
    /// The newest version whose place was promised.
    placed: u32,
    /// The newest version of which, and of all before which, the contents were promised.
    kept: u32,
    /// When each version from 1 on was done.
    done: Vec<u64>,
}

impl FileHistory {
    /// Adds a step of a file operation at a time in ns; times never decrease.
    pub fn add(&mut self, at_ns: u64, operation: FileOperation) {
        self.operations.entry(operation.of).or_default().push((at_ns, operation));
    }

    /// All steps with their times in ns, in the order of time.
    pub fn operations(&self) -> Vec<(u64, FileOperation)> {
        let mut operations: Vec<(u64, FileOperation)> =
            self.operations.values().flatten().copied().collect();
        operations.sort_by_key(|(at_ns, _)| *at_ns);
        operations
    }

    /// The times of the promises, in ns, in ascending order.
    pub fn promises(&self) -> Vec<u64> {
        let is_promise = |operation: &FileOperation| {
            matches!(operation.step, FileOperationStep::Contents | FileOperationStep::Place)
        };
        let operations =
            self.operations.values().flatten().filter(|(_, operation)| is_promise(operation));
        let mut times: Vec<u64> = operations.map(|(at_ns, _)| *at_ns).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The expected state of a file at a time in ns.
    pub fn expected(&self, subject: WatchedFile, at_ns: u64) -> ExpectedVersions {
        let Progress { begun, placed, kept, done } = self.progress(subject, at_ns);
        let done = u32::try_from(done.len()).unwrap_or(u32::MAX);
        ExpectedVersions { promised: placed, done, begun, contents: kept }
    }

    /// How many operations had been done at a time, in ns, whose place was not yet promised.
    pub fn unpromised(&self, at_ns: u64) -> u32 {
        let of = |subject: &WatchedFile| {
            let ExpectedVersions { promised, done, .. } = self.expected(*subject, at_ns);
            done.saturating_sub(promised)
        };
        self.operations.keys().map(of).sum()
    }

    /// The verdict if the power was cut at a time, in ns, and some of these files are found in
    /// these states.
    pub fn judge(
        &self,
        at_ns: u64,
        subjects: &WatchedFiles,
        found: impl IntoIterator<Item = (WatchedFile, FileState)>,
    ) -> CutVerdict {
        let record_bytes = subjects.log.map_or(RECORD_BYTES, |bytes| bytes as usize);
        let mut verdict = CutVerdict::default();
        for (subject, found) in found {
            let progress = self.progress(subject, at_ns);
            match subject {
                WatchedFile::Replaced(_) => progress.judge_replaced(at_ns, found, &mut verdict),
                WatchedFile::Log => progress.judge_log(at_ns, found, record_bytes, &mut verdict),
                WatchedFile::Sequence(_) => progress.judge_sequence(at_ns, found, &mut verdict),
                WatchedFile::Database(_) => progress.judge_database(at_ns, found, &mut verdict),
            }
        }
        verdict
    }

    fn progress(&self, subject: WatchedFile, at_ns: u64) -> Progress {
        let mut progress = Progress::default();
        let operations = self.operations.get(&subject).map_or(&[][..], Vec::as_slice);
        let until = operations.partition_point(|(at, _)| *at <= at_ns);
        for (at, FileOperation { version, step, .. }) in &operations[..until] {
            match step {
                FileOperationStep::Begun => progress.begun = *version,
                FileOperationStep::Contents if *version <= progress.kept + 1 => {
                    progress.kept = *version;
                }
                FileOperationStep::Contents => {}
                FileOperationStep::Done => progress.done.push(*at),
                FileOperationStep::Place => progress.placed = *version,
            }
        }
        progress
    }
}

impl Progress {
    /// A file that is replaced by renaming has some version, or is damaged.
    fn judge_replaced(&self, at_ns: u64, found: FileState, verdict: &mut CutVerdict) {
        // Contents of a version that was not yet begun cannot be the file's.
        let whole = found.version.filter(|version| *version <= self.begun);
        let (version, is_broken) = if let Some(version) = whole {
            (version, version < self.placed)
        } else {
            let fault = found.fault.unwrap_or(Damage::Garbage);
            *verdict.damaged.entry(fault).or_default() += 1;
            // A name that is replaced always refers to a file. And if the contents of all versions
            // to which it may refer were promised, one of them must be there.
            let is_broken = fault == Damage::Missing || self.kept >= self.begun;
            (if is_broken { self.placed.saturating_sub(1) } else { self.placed }, is_broken)
        };
        verdict.broken_promises += u32::from(is_broken);
        self.lose(at_ns, version, REPLACED_BYTES, verdict);
    }

    /// A log has its first records, followed by at most a part of the next.
    fn judge_log(
        &self,
        at_ns: u64,
        found: FileState,
        record_bytes: usize,
        verdict: &mut CutVerdict,
    ) {
        let records = found.version.unwrap_or(0);
        let is_being_written = found.fault == Some(Damage::Torn) && records < self.begun;
        let fault = found.fault.filter(|_| !is_being_written);
        let fault = fault.or((records > self.begun).then_some(Damage::Garbage));
        if let Some(fault) = fault {
            *verdict.damaged.entry(fault).or_default() += 1;
        }
        let is_gone = found.version.is_none();
        verdict.broken_promises += u32::from(is_gone || records < self.placed);
        self.lose(at_ns, records, record_bytes, verdict);
    }

    /// A database has its first commits, and no damage: every page holds what was promised.
    fn judge_database(&self, at_ns: u64, found: FileState, verdict: &mut CutVerdict) {
        let commits = found.version.unwrap_or(0);
        let fault = found.fault.or((commits > self.begun).then_some(Damage::Garbage));
        if let Some(fault) = fault {
            *verdict.damaged.entry(fault).or_default() += 1;
        }
        verdict.broken_promises += u32::from(fault.is_some() || commits < self.placed);
        self.lose(at_ns, commits, RECORD_BYTES, verdict);
    }

    /// What a sequence's sync is about is as before some operation; once that is promised, nothing
    /// else is permitted.
    fn judge_sequence(&self, at_ns: u64, found: FileState, verdict: &mut CutVerdict) {
        let version = found.version.filter(|version| *version <= self.begun);
        if version.is_none() {
            *verdict.damaged.entry(found.fault.unwrap_or(Damage::Garbage)).or_default() += 1;
        }
        let is_broken = version.map_or(self.placed >= self.begun, |version| version < self.placed);
        verdict.broken_promises += u32::from(is_broken);
        self.lose(at_ns, version.unwrap_or(self.placed), 0, verdict);
    }

    /// Counts the operations that made versions later than one.
    fn lose(&self, at_ns: u64, version: u32, bytes: usize, verdict: &mut CutVerdict) {
        let lost = self.done.get(version as usize..).unwrap_or_default();
        let Some(earliest) = lost.first() else { return };
        verdict.lost_operations += u32::try_from(lost.len()).unwrap_or(u32::MAX);
        verdict.lost_bytes += lost.len() as u64 * bytes as u64;
        verdict.lost_ns = verdict.lost_ns.max(at_ns.saturating_sub(*earliest));
    }
}

#[cfg(test)]
mod tests;

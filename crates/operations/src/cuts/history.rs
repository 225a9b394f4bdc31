//! The times of operations on files, and the verdict on the state in which files are found after a
//! cut.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::{RECORD_BYTES, REPLACED_BYTES};
use super::deed::{Deed, Step, Subject, Subjects};
use super::found::{Fault, Found};

/// The deeds of a workload.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// In the order of time, in ns.
    deeds: BTreeMap<Subject, Vec<(u64, Deed)>>,
}

/// What a power cut did to the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Files that are neither as they were before nor as they were to become, by what is wrong.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub damaged: BTreeMap<Fault, u32>,
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
pub struct Expected {
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

impl History {
    /// Adds a deed at a time in ns; times never decrease.
    pub fn add(&mut self, at_ns: u64, deed: Deed) {
        self.deeds.entry(deed.of).or_default().push((at_ns, deed));
    }

    /// All deeds with their times in ns, in the order of time.
    #[must_use]
    pub fn deeds(&self) -> Vec<(u64, Deed)> {
        let mut deeds: Vec<(u64, Deed)> = self.deeds.values().flatten().copied().collect();
        deeds.sort_by_key(|(at_ns, _)| *at_ns);
        deeds
    }

    /// The times of the promises, in ns, in ascending order.
    #[must_use]
    pub fn promises(&self) -> Vec<u64> {
        let is_promise = |deed: &Deed| matches!(deed.step, Step::Contents | Step::Place);
        let deeds = self.deeds.values().flatten().filter(|(_, deed)| is_promise(deed));
        let mut times: Vec<u64> = deeds.map(|(at_ns, _)| *at_ns).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The expected state of a file at a time in ns.
    #[must_use]
    pub fn expected(&self, subject: Subject, at_ns: u64) -> Expected {
        let Progress { begun, placed, kept, done } = self.progress(subject, at_ns);
        let done = u32::try_from(done.len()).unwrap_or(u32::MAX);
        Expected { promised: placed, done, begun, contents: kept }
    }

    /// How many operations had been done at a time, in ns, whose place was not yet promised.
    #[must_use]
    pub fn unpromised(&self, at_ns: u64) -> u32 {
        let of = |subject: &Subject| {
            let Expected { promised, done, .. } = self.expected(*subject, at_ns);
            done.saturating_sub(promised)
        };
        self.deeds.keys().map(of).sum()
    }

    /// The verdict if the power was cut at a time, in ns, and some of these files are found in
    /// these states.
    #[must_use]
    pub fn judge(
        &self,
        at_ns: u64,
        subjects: &Subjects,
        found: impl IntoIterator<Item = (Subject, Found)>,
    ) -> Verdict {
        let record_bytes = subjects.log.map_or(RECORD_BYTES, |bytes| bytes as usize);
        let mut verdict = Verdict::default();
        for (subject, found) in found {
            let progress = self.progress(subject, at_ns);
            match subject {
                Subject::Replaced(_) => progress.judge_replaced(at_ns, found, &mut verdict),
                Subject::Log => progress.judge_log(at_ns, found, record_bytes, &mut verdict),
                Subject::Sequence(_) => progress.judge_sequence(at_ns, found, &mut verdict),
                Subject::Database(_) => progress.judge_database(at_ns, found, &mut verdict),
            }
        }
        verdict
    }

    fn progress(&self, subject: Subject, at_ns: u64) -> Progress {
        let mut progress = Progress::default();
        let deeds = self.deeds.get(&subject).map_or(&[][..], Vec::as_slice);
        let until = deeds.partition_point(|(at, _)| *at <= at_ns);
        for (at, Deed { version, step, .. }) in &deeds[..until] {
            match step {
                Step::Begun => progress.begun = *version,
                Step::Contents if *version <= progress.kept + 1 => progress.kept = *version,
                Step::Contents => {}
                Step::Done => progress.done.push(*at),
                Step::Place => progress.placed = *version,
            }
        }
        progress
    }
}

impl Progress {
    /// A file that is replaced by renaming has some version, or is damaged.
    fn judge_replaced(&self, at_ns: u64, found: Found, verdict: &mut Verdict) {
        // Contents of a version that was not yet begun cannot be the file's.
        let whole = found.version.filter(|version| *version <= self.begun);
        let (version, is_broken) = if let Some(version) = whole {
            (version, version < self.placed)
        } else {
            let fault = found.fault.unwrap_or(Fault::Garbage);
            *verdict.damaged.entry(fault).or_default() += 1;
            // A name that is replaced always refers to a file. And if the contents of all versions
            // to which it may refer were promised, one of them must be there.
            let is_broken = fault == Fault::Missing || self.kept >= self.begun;
            (if is_broken { self.placed.saturating_sub(1) } else { self.placed }, is_broken)
        };
        verdict.broken_promises += u32::from(is_broken);
        self.lose(at_ns, version, REPLACED_BYTES, verdict);
    }

    /// A log has its first records, followed by at most a part of the next.
    fn judge_log(&self, at_ns: u64, found: Found, record_bytes: usize, verdict: &mut Verdict) {
        let records = found.version.unwrap_or(0);
        let is_being_written = found.fault == Some(Fault::Torn) && records < self.begun;
        let fault = found.fault.filter(|_| !is_being_written);
        let fault = fault.or((records > self.begun).then_some(Fault::Garbage));
        if let Some(fault) = fault {
            *verdict.damaged.entry(fault).or_default() += 1;
        }
        let is_gone = found.version.is_none();
        verdict.broken_promises += u32::from(is_gone || records < self.placed);
        self.lose(at_ns, records, record_bytes, verdict);
    }

    /// A database has its first commits, and no damage: every page holds what was promised.
    fn judge_database(&self, at_ns: u64, found: Found, verdict: &mut Verdict) {
        let commits = found.version.unwrap_or(0);
        let fault = found.fault.or((commits > self.begun).then_some(Fault::Garbage));
        if let Some(fault) = fault {
            *verdict.damaged.entry(fault).or_default() += 1;
        }
        verdict.broken_promises += u32::from(fault.is_some() || commits < self.placed);
        self.lose(at_ns, commits, RECORD_BYTES, verdict);
    }

    /// What a sequence's sync is about is as before some operation; once that is promised, nothing
    /// else is permitted.
    fn judge_sequence(&self, at_ns: u64, found: Found, verdict: &mut Verdict) {
        let version = found.version.filter(|version| *version <= self.begun);
        if version.is_none() {
            *verdict.damaged.entry(found.fault.unwrap_or(Fault::Garbage)).or_default() += 1;
        }
        let is_broken = version.map_or(self.placed >= self.begun, |version| version < self.placed);
        verdict.broken_promises += u32::from(is_broken);
        self.lose(at_ns, version.unwrap_or(self.placed), 0, verdict);
    }

    /// Counts the operations that made versions later than one.
    fn lose(&self, at_ns: u64, version: u32, bytes: usize, verdict: &mut Verdict) {
        let lost = self.done.get(version as usize..).unwrap_or_default();
        let Some(earliest) = lost.first() else { return };
        verdict.lost_operations += u32::try_from(lost.len()).unwrap_or(u32::MAX);
        verdict.lost_bytes += lost.len() as u64 * bytes as u64;
        verdict.lost_ns = verdict.lost_ns.max(at_ns.saturating_sub(*earliest));
    }
}

#[cfg(test)]
mod tests;

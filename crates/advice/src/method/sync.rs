//! Checks where data was when the clock stopped: on the device, or in memory.

use std::collections::BTreeSet;

use ssdlab_plan::io::{Io, IoSyncPolicy};
use ssdlab_plan::schedule::{Action, Phase};
use ssdlab_plan::transactions::{JournalMode, Synchronous, Transactions};
use ssdlab_plan::{Bytes, Factor, IS_BUFFERED, LOOP_DIRECT_IO, LabKind};
use ssdlab_results::{Record, StatedMethod};

use super::check::{Check, Criterion};
use super::run::{ExaminedRun, few};
use crate::late::{self, Unmounting};
use crate::warning::Warning;

pub(super) fn sync(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Sync;
    if run.is_imported() {
        return imported_sync(run);
    }
    let mut warnings: Vec<Warning> = unsynced(run).into_iter().collect();
    let mut busy: Vec<String> = Vec::new();
    for phase in run.well.iter().flat_map(|record| &record.phases) {
        if phase.is_quiet == Some(false) && !busy.contains(&phase.name) {
            busy.push(phase.name.clone());
        }
    }
    if !busy.is_empty() {
        warnings.push(Warning::NotQuiet { phases: busy });
    }
    let late = late_work(run);
    warnings.extend(late.iter().map(|(treatment, unmounting)| Warning::LateWork {
        levels: run.distinct(*treatment),
        unmounting: *unmounting,
    }));
    if warnings.is_empty() {
        return Check::met(criterion, "every phase that writes is synced inside the accounting");
    }
    let evidence = "some of what was written or discarded is in no phase";
    let is = |of: fn(&Warning) -> bool| warnings.iter().any(of);
    // Give no advice that the plan already follows.
    let last = run.schedule.workload.phases.last().map(|phase| &phase.action);
    let advice = if is(|warning| matches!(warning, Warning::Unsynced { .. })) {
        "end the phase with sync = true, or put a `sync` phase after it"
    } else if is(|warning| matches!(warning, Warning::NotQuiet { .. })) {
        match last {
            Some(Action::Idle { .. }) => "let the last `idle` phase wait for a longer silence",
            _ => "end with an `idle` phase, in which the device may finish",
        }
    } else {
        let most = late.iter().max_by_key(|(_, left)| left.discarded_bytes);
        most.map_or("", |(treatment, left)| late::advice(&run.schedule.phases(*treatment), left))
    };
    Check::not_met(criterion, warnings, evidence, advice)
}

fn unsynced(run: &ExaminedRun<'_>) -> Option<Warning> {
    let mut dirty = None;
    for phase in &run.schedule.workload.phases {
        match &phase.action {
            _ if phase.syncs() => dirty = None,
            // Bonnie's tests, deliveries of mail and some jobs of fio sync what they write; of a
            // database the log has what pages lack; reading changes times of access only.
            Action::Bonnie { .. }
            | Action::Maildir(_)
            | Action::Database(_)
            | Action::Read { .. }
            | Action::Fstrim
            | Action::Idle { .. }
            | Action::Fio { syncs: true, .. } => {}
            Action::Io(io) if is_on_device(io) => {}
            Action::Transactions(of) if is_committed(of) => {}
            Action::Append(of) if of.sync_every.is_some_and(|every| every <= of.records) => {}
            Action::Replace(of) if of.sync.file() => {}
            _ => dirty = Some(phase.name.clone()),
        }
    }
    dirty.map(|phase| Warning::Unsynced { phase, labels: Vec::new() })
}

/// Whether written data is on the device when the phase ends, or bypasses the page cache.
fn is_on_device(io: &Io) -> bool {
    io.direct || io.sync != IoSyncPolicy::Never || io.read_share >= 1.0
}

/// Whether each transaction is synced before the next, and nothing is written beside them.
fn is_committed(transactions: &Transactions) -> bool {
    let is_synced = match (transactions.synchronous, transactions.journal) {
        (Synchronous::Full, _) | (Synchronous::Normal, JournalMode::Rollback) => true,
        (Synchronous::Normal, JournalMode::Wal) | (Synchronous::Off, _) => false,
    };
    is_synced && transactions.beside_bytes_per_second.is_none()
}

/// What a filesystem leaves to unmounting is in no phase; it is reported where it matters.
fn late_work(run: &ExaminedRun<'_>) -> Vec<(usize, Unmounting)> {
    let of = |treatment: usize| Some((treatment, Unmounting::of(&run.of_treatment(treatment))?));
    (0..run.schedule.treatments.len()).filter_map(of).collect()
}

fn imported_sync(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Sync;
    let advice = "sync inside what is timed: fio end_fsync=1 (or direct=1), dd conv=fsync, \
                  `COMMAND && sync -f DIR` under hyperfine";
    let (mut dirty, mut unknown) = (Vec::new(), Vec::new());
    let is_safe = |told: &StatedMethod| {
        told.writes == Some(false) || told.syncs == Some(true) || told.is_direct == Some(true)
    };
    let is_dirty = |told: &StatedMethod| !is_safe(told) && told.syncs == Some(false);
    for (phase, told) in run.stated_methods() {
        if told.iter().any(|told| is_dirty(told)) {
            let labels = labels(run, &phase, is_dirty);
            dirty.push(Warning::Unsynced { phase, labels });
        } else if told.is_empty() || !told.into_iter().all(is_safe) {
            unknown.push(phase);
        }
    }
    if !dirty.is_empty() {
        let evidence = "what was written last may still have been in memory";
        return Check::not_met(criterion, dirty, evidence, advice);
    }
    if !unknown.is_empty() {
        let evidence = format!("no sync is named in {}, nor whether it writes", few(&unknown));
        return Check::unknown(criterion, evidence, advice);
    }
    Check::met(criterion, "what writes is synced inside its time, or goes past the page cache")
}

/// The labels of the treatments of which a file tells something about a phase, unless it is told of
/// all.
fn labels(
    run: &ExaminedRun<'_>,
    phase: &str,
    is_so: impl Fn(&StatedMethod) -> bool,
) -> Vec<String> {
    let told = |record: &&&Record| {
        record.imported.as_ref().and_then(|from| from.told.get(phase)).is_some_and(&is_so)
    };
    let label = |record: &&Record| record.levels.0.get(&Factor::Label).cloned();
    let labels = |records: Vec<&Record>| records.iter().filter_map(label).collect::<BTreeSet<_>>();
    let own = labels(run.well.iter().filter(told).copied().collect());
    if own == labels(run.well.clone()) { Vec::new() } else { own.into_iter().collect() }
}

pub(super) fn working_set(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::WorkingSet;
    if run.is_imported() {
        return imported_working_set(run);
    }
    let mut warnings = Vec::new();
    let buffered = |value: &String| value == IS_BUFFERED;
    if run.well.iter().any(|r| r.applied.get(LOOP_DIRECT_IO).is_some_and(buffered)) {
        warnings.push(Warning::BufferedLoop);
    }
    warnings.extend(cached(run));
    if !warnings.is_empty() {
        let evidence = "memory may have answered instead of the device";
        let advice = "work on files of twice the memory, or give the phase cold = true";
        return Check::not_met(criterion, warnings, evidence, advice);
    }
    // What a program reads is unknown.
    let may_hit = |phase: &&Phase| match &phase.action {
        Action::Command { .. }
        | Action::Fio { .. }
        | Action::Make
        | Action::Clone
        | Action::Read { .. } => true,
        Action::Bonnie { test } => test.reads(),
        Action::Io(io) => io.read_share > 0.0 && !io.direct,
        _ => false,
    };
    // The directory lab does not unmount: only Bonnie's tests drop what they are to read.
    let unmounts = !run.schedule.is_in(LabKind::Directory);
    let is_cold =
        |phase: &Phase| phase.cold && (unmounts || matches!(phase.action, Action::Bonnie { .. }));
    let phases = run.schedule.workload.phases.iter().filter(|phase| !is_cold(phase));
    let open: Vec<String> = phases.filter(may_hit).map(|phase| phase.name.clone()).collect();
    if open.is_empty() {
        return Check::met(criterion, "nothing is read that memory may still hold");
    }
    let evidence = format!("what {} reads may still be in memory", few(&open));
    let advice = if unmounts {
        "if it is to come from the device: cold = true"
    } else {
        "if it is to come from the device: cold = true in another lab, as this one does not unmount"
    };
    Check::unknown(criterion, evidence, advice)
}

/// bonnie++ asks for a file of twice the memory if the caches cannot be dropped.
fn cached(run: &ExaminedRun<'_>) -> Option<Warning> {
    let reads = |phase: &Phase| match phase.action {
        Action::Bonnie { test } => test.reads() && run.schedule.is_in(LabKind::Directory),
        _ => false,
    };
    if !run.schedule.workload.phases.iter().any(reads) {
        return None;
    }
    let size_bytes = run.schedule.workload.bonnie.as_ref()?.size_bytes;
    let memory_bytes = run.all.iter().map(|record| record.environment.memory_bytes).max()?;
    (size_bytes < 2 * memory_bytes).then_some(Warning::Cached { size_bytes, memory_bytes })
}

fn imported_working_set(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::WorkingSet;
    let advice = "work on files of twice the memory (bonnie++ -s without -r), or past the page \
                  cache (fio direct=1), and say how much memory there was";
    let told = run.stated_methods();
    let is_direct = |told: &&StatedMethod| told.is_direct == Some(true);
    let fast = told.iter().filter(|(_, told)| told.iter().any(|told| told.is_too_fast));
    let fast: Vec<String> = fast.map(|(phase, _)| phase.clone()).collect();
    if !fast.is_empty() {
        let warning = Warning::TooFast { phases: fast };
        let evidence = "some tests were over before they could be measured";
        let advice = "give bonnie++ larger sizes until no test prints +++++: -s, -n";
        return Check::not_met(criterion, vec![warning], evidence, advice);
    }
    if told.iter().all(|(_, told)| !told.is_empty() && told.iter().all(is_direct)) {
        return Check::met(criterion, "everything went past the page cache (direct I/O)");
    }
    let sizes = told.iter().flat_map(|(_, told)| told).filter(|told| !is_direct(told));
    let size_bytes = sizes.filter_map(|told| told.size_bytes).min();
    let memory_bytes = run.well.iter().map(|record| record.environment.memory_bytes).max();
    let memory_bytes = memory_bytes.filter(|bytes| *bytes > 0);
    let (evidence, warning) = match (size_bytes, memory_bytes) {
        (Some(size_bytes), Some(memory_bytes)) if size_bytes >= 2 * memory_bytes => {
            let (size, memory) = (Bytes(size_bytes), Bytes(memory_bytes));
            return Check::met(criterion, format!("files of {size} in {memory} of memory"));
        }
        (Some(size_bytes), Some(memory_bytes)) => {
            let evidence = "memory may have answered instead of the device";
            (evidence.to_owned(), Some(Warning::Cached { size_bytes, memory_bytes }))
        }
        (Some(size), None) => {
            (format!("files of {}; how much memory there was is not said", Bytes(size)), None)
        }
        (None, Some(memory)) => {
            (format!("{} of memory; how large the files were is not said", Bytes(memory)), None)
        }
        (None, None) => ("neither the size of files nor of memory is said".to_owned(), None),
    };
    match warning {
        Some(warning) => Check::not_met(criterion, vec![warning], evidence, advice),
        None => Check::unknown(criterion, evidence, advice),
    }
}

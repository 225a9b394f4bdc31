//! Checks what was measured on: the machine, and the state of its filesystem and drive.

use ssdlab_flash::Condition;
use ssdlab_plan::{
    DRIVE_IDENTITY, DRIVE_NAME, EQUALISED, Factor, LAB_KERNEL, LabKind, MOUNT_TYPE, NOT_EQUALISED,
    Setup,
};
use ssdlab_results::{Record, StatedMethod};

use super::check::{Check, Criterion};
use super::run::{ExaminedRun, few};
use crate::comparison::{done_differently, facts};
use crate::machine::MeasuredMachine;
use crate::warning::Warning;

/// A round in SNIA's Solid State Storage Performance Test Specification: a minute. Steady state
/// takes five rounds that agree, so less than one cannot show it.
const ROUND_NS: u64 = 60_000_000_000;

pub(super) fn background(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Background;
    // ext4 writes its inode tables and journal for minutes after mkfs (lkp-tests#368: 8.8 GiB).
    let advice = "make ext4 with -E lazy_itable_init=0,lazy_journal_init=0, and wait until the \
                  device is idle before the first run";
    if run.is_imported() || run.schedule.is_in(LabKind::Directory) {
        let evidence = "whether anything else wrote meanwhile was not looked at";
        return Check::unknown(criterion, evidence, advice);
    }
    let bytes = run.well.iter().map(|record| record.background_written_bytes).max().unwrap_or(0);
    if bytes == 0 {
        let evidence = "nothing was written between mount and first phase in any trial";
        return Check::met(criterion, evidence);
    }
    let evidence = "something wrote although everything was synced";
    Check::not_met(criterion, vec![Warning::BackgroundWrites { bytes }], evidence, advice)
}

pub(super) fn starting_state(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::StartingState;
    let advice = "before each trial: blkdiscard, mkfs, and the same data again";
    if run.is_imported() || run.schedule.is_in(LabKind::Directory) {
        let evidence = "in which state each trial found filesystem and drive is not said";
        return Check::unknown(criterion, evidence, advice);
    }
    let is_unequal =
        |record: &&Record| record.applied.get(EQUALISED).is_some_and(|v| v == NOT_EQUALISED);
    if run.well.iter().any(is_unequal) {
        let evidence = "the drive was not brought back into one state";
        return Check::not_met(criterion, vec![Warning::NotEqualised], evidence, advice);
    }
    Check::met(criterion, "filesystem and drive were brought into the same state before each trial")
}

pub(super) fn environment(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Environment;
    let advice = "say it with the results: uname -r, lsblk -o MODEL,SCHED, findmnt, and the \
                  versions of the programs";
    let missing = missing(run);
    let mut warnings: Vec<Warning> = Vec::new();
    if !missing.is_empty() {
        warnings.push(Warning::MissingEnvironment { what: missing });
    }
    warnings.extend(mixed(run));
    warnings.extend(unlike_options(run));
    if warnings.is_empty() {
        return Check::met(criterion, "machine, drive, settings and versions are recorded");
    }
    Check::not_met(
        criterion,
        warnings,
        "not all that numbers depend on is known, or the same",
        advice,
    )
}

/// Whether a record contains something.
type RecordTest<'a> = &'a dyn Fn(&Record) -> bool;

/// What comparisons need and imports may lack; ssdlab's own runs always record it.
fn missing(run: &ExaminedRun<'_>) -> Vec<String> {
    if !run.is_imported() {
        return Vec::new();
    }
    let applied = |key: &'static str, factor: Factor| {
        move |r: &Record| r.applied.contains_key(key) || r.levels.0.contains_key(&factor)
    };
    let wanted: [(&str, RecordTest<'_>); 8] = [
        ("kernel", &|r| !r.environment.kernel.is_empty()),
        ("processor", &|r| !r.environment.cpu.is_empty()),
        ("memory", &|r| r.environment.memory_bytes > 0),
        ("drive", &|r| r.environment.drive_model.is_some()),
        ("scheduler", &applied("scheduler", Factor::Scheduler)),
        ("filesystem", &applied(MOUNT_TYPE, Factor::Filesystem)),
        ("mount options", &applied("mount_options", Factor::Mount)),
        ("version of the program", &|r| {
            r.imported.as_ref().is_none_or(|imported| imported.version.is_some())
        }),
    ];
    let missing = wanted.iter().filter(|(_, has)| !run.well.iter().all(|record| has(record)));
    missing.map(|(what, _)| (*what).to_owned()).collect()
}

/// A run that was resumed after an update, or on another drive, mixes incomparable results.
fn mixed(run: &ExaminedRun<'_>) -> Option<Warning> {
    let of = |record: &Record, what: &str| record.applied.get(what).cloned();
    let differs = |record: &&Record| {
        let other = &record.environment;
        // Machines may differ: comparisons are within a machine.
        let of_machine = |r: &&&Record| MeasuredMachine::of(r) == MeasuredMachine::of(record);
        let first = run.well.iter().find(of_machine).unwrap_or(record);
        // Treatments may differ in the drive.
        let is_own = |r: &&&Record| r.trial.treatment == record.trial.treatment;
        let own = run.well.iter().filter(of_machine).find(is_own).unwrap_or(record);
        let drive = |record: &Record| {
            let model = record.environment.drive_model.clone();
            (model, of(record, DRIVE_NAME), of(record, DRIVE_IDENTITY))
        };
        let kernel = |record: &Record| (record.environment.kernel.clone(), of(record, LAB_KERNEL));
        // Treatments may differ in the kernel; an imported experiment also compares machines.
        let names_kernel = record.levels.0.contains_key(&Factor::Kernel);
        let of_kernel = if run.is_imported() || names_kernel { own } else { first };
        let of_machine = if run.is_imported() { own } else { first };
        let one = &of_machine.environment;
        [
            ("kernel", kernel(of_kernel) != kernel(record)),
            ("processor", one.cpu != other.cpu || one.cpus != other.cpus),
            ("version of ssdlab", one.ssdlab != other.ssdlab),
            ("drive", drive(own) != drive(record)),
        ]
        .into_iter()
        .find_map(|(what, differs)| differs.then(|| what.to_owned()))
    };
    run.well.iter().find_map(differs).map(|what| Warning::MixedEnvironment { what })
}

/// How the workloads of imported treatments differ, worded as in a comparison of runs.
fn unlike_options(run: &ExaminedRun<'_>) -> Option<Warning> {
    if !run.is_imported() {
        return None;
    }
    let of = |treatment| facts(run.of_treatment(treatment).into_iter());
    let mut treatments = (0..run.schedule.treatments.len()).map(of).filter(|own| !own.is_empty());
    let first = treatments.next()?;
    let mut what: Vec<String> = Vec::new();
    for other in treatments {
        let differs = done_differently(&first, &other);
        what.extend(differs.filter(|differs| !what.contains(differs)));
    }
    (!what.is_empty()).then_some(Warning::UnlikeOptions { what })
}

pub(super) fn steady_state(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::SteadyState;
    let advice = "write the drive over twice first, and go on until rounds agree (SNIA's test \
                  specification); fio: ramp_time, runtime of minutes, steadystate";
    if !run.is_imported() {
        let mut treatments = run.schedule.treatments.iter();
        let is_steady = |setup: &Setup| {
            let condition = setup.simulated.condition;
            matches!(condition, Condition::Steady | Condition::Aged { .. })
        };
        return if treatments.all(|t| t.setup.as_ref().is_ok_and(is_steady)) {
            Check::met(criterion, "each drive is brought into its steady state first")
        } else {
            let evidence = "trials begin on a drive that is not in its steady state";
            Check::unknown(criterion, evidence, "in the virtual lab: condition = \"steady\"")
        };
    }
    let (mut short, mut open) = (Vec::new(), Vec::new());
    for (phase, told) in run.stated_methods() {
        let is_open =
            |told: &&&StatedMethod| told.writes != Some(false) && told.is_steady != Some(true);
        let shortest = told.iter().filter(is_open).filter_map(|told| told.took_ns).min();
        match shortest {
            Some(took_ns) if took_ns < ROUND_NS => short.push(Warning::Short { phase, took_ns }),
            _ if told.is_empty() || told.iter().any(|told| is_open(&told)) => open.push(phase),
            _ => {}
        }
    }
    if !short.is_empty() {
        let evidence = "what writes for less than a minute cannot show a steady state";
        return Check::not_met(criterion, short, evidence, advice);
    }
    if !open.is_empty() {
        let evidence = format!("nothing says in which state the drive was during {}", few(&open));
        return Check::unknown(criterion, evidence, advice);
    }
    Check::met(criterion, "what writes had found its steady state, or nothing writes")
}

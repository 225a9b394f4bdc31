//! The whole loop with a lab that is only a directory: order, resumption, stopping, failures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::aged::Store;
use ssdlab_lab::{DeviceContents, Lab, LabError, MountedFs, Tools};
use ssdlab_plan::{Overrides, Schedule, Setup};
use ssdlab_results::{Record, RunFolder};
use ssdlab_workload::PreparedWorkload;

use super::*;

mod null_lab;

/// A lab without a device, which fails and refuses on demand.
struct MockLab {
    folder: PathBuf,
    /// The level of `prefill` tells the mock lab what to do.
    log: Vec<String>,
    interrupt_after: Option<(usize, Interrupt)>,
}

impl Lab for MockLab {
    fn missing(&self, setup: &Setup) -> Option<String> {
        (setup.scheduler == Some("kyber")).then(|| "no kyber here".to_owned())
    }

    fn attach(
        &mut self,
        _: Option<&Path>,
        _: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        // A folder in the place of a device's in sysfs.
        let drive = self.folder.join("drive");
        Ok(drive.exists().then(|| BlockDevice {
            node: drive.clone(),
            name: "drive".to_owned(),
            number: drive.display().to_string(),
            folder: drive.clone(),
        }))
    }

    fn prepare(
        &mut self,
        setup: &Setup,
        _: DeviceContents,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError> {
        self.log.push(format!("{} {seed}", setup.scheduler.unwrap_or("-")));
        if let Some((after, interrupt)) = &self.interrupt_after
            && self.log.len() == *after
        {
            interrupt.set();
        }
        if setup.scheduler == Some("bfq") {
            return Err(LabError::Unavailable { reason: "found out late".to_owned() });
        }
        let directory =
            self.folder.join(format!("ssdlab-{}-{}", tools.journal.marker(), self.log.len()));
        tools.journal.make_folder(&directory).unwrap();
        Ok(MountedFs {
            directory: directory.clone(),
            mounted_at: directory,
            is_shared: true,
            applied: BTreeMap::new(),
            commit: Vec::new(),
            compresses: false,
        })
    }

    fn remount(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        _: Rules<'_>,
    ) -> Result<(), LabError> {
        if setup.scheduler == Some("mq-deadline") {
            std::fs::write(mounted_fs.directory.join("invented"), "").unwrap();
        }
        Ok(())
    }

    fn unmount(&mut self, _: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        Ok(())
    }

    fn finish_trial(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        self.log.push("finished".to_owned());
        Ok(())
    }
}

struct Silent;

impl Observer for Silent {
    fn notice(&mut self, _: RunEvent<'_>) {}
}

const PLAN: &str = r#"
    name = "mock"
    question = "Does the loop hold?"
    [target]
    lab = "directory"
    [factors]
    scheduler = ["none", "mq-deadline"]
    [workload]
    tree = { files = 3, size = "10 kB" }
    phases = [{ do = "unpack" }, { do = "sync" }, { do = "delete", sync = true }]
    [repetitions]
    least = 3
    most = 3
"#;

fn schedule(plan: &str, folder: &Path) -> Schedule {
    let overrides = Overrides { directory: Some(folder.to_owned()), ..Overrides::default() };
    ssdlab_plan::schedule("plan.toml", plan, &overrides, folder).unwrap()
}

/// Conducts a schedule in `folder`, after `records`; returns how it ended, the records and the
/// mock lab's log.
fn conduct(
    plan: &str,
    folder: &Path,
    records: Vec<Record>,
    interrupt_after: Option<usize>,
) -> (Ending, Vec<Record>, Vec<String>) {
    conduct_schedule(&schedule(plan, folder), folder, records, interrupt_after)
}

fn conduct_schedule(
    schedule: &Schedule,
    folder: &Path,
    records: Vec<Record>,
    interrupt_after: Option<usize>,
) -> (Ending, Vec<Record>, Vec<String>) {
    let interrupt = Interrupt::default();
    let mut lab = MockLab {
        folder: folder.to_owned(),
        log: Vec::new(),
        interrupt_after: interrupt_after.map(|after| (after, interrupt.clone())),
    };
    let mut run = RunFolder::create(folder, "run", "", schedule).unwrap();
    let mut journal = Journal::create(&folder.join("undo")).unwrap();
    let mut workload =
        PreparedWorkload::new(&schedule.workload, &schedule.inputs, 1, &interrupt).unwrap();
    let aged = Store::of_user();
    let mut here = LocalExecutor {
        write_ledger: WriteLedger::default(),
        stretches: StretchHistory::default(),
        target: schedule.target.as_ref().unwrap(),
        lab: &mut lab,
        workload: &mut workload,
        journal: &mut journal,
        interrupt: &interrupt,
        aged: &aged,
        tools: Vec::new(),
    };
    let mut silent = Silent;
    let run_state = RunState::new(schedule, &mut run, &mut silent, records);
    let mut conductor = Conductor { run_state, executor: &mut here };
    let ending = conductor.conduct().unwrap();
    let records = std::mem::take(&mut conductor.run_state.records);
    (ending, records, lab.log)
}

#[test]
fn trials_run_in_the_schedules_order_and_leave_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (ending, records, log) = conduct(PLAN, place.path(), Vec::new(), None);
    assert_eq!(ending, Ending::AllBlocks);
    let planned = schedule(PLAN, place.path()).trials.clone();
    assert_eq!(records.iter().map(|record| record.trial).collect::<Vec<_>>(), planned);
    assert!(records.iter().all(|record| record.status == TrialStatus::Ok));
    assert!(records.iter().all(|record| record.phases[0].application_bytes == Some(10_000)));
    // Preparing and finishing alternate.
    assert!(log.iter().skip(1).step_by(2).all(|line| line == "finished"), "{log:?}");
    let left = std::fs::read_dir(place.path()).unwrap().flatten();
    assert!(!left.into_iter().any(|e| e.file_name().to_string_lossy().starts_with("ssdlab-")));
}

#[test]
fn what_cannot_run_gets_one_record_and_the_others_go_on() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("\"mq-deadline\"]", "\"mq-deadline\", \"kyber\", \"bfq\"]");
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    assert_eq!(ending, Ending::AllBlocks);
    let of = |level: &str| {
        let records = records.iter().filter(|r| r.levels.to_string().contains(level));
        records.map(|record| record.status).collect::<Vec<_>>()
    };
    assert_eq!(of("none"), [TrialStatus::Ok; 3]);
    assert_eq!(of("mq-deadline"), [TrialStatus::Ok; 3]);
    assert_eq!(of("kyber"), [TrialStatus::Unavailable]);
    assert_eq!(of("bfq"), [TrialStatus::Unavailable]);
}

#[test]
fn a_treatment_without_another_to_compare_it_with_runs_once() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("\"mq-deadline\"", "\"kyber\"");
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    let ran = |records: &[Record]| records.iter().filter(|r| r.status == TrialStatus::Ok).count();
    assert_eq!((ending, ran(&records)), (Ending::NothingToCompare, 1));
    // Nor does it run again when the run is resumed.
    let (ending, records, _) = conduct(&plan, place.path(), records, None);
    assert_eq!((ending, ran(&records)), (Ending::NothingToCompare, 1));
}

#[test]
fn what_the_filesystem_got_wrong_voids_a_trial_that_is_verified() {
    let place = tempfile::tempdir().unwrap();
    let schedule = schedule(PLAN, place.path());
    let (_, plain, _) = conduct_schedule(&schedule, place.path(), Vec::new(), None);
    assert!(plain.iter().all(|record| record.status == TrialStatus::Ok));
    let (_, records, _) = conduct_schedule(&schedule.verified(), place.path(), Vec::new(), None);
    for record in &records {
        let phases = record.phases.iter().map(|phase| &phase.name).collect::<Vec<_>>();
        assert_eq!(phases, ["unpack", "sync", "delete"]);
        if record.levels.to_string().contains("mq-deadline") {
            assert_eq!(record.status, TrialStatus::Void);
            let reason = record.reason.as_deref();
            assert_eq!(reason, Some("after the last phase invented should not be there"));
        } else {
            assert_eq!(record.status, TrialStatus::Ok);
            assert_eq!(record.applied["verified"], "the tree");
        }
    }
}

#[test]
fn nothing_to_run_is_an_ending_of_its_own() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("\"none\", \"mq-deadline\"", "\"kyber\", \"bfq\"");
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    assert_eq!(ending, Ending::NothingRuns);
    assert_eq!(records.len(), 2);
}

#[test]
fn an_interrupted_run_is_resumed_where_it_stopped() {
    let place = tempfile::tempdir().unwrap();
    // Preparing and finishing are one line each: the interrupt falls into the third trial.
    let (ending, first, _) = conduct(PLAN, place.path(), Vec::new(), Some(5));
    assert_eq!(ending, Ending::Interrupted);
    assert_eq!(first.len(), 2);
    let (ending, all, _) = conduct(PLAN, place.path(), first, None);
    assert_eq!(ending, Ending::AllBlocks);
    let planned = schedule(PLAN, place.path()).trials.clone();
    assert_eq!(all.iter().map(|record| record.trial).collect::<Vec<_>>(), planned);
}

#[test]
fn a_failing_phase_keeps_what_was_measured_before() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN
        .replace("{ do = \"sync\" }", "{ do = \"sync\" }, { do = \"command\", run = \"false\" }");
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    assert_eq!(ending, Ending::AllBlocks);
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record.status, TrialStatus::Failed);
        assert!(record.reason.as_ref().unwrap().contains("in phase `command`"));
        assert_eq!(record.phases.len(), 2);
    }
}

#[test]
fn a_phase_that_loses_the_device_is_the_reason_not_the_counters_that_went_with_it() {
    let place = tempfile::tempdir().unwrap();
    let drive = place.path().join("drive");
    std::fs::create_dir(&drive).unwrap();
    std::fs::write(drive.join("stat"), "0 ".repeat(17)).unwrap();
    let lose = format!("run = [\"rm\", \"-r\", {drive:?}, \"/nonexistent\"]");
    let plan = PLAN.replace("do = \"sync\"", &format!("do = \"command\", {lose}"));
    let (_, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    let reason = records[0].reason.as_deref().unwrap();
    assert!(!drive.exists());
    assert!(reason.contains("in phase `command`") && reason.contains("/nonexistent"), "{reason}");
}

#[test]
fn budgets_end_a_run_at_a_block() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("most = 3", "most = 9\ntime = \"1 ms\"");
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    assert_eq!((ending, records.len()), (Ending::TimeSpent, 2));
}

/// An interrupted block is finished before a spent budget ends the run.
#[test]
fn a_resumed_run_finishes_its_block_first() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("most = 3", "most = 9\ntime = \"1 ms\"");
    let (_, mut records, _) = conduct(PLAN, place.path(), Vec::new(), None);
    records.truncate(5);
    let (ending, records, _) = conduct(&plan, place.path(), records, None);
    assert_eq!((ending, records.len()), (Ending::TimeSpent, 6));
}

#[test]
fn precision_ends_a_run_once_the_least_number_has_run() {
    let place = tempfile::tempdir().unwrap();
    let plan = PLAN
        .replace("most = 3", "most = 12\nprecision = \"5 %\"")
        .replace("[target]", "metric = \"application_bytes\"\n[target]");
    // Bytes written by the workload do not vary at all: four blocks after the sixth it may stop.
    let (ending, records, _) = conduct(&plan, place.path(), Vec::new(), None);
    assert_eq!((ending, records.len()), (Ending::Precise, 20));
}

#[test]
fn a_step_runs_only_what_the_step_before_has_kept() {
    let place = tempfile::tempdir().unwrap();
    let steps = "[[steps]]\nname = \"all\"\nkeep = { scheduler = 1 }\n[[steps]]\nname = \"best\"\n";
    let (ending, records, _) = conduct(&format!("{PLAN}{steps}"), place.path(), Vec::new(), None);
    assert_eq!(ending, Ending::AllBlocks);
    let blocks = |block: u32| records.iter().filter(move |record| record.trial.block == block);
    assert!((0..3).all(|block| blocks(block).count() == 2));
    assert!((3..6).all(|block| blocks(block).count() == 1));
    // Fresh blocks have seeds of their own.
    let seeds: std::collections::BTreeSet<u64> = records.iter().map(|r| r.trial.seed).collect();
    assert_eq!(seeds.len(), 6);
    // Interrupted in the second step, it continues with the same choice.
    let mut cut = records.clone();
    cut.truncate(7);
    let (_, again, _) = conduct(&format!("{PLAN}{steps}"), place.path(), cut, None);
    let trials = |records: &[Record]| records.iter().map(|r| r.trial).collect::<Vec<_>>();
    assert_eq!(trials(&again), trials(&records));
}

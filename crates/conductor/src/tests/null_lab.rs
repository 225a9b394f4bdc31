//! Whole runs on a null lab, by seed: any step may fail, be the one at which the run is asked to
//! stop, or the last before a kill; then the run is resumed.
//!
//! Invariants: a trial has at most one record; one with a record never runs again, and its record
//! stays; after each session everything is undone, and nothing is left; in the end the records are
//! those of the same run without a stop, in the same order. Failures belong to a trial, so that
//! they occur again when it is repeated; stops and kills fall anywhere.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ssdlab_host::undo::{Change, restore};
use ssdlab_plan::Factor;
use twox_hash::XxHash64;

use super::*;

const RUNS: u64 = 24;

/// More than any session has.
const NEVER: u32 = u32::MAX;

/// A number that depends on these alone.
fn drawn(seed: u64, of: &str) -> u64 {
    XxHash64::oneshot(seed, of.as_bytes())
}

/// What a program is killed with: nothing but it unwinds a session.
struct Killed;

/// How a session is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Asked,
    Killed,
}

/// What a run's sessions share, and what was seen of them.
struct World {
    seed: u64,
    folder: PathBuf,
    interrupt: Interrupt,
    /// How many steps are left until the stop.
    left: Cell<u32>,
    stop: Stop,
    steps: Cell<u32>,
    /// The ended trials, by scheduler and seed, in order.
    ended: RefCell<Vec<(String, u64)>>,
}

impl World {
    /// Where a failure, a request to stop or a kill may occur.
    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
        let Some(left) = self.left.get().checked_sub(1) else { return };
        self.left.set(left);
        if left == 0 {
            match self.stop {
                Stop::Asked => self.interrupt.set(),
                // Unlike `panic!` it prints nothing.
                Stop::Killed => resume_unwind(Box::new(Killed)),
            }
        }
    }

    /// What becomes of a step of a trial, whenever it is performed.
    fn fault(&self, step: &str, setup: &Setup, seed: u64) -> Result<(), LabError> {
        let trial = format!("{step} {} {seed}", setup.scheduler.unwrap_or_default());
        match drawn(self.seed, &trial) % 64 {
            0..4 => Err(LabError::Damaged { check: trial, said: "so".to_owned() }),
            4..6 => Err(LabError::Unavailable { reason: trial }),
            // It takes a while, as a request to stop may follow.
            6 if seed.is_multiple_of(4) => {
                let [asked, found] = ["a", "b"].map(str::to_owned);
                Err(LabError::Mismatch { what: trial, asked, found })
            }
            _ => Ok(()),
        }
    }
}

/// A lab whose only work is to count and to fail.
struct NullLab<'a> {
    world: &'a World,
    is_attached: bool,
    /// The trial whose ground was made last.
    seed: u64,
}

impl Lab for NullLab<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        let level = setup.scheduler.unwrap_or_default();
        drawn(self.world.seed, level).is_multiple_of(8).then(|| "missing".to_owned())
    }

    fn attach(
        &mut self,
        _: Option<&Path>,
        _: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        assert!(!self.is_attached, "the last trial is not finished");
        self.is_attached = true;
        self.world.step();
        Ok(None)
    }

    fn prepare(
        &mut self,
        setup: &Setup,
        _: DeviceContents,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError> {
        self.seed = seed;
        let trial = (setup.scheduler.unwrap_or_default().to_owned(), seed);
        assert!(!self.world.ended.borrow().contains(&trial), "{trial:?} ended, and runs again");
        let directory = self.world.folder.join(format!("ssdlab-{}", tools.journal.marker()));
        assert!(!directory.exists(), "the last trial is not undone");
        tools.journal.will(Change::Folder { path: directory.clone() }).unwrap();
        self.world.step();
        fs::create_dir(&directory).unwrap();
        self.world.step();
        self.world.fault("prepare", setup, seed)?;
        Ok(MountedFs {
            directory: directory.clone(),
            mounted_at: directory,
            is_shared: true,
            applied: BTreeMap::new(),
            commit: Vec::new(),
            compresses: false,
        })
    }

    fn remount(&mut self, _: &MountedFs, setup: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        self.world.step();
        self.world.fault("remount", setup, self.seed)
    }

    fn unmount(&mut self, _: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        unreachable!("others use the filesystem")
    }

    fn finish_trial(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        self.is_attached = false;
        self.world.step();
        Ok(())
    }
}

impl Observer for &World {
    fn notice(&mut self, event: RunEvent<'_>) {
        if let RunEvent::TrialEnded { record, .. } = event
            && record.status != TrialStatus::Unavailable
        {
            let level = record.levels.0[&Factor::Scheduler].clone();
            self.ended.borrow_mut().push((level, record.trial.seed));
        }
        self.step();
    }
}

fn plan(seed: u64) -> String {
    let levels = ["none", "mq-deadline", "kyber", "bfq"];
    let chosen: Vec<&str> =
        levels.into_iter().filter(|level| !drawn(!seed, level).is_multiple_of(3)).collect();
    let chosen = if chosen.len() < 2 { levels[..2].to_vec() } else { chosen };
    let least = 1 + drawn(seed, "least") % 3;
    PLAN.replace("[\"none\", \"mq-deadline\"]", &format!("{chosen:?}"))
        .replace("files = 3", "files = 1")
        .replace("{ do = \"sync\" }", "{ do = \"remount\" }")
        .replace(", sync = true", "")
        .replace("least = 3", &format!("least = {least}"))
        .replace("most = 3", &format!("most = {}", least + drawn(seed, "more") % 2))
}

/// One session of a run; `None` if it was killed.
fn session(
    world: &World,
    schedule: &Schedule,
    workload: &mut PreparedWorkload,
    id: &mut Option<PathBuf>,
) -> Option<Ending> {
    let undo = world.folder.join("undo");
    let mut journal = Journal::create(&undo).unwrap();
    let interrupt = &world.interrupt;
    let mut lab = NullLab { world, is_attached: false, seed: 0 };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let (mut run, records) = match &id {
            None => (RunFolder::create(&world.folder, "run", "", schedule).unwrap(), Vec::new()),
            Some(folder) => {
                let (run, contents) = RunFolder::append(folder).unwrap();
                (run, contents.records)
            }
        };
        *id = Some(run.folder().to_owned());
        let mut executor = LocalExecutor {
            write_ledger: WriteLedger::default(),
            stretches: StretchHistory::default(),
            target: schedule.target.as_ref().unwrap(),
            lab: &mut lab,
            workload,
            journal: &mut journal,
            interrupt,
            aged: &Store::of_user(),
            tools: Vec::new(),
        };
        let mut observer = world;
        let run_state = RunState::new(schedule, &mut run, &mut observer, records);
        Conductor { run_state, executor: &mut executor }.conduct().unwrap()
    }));
    match ended {
        Ok(ending) => {
            assert!(!lab.is_attached, "the last trial is not finished");
            journal.finish().unwrap();
            Some(ending)
        }
        Err(payload) if payload.is::<Killed>() => {
            // The file of a dead program has no lock; nor does it undo anything.
            let copy = journal.path().with_extension("copy");
            fs::copy(journal.path(), &copy).unwrap();
            fs::rename(&copy, journal.path()).unwrap();
            std::mem::forget(journal);
            assert_eq!(restore(&undo).unwrap().failed.len(), 0);
            None
        }
        Err(payload) => resume_unwind(payload),
    }
}

/// A record without what differs between equal trials.
fn essence(record: &Record) -> String {
    let phase = |phase: &ssdlab_results::PhaseRecord| (phase.name.clone(), phase.application_bytes);
    let phases: Vec<_> = record.phases.iter().map(phase).collect();
    format!("{:?} {} {:?} {phases:?}", record.trial, record.status, record.reason)
}

/// Conducts the run of a seed with stops; returns how it ended, its records and the steps.
fn conduct_seed(
    seed: u64,
    folder: &Path,
    workload: &mut PreparedWorkload,
    stops: u64,
) -> (Ending, Vec<Record>, u32) {
    let mut world = World {
        seed,
        folder: folder.to_owned(),
        interrupt: Interrupt::default(),
        left: Cell::new(NEVER),
        stop: Stop::Asked,
        steps: Cell::new(0),
        ended: RefCell::default(),
    };
    let schedule = schedule(&plan(seed), folder);
    let mut run = None;
    for number in 0.. {
        let draw = |of: &str| drawn(seed, &format!("{of} {number}"));
        let is_stopped = number < stops;
        let after = u32::try_from(1 + draw("after") % 40).unwrap();
        world.left.set(if is_stopped { after } else { NEVER });
        world.stop = if draw("kill").is_multiple_of(2) { Stop::Killed } else { Stop::Asked };
        world.interrupt = Interrupt::default();
        let ending = session(&world, &schedule, workload, &mut run);
        let left = fs::read_dir(folder).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        let is_ours = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("ssdlab-");
        assert!(!left.iter().any(is_ours), "left: {left:?}");
        assert_eq!(fs::read_dir(folder.join("undo")).unwrap().count(), 0, "a journal is left");
        let folder = run.as_ref().unwrap();
        let contents = RunFolder::read(folder).unwrap();
        assert_eq!(contents.warnings, [""; 0]);
        let is_ended = |record: &&Record| record.status != TrialStatus::Unavailable;
        let kept: Vec<u64> =
            contents.records.iter().filter(is_ended).map(|record| record.trial.seed).collect();
        let ended: Vec<u64> = world.ended.borrow().iter().map(|(_, seed)| *seed).collect();
        assert_eq!(kept, ended, "what ended and what is recorded differ");
        match ending {
            Some(Ending::Interrupted) => assert!(is_stopped, "nobody asked it to stop"),
            Some(ending) => return (ending, contents.records, world.steps.get()),
            // The kill may have interrupted the writing of the next record.
            None if draw("part").is_multiple_of(2) => {
                let records = folder.join("records.jsonl");
                let mut records = OpenOptions::new().append(true).open(records).unwrap();
                records.write_all(b"{\"schema\":1,\"trial\":{\"block\":").unwrap();
            }
            None => {}
        }
    }
    unreachable!("a session without a stop ends")
}

#[test]
fn a_run_that_is_stopped_and_killed_anywhere_is_the_run_that_was_not() {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let place = tempfile::tempdir_in(folder).unwrap();
    // All seeds have the same, whose contents take longer to make than to write.
    let own = schedule(&plan(0), place.path());
    let never = Interrupt::default();
    let mut workload = PreparedWorkload::new(&own.workload, &own.inputs, 1, &never).unwrap();
    let (mut steps, mut endings) = (0, BTreeSet::new());
    for seed in 0..RUNS {
        let folder = place.path().join(seed.to_string());
        fs::create_dir(&folder).unwrap();
        let mut run = |stops| {
            println!("seed {seed}, {stops} stops");
            conduct_seed(seed, &folder, &mut workload, stops)
        };
        let (whole, stopped) = (run(0), run(2 + seed % 5));
        assert_eq!(whole.0, stopped.0, "seed {seed} ends otherwise");
        let essences = |records: &[Record]| records.iter().map(essence).collect::<Vec<_>>();
        assert_eq!(essences(&whole.1), essences(&stopped.1), "seed {seed}");
        steps += whole.2 + stopped.2;
        endings.insert(format!("{:?}", whole.0));
    }
    assert!(steps > 2000 && endings.len() > 1, "{steps} steps, {endings:?}");
}

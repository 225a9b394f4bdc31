//! What a guest of the virtual lab does: the trial of its job, by the same code as on any machine.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::books::Books;
use super::here::Here;
use super::{Event, Observer};
use crate::aged::Store;
use crate::guest::{self, Line, Message};
use crate::host::interrupt::Interrupt;
use crate::host::program::Rules;
use crate::lab::{self, Tools};
use crate::plan::schedule::{self, Hashes, Repetitions, SCHEDULE_SCHEMA, Treatment, Trial};
use crate::plan::{Levels, Schedule, Target};
use crate::results::Record;
use crate::undo::Journal;
use crate::workload::Workload;

/// Where the channel is in the guest.
const CHANNEL: &str = "/dev/vdb";

/// Where the guest's own undo journal is kept; it goes with the guest.
const JOURNAL: &str = "/run/ssdlab";

/// What a guest is to do: a schedule of one treatment, and the one trial of it. Nothing in it
/// says where in a run it stands, so equal trials are equal jobs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub schedule: Schedule,
    pub trial: Trial,
    /// Whether all there is to do is to age the drive, for trials to come.
    pub ages: bool,
}

impl Job {
    /// The job of a trial. `run_seed` is that of the whole run.
    pub fn new(
        levels: Levels,
        workload: schedule::Workload,
        seed: u64,
        run_seed: u64,
        verify: bool,
    ) -> Self {
        let nothing = String::new;
        let schedule = Schedule {
            schema: SCHEDULE_SCHEMA,
            plan: nothing(),
            question: nothing(),
            source: None,
            metric: nothing(),
            needs: Vec::new(),
            target: Some(Target::Virtual { capacity_bytes: None }),
            treatments: vec![Treatment::new(levels, None)],
            baseline: Levels::default(),
            workload,
            repetitions: Repetitions {
                least: 1,
                most: 1,
                precision: 0.0,
                time_ns: None,
                written_bytes: None,
            },
            ranking: None,
            steps: Vec::new(),
            claims: Vec::new(),
            published: Vec::new(),
            seed: run_seed,
            trials: Vec::new(),
            notes: Vec::new(),
            overrides: Vec::new(),
            // The host has compared them.
            inputs: Hashes::new(),
            verify,
        };
        let trial = Trial { block: 0, position: 0, treatment: 0, seed };
        Self { schedule, trial, ages: false }
    }
}

/// The life of a guest's first process. It returns only if the guest cannot end.
#[must_use]
pub fn guest() -> io::Error {
    if let Err(error) = work() {
        // The console is all there is to tell it by.
        eprintln!("ssdlab guest: {error}");
    }
    guest::shut_down()
}

fn work() -> io::Result<()> {
    guest::prepare()?;
    let line = Line::open(Path::new(CHANNEL))?;
    let job: Job = line.job()?;
    let record = perform(&job, &line)?;
    line.tell(&Message::Done(serde_json::to_value(&record)?))
}

fn perform(job: &Job, line: &Line) -> io::Result<Record> {
    let Job { schedule, trial, ages } = job;
    let interrupt = Interrupt::default();
    let mut journal = Journal::create_alone(Path::new(JOURNAL))?;
    let marker = journal.marker().to_owned();
    let mut workload = Workload::new(&schedule.workload, &schedule.inputs, schedule.seed)
        .map_err(io::Error::other)?;
    let rules = Rules { marker: &marker, limit: lab::LOOK, interrupt: &interrupt };
    let mut tools = Tools { journal: &mut journal, rules };
    let mut lab = lab::open_in_guest(&mut tools).map_err(io::Error::other)?;
    // Nothing of a guest is kept.
    let aged = Store::of_user();
    let mut here = Here {
        schedule,
        lab: &mut *lab,
        workload: &mut workload,
        journal: &mut journal,
        interrupt: &interrupt,
        // The host has the requests.
        books: Books::default(),
        aged: &aged,
        tools: Vec::new(),
    };
    let teller = &mut Teller { line };
    let (mut record, failure) =
        if *ages { here.ageing(*trial) } else { here.trial(*trial, teller) };
    if let Some(failure) = failure {
        failure.mark(&mut record);
    }
    Ok(record)
}

/// Passes the beginnings and ends of phases on to the host.
struct Teller<'a> {
    line: &'a Line,
}

impl Observer for Teller<'_> {
    fn notice(&mut self, event: Event<'_>) {
        let message = match event {
            Event::PhaseStarted { name, .. } => Message::Begins(name.to_owned()),
            Event::PhaseEnded { name } => Message::Over(name.to_owned()),
            Event::LaidOut { layout } => {
                Message::Layout(serde_json::to_value(layout).expect("a layout is plain data"))
            }
            _ => return,
        };
        if let Err(error) = self.line.tell(&message) {
            eprintln!("ssdlab guest: the channel is broken: {error}");
        }
    }
}

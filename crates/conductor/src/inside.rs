//! What a guest of the virtual lab does: the trial of its job, by the same code as on any machine.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use ssdlab_aged::Store;
use ssdlab_guest::{self as guest, Line, Message};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_lab::{self as lab, Tools};
use ssdlab_meter::processor;
use ssdlab_plan::schedule::{Hashes, Workload};
use ssdlab_plan::{Setup, Target};
use ssdlab_undo::Journal;
use ssdlab_workload as workload;

use super::assignment::Assignment;
use super::books::Books;
use super::here::Here;
use super::recovery::{self, Recoveries};

/// Where the channel is in the guest.
const CHANNEL: &str = "/dev/vdb";

/// Where the guest's own undo journal is kept; it goes with the guest.
const JOURNAL: &str = "/run/ssdlab";

/// What a guest is to do.
#[expect(clippy::large_enum_variant, reason = "a guest has one")]
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Job {
    /// Perform a trial, and answer with what came of it.
    Trial {
        /// What to do.
        assignment: Assignment,
        /// The seed of the whole run.
        run_seed: u64,
    },
    /// Age the drive for trials to come, and answer with the facts or the failure.
    Ageing {
        /// What shapes the filesystem.
        setup: Setup,
        /// The seed of the trials.
        seed: u64,
    },
    /// Recover what the drive holds after each of some power cuts.
    Recovery(Recoveries),
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
    let line = Rc::new(Line::open(Path::new(CHANNEL))?);
    let job: Job = line.job()?;
    line.tell(&Message::Done(perform(&job, &line)?))
}

fn perform(job: &Job, line: &Rc<Line>) -> io::Result<serde_json::Value> {
    let nothing = Workload::default();
    let (workload, run_seed) = match job {
        Job::Trial { assignment, run_seed } => (&assignment.workload, *run_seed),
        Job::Ageing { seed, .. } => (&nothing, *seed),
        Job::Recovery(recoveries) => {
            let ended = recovery::inside(recoveries, Path::new(JOURNAL), line);
            return Ok(serde_json::to_value(ended.map_err(|error| error.to_string()))?);
        }
    };
    let interrupt = Interrupt::default();
    let mut journal = Journal::create_alone(Path::new(JOURNAL))?;
    let marker = journal.marker().to_owned();
    // The host has compared them.
    let inputs = Hashes::new();
    let mut workload = workload::Workload::new(workload, &inputs, run_seed, &interrupt)
        .map_err(io::Error::other)?;
    if let Job::Trial { assignment: Assignment { tells_deeds: true, .. }, .. } = job {
        let line = Rc::clone(line);
        workload.tell_deeds(move |deed| tell(&line, &Message::Deed(deed)));
    }
    let rules = Rules { marker: &marker, limit: lab::LOOK, interrupt: &interrupt };
    let mut tools = Tools { journal: &mut journal, rules };
    let mut lab = lab::open_in_guest(&mut tools).map_err(io::Error::other)?;
    // Nothing of a guest is kept.
    let aged = Store::of_user();
    let mut here = Here {
        target: &Target::Virtual { capacity_bytes: None },
        lab: &mut *lab,
        workload: &mut workload,
        journal: &mut journal,
        interrupt: &interrupt,
        // The host has the requests.
        books: Books::default(),
        aged: &aged,
        tools: Vec::new(),
    };
    let answer = match job {
        Job::Trial { assignment, .. } => {
            let mut teller = Teller { line, functions: BTreeMap::new() };
            let mut told = |message| teller.pass_on(&message);
            serde_json::to_value(here.perform_one(assignment, &mut told))
        }
        Job::Recovery(_) => unreachable!("it has its own answer"),
        Job::Ageing { setup, seed } => serde_json::to_value(here.ageing(setup, *seed)),
    };
    Ok(answer?)
}

fn tell(line: &Line, message: &Message) {
    if let Err(error) = line.tell(message) {
        eprintln!("ssdlab guest: the channel is broken: {error}");
    }
}

/// Tells the host where the trial is, and after each phase what the kernel executed in it.
struct Teller<'a> {
    line: &'a Line,
    /// The blocks that had been executed when the phase began.
    functions: BTreeMap<String, u64>,
}

impl Teller<'_> {
    /// Nothing that this executes is in a phase.
    fn pass_on(&mut self, message: &Message) {
        if let Message::Begins(_) = message {
            self.functions = processor::functions().unwrap_or_default();
        }
        self.tell(message);
        if let Message::Over(_) = message {
            self.tell(&Message::Functions(self.executed()));
        }
    }

    fn tell(&self, message: &Message) {
        tell(self.line, message);
    }

    /// What was executed since the phase began.
    fn executed(&self) -> BTreeMap<String, u64> {
        let mut executed = processor::functions().unwrap_or_default();
        for (name, blocks) in &mut executed {
            *blocks -= self.functions.get(name).copied().unwrap_or(0);
        }
        executed.retain(|_, blocks| *blocks > 0);
        executed
    }
}

//! The guest's side of the virtual lab: performs the trial of its job, by the same code as on any
//! machine.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use ssdlab_disk::guest::{self, GuestChannel};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::processor;
use ssdlab_host::program::Rules;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::aged::Store;
use ssdlab_lab::{self as lab, Tools};
use ssdlab_plan::schedule::{FileHashes, Workload};
use ssdlab_plan::{Setup, Target};
use ssdlab_workload::{self as workload, TrialEvent};

use super::assignment::Assignment;
use super::computing::{self, Computing};
use super::local::LocalExecutor;
use super::message::Message;
use super::recovery::{self, Recoveries};
use super::stretch::StretchHistory;
use super::write_ledger::WriteLedger;

/// Where the channel is in the guest.
const CHANNEL: &str = "/dev/vdb";

/// Where the guest's own undo journal is kept; it disappears with the guest.
const JOURNAL: &str = "/run/ssdlab";

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum GuestJob {
    /// Perform a trial, and answer with its outcome.
    Trial {
        /// What to do.
        assignment: Assignment,
        /// The seed of the whole run.
        run_seed: u64,
    },
    /// Age the drive for later trials, and answer with the facts or the failure.
    Ageing {
        /// What shapes the filesystem.
        setup: Setup,
        /// The seed of the trials.
        seed: u64,
    },
    /// Recover the drive's contents after each of some power cuts.
    Recovery(Recoveries),
    /// Perform operations, and answer with their processor times.
    Computing(Computing),
}

/// The main function of a guest's init process. It returns only if the guest cannot power off.
pub fn guest() -> io::Error {
    if let Err(error) = work() {
        // Only the console is left to report it.
        eprintln!("ssdlab guest: {error}");
    }
    guest::shut_down()
}

fn work() -> io::Result<()> {
    guest::prepare()?;
    let line = Rc::new(GuestChannel::open(Path::new(CHANNEL))?);
    let job: GuestJob = line.job()?;
    perform(&job, &line)
}

/// Does the job and tells its result.
fn perform(job: &GuestJob, line: &Rc<GuestChannel>) -> io::Result<()> {
    let told = |error: io::Error| error.to_string();
    match job {
        GuestJob::Trial { assignment, run_seed } => {
            let mut teller = Teller { line, functions: BTreeMap::new() };
            let operations = assignment.tells_deeds.then_some(line);
            let performed = on_lab(&assignment.workload, *run_seed, operations, |here| {
                here.perform_one(assignment, &mut |message| teller.pass_on(&message))
            })?;
            line.tell(&Message::Done(performed))
        }
        GuestJob::Ageing { setup, seed } => {
            let ageing = |here: &mut LocalExecutor<'_>| here.ageing(setup, *seed);
            line.tell(&Message::Done(on_lab(&Workload::default(), *seed, None, ageing)?))
        }
        GuestJob::Recovery(recoveries) => {
            let recovered = recovery::inside(recoveries, Path::new(JOURNAL), line);
            line.tell(&Message::Done(recovered.map_err(told)))
        }
        GuestJob::Computing(job) => line.tell(&Message::Done(computing::inside(job).map_err(told))),
    }
}

/// Opens the guest's lab, and performs something there; operations on files are reported on the
/// line.
fn on_lab<T>(
    workload: &Workload,
    run_seed: u64,
    operations: Option<&Rc<GuestChannel>>,
    perform: impl FnOnce(&mut LocalExecutor<'_>) -> T,
) -> io::Result<T> {
    let interrupt = Interrupt::default();
    let mut journal = Journal::create_alone(Path::new(JOURNAL))?;
    let marker = journal.marker().to_owned();
    // The host has compared them.
    let inputs = FileHashes::new();
    let mut workload = workload::PreparedWorkload::new(workload, &inputs, run_seed, &interrupt)
        .map_err(io::Error::other)?;
    workload.hand_calls_over();
    if let Some(line) = operations.map(Rc::clone) {
        workload.tell(move |happened| {
            let message = match happened {
                TrialEvent::FileOperation(operation) => Message::Deed(operation),
                TrialEvent::Said(said) => Message::Said(said),
                TrialEvent::Called(call) => Message::Called(call),
            };
            tell(&line, &message);
        });
    }
    let rules = Rules { marker: &marker, limit: lab::SURVEY_TIMEOUT, interrupt: &interrupt };
    let mut tools = Tools { journal: &mut journal, rules };
    let mut lab = lab::open_in_guest(&mut tools).map_err(io::Error::other)?;
    // A guest keeps nothing.
    let aged = Store::of_user();
    let mut here = LocalExecutor {
        target: &Target::Virtual { capacity_bytes: None },
        lab: &mut *lab,
        workload: &mut workload,
        journal: &mut journal,
        interrupt: &interrupt,
        // The host has the requests.
        write_ledger: WriteLedger::default(),
        stretches: StretchHistory::default(),
        aged: &aged,
        tools: Vec::new(),
    };
    Ok(perform(&mut here))
}

fn tell(line: &GuestChannel, message: &Message) {
    if let Err(error) = line.tell(message) {
        eprintln!("ssdlab guest: the channel is broken: {error}");
    }
}

/// Reports the progress of the trial to the host, and after each phase what the kernel executed in
/// it.
struct Teller<'a> {
    line: &'a GuestChannel,
    /// The counts of executed blocks when the phase began.
    functions: BTreeMap<String, u64>,
}

impl Teller<'_> {
    /// The blocks executed here are in no phase.
    fn pass_on(&mut self, message: &Message) {
        if let Message::Begins(_) = message {
            self.functions = processor::functions().unwrap_or_default();
        }
        tell(self.line, message);
        if let Message::Over(_) = message {
            tell(self.line, &Message::Functions(self.executed()));
        }
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

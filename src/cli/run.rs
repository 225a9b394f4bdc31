//! `ssdlab run`: from a plan to its answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use miette::{IntoDiagnostic, Report};

use super::cluster::{self, Collect, On};
use super::exit::{Exit, Wrong};
use super::plan_arguments::{PlanArguments, Resolved};
use super::progress::Progress;
use super::stages::{self, Manner, Ready};
use super::watching::{self, Watching};
use super::{output, report};
use crate::advice::{self, Analysis};
use crate::conductor::{
    self, Conductor, ConductorError, Desk, Fleet, Observer, Rsync, Stage, Submission, Submitter,
};
use crate::host::interrupt::Interrupt;
use crate::plan::{self, LabKind, Schedule};
use crate::report::{bytes, counted, roughly};
use crate::results::{self, Ending, Record, Status};
use crate::slurm::{Slurm, SlurmError};
use crate::undo;
use crate::watch::Watch;
use crate::workload::Workload;

/// Arguments of `ssdlab run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    plan: PlanArguments,
    /// Give up all data on --device; type its serial or by-id name.
    #[arg(long, value_name = "ID")]
    wipe: Option<String>,
    /// The folder for results.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Go on with an interrupted run: its name or its folder.
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    /// After each trial, compare what it left with what it must have left, and run the
    /// filesystem's own check (fsck); a difference makes the trial void.
    #[arg(long)]
    verify: bool,
    /// Trials to run at the same time (virtual lab; default: as many as there are processors and
    /// memory for; elsewhere always one).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Have nodes of Slurm run the trials, of a partition or of the default one: `slurm` or
    /// `slurm:PARTITION`. They must see the folder for results, and have this program.
    #[arg(long, value_name = "slurm[:PARTITION]")]
    on: Option<On>,
    /// How records get here from nodes that do not see the folder for results.
    #[arg(long, requires = "on")]
    collect: Option<Collect>,
    /// The lab kernel (virtual lab; default: that of `ssdlab kernel build`).
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
    /// Do not record what is asked of the device (image and device labs): no ledger of what was
    /// written then, and no log of requests.
    #[arg(long)]
    no_trace: bool,
    /// Serve a page that shows the run as it goes on: at a port of this machine, or at an address
    /// that others reach, too. Nothing can be changed there.
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = watching::address)]
    watch: Option<SocketAddr>,
    /// Print the whole analysis as one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a run came to.
type Ended = Result<Ending, ConductorError>;

/// A run before anything is done.
enum Planned {
    New(Resolved),
    Resumed(Session),
}

impl Planned {
    fn schedule(&self) -> &Schedule {
        match self {
            Self::New(resolved) => &resolved.schedule,
            Self::Resumed(session) => &session.schedule,
        }
    }

    /// Enters what the files of the plan are now, which holds for the whole run.
    fn look_at_inputs(&mut self) -> Result<(), Report> {
        let schedule = match self {
            Self::New(resolved) => &mut resolved.schedule,
            Self::Resumed(session) => &mut session.schedule,
        };
        if schedule.inputs.is_empty() {
            schedule.inputs = cluster::inputs(schedule)?;
        }
        Ok(())
    }

    /// What earlier sessions have submitted to Slurm, by name.
    fn submitted(&self) -> Result<BTreeMap<String, Submission>, Report> {
        match self {
            Self::New(_) => Ok(BTreeMap::new()),
            Self::Resumed(session) => Submission::all(session.run.folder()).into_diagnostic(),
        }
    }

    fn start(self, folder: &Path) -> Result<Session, Report> {
        match self {
            Self::New(resolved) => start(folder, resolved),
            Self::Resumed(session) => Ok(session),
        }
    }
}

/// A run that is ready to go on.
struct Session {
    run: results::Run,
    schedule: Schedule,
    records: Vec<Record>,
}

impl Run {
    /// Runs it.
    pub fn run(&self) -> Result<Exit, Report> {
        let folder = self.results.clone().unwrap_or_else(results::default_folder);
        // Whatever can be wrong is found before a folder is made or a device is touched.
        let mut planned = match &self.resume {
            None => {
                let mut resolved = self.plan.resolve()?;
                resolved.schedule.verify = self.verify;
                Planned::New(resolved)
            }
            Some(_) if self.verify || self.plan.changes_anything() => {
                return Err(Wrong::report(
                    "--resume goes on with a run as it was planned",
                    "leave out the plan and what changes it",
                ));
            }
            Some(run) => {
                let session = resume(run, &folder)?;
                if session.schedule.target.lab == LabKind::Imported {
                    return Err(Wrong::report(
                        format!("{} was imported: nothing of it can run here", run.display()),
                        "import it again with further files: ssdlab import FILE...",
                    ));
                }
                Planned::Resumed(session)
            }
        };
        planned.look_at_inputs()?;
        let schedule = planned.schedule().clone();
        let lab = schedule.target.lab;
        if schedule.verify && lab == LabKind::Directory {
            return Err(Wrong::report(
                "--verify reads from the device, and the directory lab unmounts nothing",
                "leave it out, or name a lab that makes filesystems: --lab image or virtual",
            ));
        }
        if lab != LabKind::Virtual {
            self.check_wall_clock(lab)?;
        }
        let submitted = planned.submitted()?;
        let slurm = if let Some(on) = &self.on {
            self.check_submitted()?;
            cluster::check_submitted(&schedule)?;
            let partition = conductor::partition(&submitted);
            if !submitted.is_empty() && on.partition.is_some() && on.partition != partition {
                let own = partition.as_deref().unwrap_or("the default one");
                return Err(Wrong::report(
                    format!("the run was submitted to another partition: {own}"),
                    "leave the partition out: all of a run goes to one",
                ));
            }
            Some(Slurm::find(on.partition.clone().or(partition))?)
        } else {
            cluster::check_local(&submitted, &schedule)?;
            None
        };
        let is_staged = self.collect.is_some() || submitted.values().any(|of| of.staged.is_some());
        let watch = self.watch.map(serve).transpose()?;
        let watch = watch.as_ref();
        let session = || planned.start(&folder);
        let (ended, session) = match slurm {
            Some(slurm) => self.on_slurm(slurm, &schedule, is_staged, session, watch)?,
            None => self.on_this_machine(&schedule, session, watch)?,
        };
        let ending = *ended.as_ref().unwrap_or(&Ending::Interrupted);
        let id = session.run.id();
        let analysis = advice::analyse(&id, &session.schedule, &session.records, ending);
        self.show(&session, &analysis);
        Ok(exit(ended?, &session.records))
    }

    /// Refuses what each node decides for itself.
    fn check_submitted(&self) -> Result<(), Report> {
        let given = [
            (self.wipe.is_some(), "--wipe", "each node's /etc/ssdlab/drives.toml names its drive"),
            (self.jobs.is_some(), "--jobs", "nodes run as many as Slurm gives them processors"),
            (self.kernel.is_some(), "--kernel", "nodes have that of `ssdlab kernel build`"),
        ];
        match given.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, help)) => {
                Err(Wrong::report(format!("{option} does not go with --on slurm"), help))
            }
            None => Ok(()),
        }
    }

    /// Refuses what only guests can do.
    fn check_wall_clock(&self, lab: LabKind) -> Result<(), Report> {
        if let Some(jobs) = self.jobs.filter(|jobs| *jobs != 1) {
            return Err(Wrong::report(
                format!("--jobs {jobs}: trials on a wall clock run one at a time"),
                "two at once would measure each other; leave --jobs out",
            ));
        }
        if self.kernel.is_some() {
            return Err(Wrong::report(
                format!("--kernel is for guests, and the {lab} lab has none"),
                "leave it out, or say --lab virtual",
            ));
        }
        Ok(())
    }

    fn on_this_machine(
        &self,
        schedule: &Schedule,
        session: impl FnOnce() -> Result<Session, Report>,
        watch: Option<&Watch>,
    ) -> Result<(Ended, Session), Report> {
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let mut journal = undo::start().map_err(|error| no_journal(&error))?;
        let manner = Manner {
            wipe: self.wipe.as_deref(),
            kernel: self.kernel.as_deref(),
            jobs: self.jobs.map(usize::from),
            no_trace: self.no_trace,
            ..Manner::default()
        };
        let act = |mut ready: Ready<'_>| {
            announce(schedule, ready.jobs());
            let mut session = session()?;
            ready.log_to(&session.run.folder().join("requests"))?;
            Ok((conduct(&mut session, ready.stage(), watch), session))
        };
        let done = stages::with_stage(schedule, manner, &mut journal, &interrupt, act)?;
        // Not all undone is worth an error of its own, after what was measured.
        let (ended, session) = done;
        let undone = journal.finish().map_err(ConductorError::from);
        Ok((ended.and_then(|ending| undone.map(|()| ending)), session))
    }

    fn on_slurm(
        &self,
        slurm: Slurm,
        schedule: &Schedule,
        is_staged: bool,
        session: impl FnOnce() -> Result<Session, Report>,
        watch: Option<&Watch>,
    ) -> Result<(Ended, Session), Report> {
        let interrupt = Interrupt::on_requests().into_diagnostic()?;
        // The nodes would find it out too, one by one.
        Workload::new(&schedule.workload, &schedule.inputs, schedule.seed)?;
        let rsync = is_staged.then(Rsync::find).transpose();
        let by = Submitter {
            schedule,
            expected: cluster::expected(schedule)?,
            no_trace: self.no_trace,
            memory_bytes: stages::memory_elsewhere(schedule)?,
            program: std::env::current_exe().into_diagnostic()?,
            rsync: rsync.map_err(SlurmError::from)?,
            staging: cluster::staging(),
            interrupt: &interrupt,
            slurm,
        };
        Fleet::check(&by.slurm, schedule)?;
        let mut session = session()?;
        announce(schedule, 1);
        let folder = session.run.folder().canonicalize().into_diagnostic()?;
        let mut fleet = Fleet::open(by, &folder, &session.records).map_err(ConductorError::from)?;
        let ended = conduct(&mut session, &mut fleet, watch);
        Ok((ended, session))
    }

    fn show(&self, session: &Session, analysis: &Analysis) {
        if self.json {
            output::print_json(analysis);
            return;
        }
        output::print(&crate::report::text(&session.schedule, analysis, output::style()));
        let folder = session.run.folder();
        let run = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        output::print(&format!(
            "\nRecords: {}\nAs a page, with charts: ssdlab report {run} --format html --out \
             {run}.html\n",
            folder.display()
        ));
    }
}

/// Says what is about to happen, about how long it takes, and what it does to the device.
fn announce(schedule: &Schedule, jobs: usize) {
    let trials = schedule.expected_trials();
    let jobs = jobs.min(trials).max(1);
    let least =
        if schedule.repetitions.least < schedule.repetitions.most { "at least " } else { "" };
    let mut says =
        vec![format!("{least}{} in the {} lab", counted(trials, "trial"), schedule.target.lab)];
    if jobs > 1 {
        says.push(format!("{jobs} at a time"));
    }
    if let Some(estimate) = plan::estimate(schedule) {
        let time = estimate.time / u32::try_from(jobs).unwrap_or(1);
        says.push(format!("about {}", roughly(time)));
        // A simulated drive does not wear.
        if schedule.target.lab != LabKind::Virtual {
            says.push(format!("writing about {}", bytes(estimate.written_bytes as f64)));
        }
    }
    output::tell(&says.join(", "));
}

fn conduct(session: &mut Session, stage: &mut dyn Stage, watch: Option<&Watch>) -> Ended {
    let mut progress = Progress::new();
    let id = session.run.id();
    let records = std::mem::take(&mut session.records);
    let mut watching = None;
    let observer: &mut dyn Observer = match watch {
        None => &mut progress,
        Some(watch) => {
            let schedule = &session.schedule;
            watching.insert(Watching::new(&mut progress, watch, schedule, &id, &records))
        }
    };
    let desk = Desk::new(&session.schedule, &mut session.run, observer, records);
    let mut conductor = Conductor { desk, stage };
    let ended = conductor.conduct();
    session.records = std::mem::take(&mut conductor.desk.records);
    if let Some(mut watching) = watching {
        watching.ended(&session.records, ended.as_ref().ok().copied());
    }
    progress.finish();
    ended
}

/// Serves the page, and says where.
fn serve(address: SocketAddr) -> Result<Watch, Report> {
    let watch = Watch::serve(address).map_err(|error| {
        Wrong::report(
            format!("the run cannot be shown at {address}: {error}"),
            "name another port, or 0 for any that is free",
        )
    })?;
    let reach = if address.ip().is_loopback() { "" } else { ", to everybody who reaches it" };
    output::tell(&format!("this run can be watched at http://{}/{reach}", watch.address()));
    Ok(watch)
}

/// What a run that begins now is called.
pub fn new_id(schedule: &Schedule) -> String {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let stamp: String = now.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = stamp.split_at(8);
    format!("{}-{day}-{time}", schedule.plan)
}

fn start(folder: &Path, resolved: Resolved) -> Result<Session, Report> {
    let id = new_id(&resolved.schedule);
    let run = results::Run::create(folder, &id, &resolved.text, &resolved.schedule)?;
    Ok(Session { run, schedule: resolved.schedule, records: Vec::new() })
}

fn resume(named: &Path, folder: &Path) -> Result<Session, Report> {
    let (run, contents) = results::Run::append(&report::find(named, folder))?;
    for warning in &contents.warnings {
        output::tell(&format!("{warning}; its trial runs again"));
    }
    Ok(Session { run, schedule: contents.schedule, records: contents.records })
}

pub fn no_journal(error: &std::io::Error) -> Report {
    Wrong::report(
        format!("no undo journal can be kept: {error}"),
        "nothing is changed on a machine without one; set XDG_STATE_HOME to a private folder",
    )
}

fn exit(ending: Ending, records: &[Record]) -> Exit {
    let failed = |record: &Record| matches!(record.status, Status::Failed | Status::Void);
    match ending {
        Ending::Interrupted => Exit::Interrupted,
        _ if records.iter().any(failed) => Exit::Failed,
        Ending::NothingRuns => Exit::Lacking,
        _ => Exit::Done,
    }
}

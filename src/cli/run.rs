//! `ssdlab run`: from a plan to its answer.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use miette::{IntoDiagnostic, Report};

use super::exit::{Exit, Wrong};
use super::plan_arguments::{PlanArguments, Resolved};
use super::progress::Progress;
use super::{output, report};
use crate::advice::{self, Analysis};
use crate::conductor::Conductor;
use crate::host::interrupt::Interrupt;
use crate::host::program::Rules;
use crate::lab::{self, Tools};
use crate::plan::{Bytes, LabKind, Schedule};
use crate::results::{self, Ending, Record, Status};
use crate::undo;
use crate::workload::Workload;

/// The longest a look at a device may take when a lab is opened.
const LOOK: std::time::Duration = std::time::Duration::from_mins(1);

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
    /// Trials to run at the same time; more than one only where time is virtual.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u32,
    /// Print the whole analysis as one JSON object.
    #[arg(long)]
    json: bool,
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
        if self.jobs != 1 {
            return Err(Wrong::report(
                format!("--jobs {}: trials on a wall clock run one at a time", self.jobs),
                "two at once would measure each other; leave --jobs out",
            ));
        }
        let folder = self.results.clone().unwrap_or_else(results::default_folder);
        // Whatever can be wrong is found before a folder is made or a device is touched.
        let resolved = match &self.resume {
            None => Some(self.plan.resolve()?),
            Some(_) if self.plan.changes_anything() => {
                return Err(Wrong::report(
                    "--resume goes on with a run as it was planned",
                    "leave out the plan and what changes it",
                ));
            }
            Some(_) => None,
        };
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let mut journal = undo::start().map_err(|error| no_journal(&error))?;
        let planned = resolved.as_ref().map(|resolved| resolved.schedule.clone());
        let resumed = self.resume.as_ref().map(|run| resume(run, &folder)).transpose()?;
        let schedule = planned
            .as_ref()
            .or(resumed.as_ref().map(|session| &session.schedule))
            .expect("a run is new or resumed");
        let mut workload = Workload::new(&schedule.workload, schedule.seed)?;
        check_fits(schedule, &workload)?;
        let marker = journal.marker().to_owned();
        let rules = Rules { marker: &marker, limit: LOOK, interrupt: &interrupt };
        let mut tools = Tools { journal: &mut journal, rules };
        let mut lab = lab::open(&schedule.target, self.wipe.as_deref(), &mut tools)?;
        let mut session = match (resolved, resumed) {
            (Some(resolved), _) => start(&folder, resolved)?,
            (None, Some(session)) => session,
            (None, None) => unreachable!("a run is new or resumed"),
        };
        let mut progress = Progress::new();
        let mut conductor = Conductor {
            schedule: &session.schedule,
            lab: &mut *lab,
            workload: &mut workload,
            run: &mut session.run,
            journal: &mut journal,
            interrupt: &interrupt,
            observer: &mut progress,
            records: std::mem::take(&mut session.records),
        };
        let ended = conductor.conduct();
        session.records = std::mem::take(&mut conductor.records);
        progress.finish();
        drop(lab);
        let undone = journal.finish();
        let ending = *ended.as_ref().unwrap_or(&Ending::Interrupted);
        let id = session.run.id();
        let analysis = advice::analyse(&id, &session.schedule, &session.records, ending);
        self.show(&session, &analysis);
        undone?;
        Ok(exit(ended?, &session.records))
    }

    fn show(&self, session: &Session, analysis: &Analysis) {
        if self.json {
            output::print(&report::json(analysis));
            return;
        }
        output::print(&crate::report::text(&session.schedule, analysis, output::style()));
        output::print(&format!("\nRecords: {}\n", session.run.folder().display()));
    }
}

/// How large an archive's tree is, is known only now.
fn check_fits(schedule: &Schedule, workload: &Workload) -> Result<(), Report> {
    let (tree, image) = (workload.archive_bytes(), schedule.target.size_bytes);
    if schedule.target.lab != LabKind::Image || tree <= image {
        return Ok(());
    }
    Err(Wrong::report(
        format!("the archive holds {}, the image has {}", Bytes(tree), Bytes(image)),
        "set a larger size in the plan's [target], or unpack a share of it: --scale",
    ))
}

fn start(folder: &Path, resolved: Resolved) -> Result<Session, Report> {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let stamp: String = now.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = stamp.split_at(8);
    let id = format!("{}-{day}-{time}", resolved.schedule.plan);
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

fn no_journal(error: &std::io::Error) -> Report {
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

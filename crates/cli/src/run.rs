//! `ssdlab run`: runs a plan and shows its answer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_advice::{self as advice, Analysis};
use ssdlab_conductor::{
    Conductor, ConductorError, Executor, Guests, RemoteExecutor, RunShare, RunState, Slurm,
};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_lab::Tweak;
use ssdlab_plan::{self as plan, DEFAULT_DRIVE, LabKind, Schedule};
use ssdlab_report::{AnsweredAnalysis, counted, roughly, roughly_written};
use ssdlab_results::{Ending, REQUEST_LOGS, Record, RunContents, RunFolder};
use ssdlab_workload::PreparedWorkload;

use super::elsewhere::{self, ClusterArguments, ShareRequirements};
use super::executors::{self, ReadyExecutor, RunOptions};
use super::exit::{Exit, UsageError};
use super::guard::Guard;
use super::plan_arguments::{PlanArguments, ResolvedPlan};
use super::progress::RunProgress;
use super::results_folder::ResultsArguments;
use super::run_name::RunName;
use super::watching::{Page, RunWatcher};
use super::{output, prediction, report, restore, sealing, share};

/// Arguments of `ssdlab run`.
#[derive(Debug, Args)]
pub struct RunCommand {
    #[command(flatten)]
    plan: PlanArguments,
    /// Resume an interrupted run, given by name or folder.
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    /// Perform only this share of the run, such as 3 of 8 (`3/8`), on any machine that sees its
    /// folder. Trials that the share has recorded are not repeated.
    #[arg(long, value_name = "I/N", requires = "resume", conflicts_with_all = NOT_OF_A_SHARE)]
    share: Option<RunShare>,
    /// First predict the bytes and flushes of the plan's workload in the virtual lab, on this
    /// simulated drive (default: the usual one); the report shows them beside what is measured
    /// (live lab).
    #[arg(long, value_name = "DRIVE", num_args = 0..=1, default_missing_value = DEFAULT_DRIVE)]
    predict: Option<String>,
    #[command(flatten)]
    running: RunArguments,
}

/// Options of the whole run, which a share of it does not decide.
const NOT_OF_A_SHARE: [&str; 5] = ["on", "shares", "watch", "json", "verbose"];

/// How a plan is run and its answer shown.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Your own change to the machine, for plans with the factor `tweak`: a command for sh(1), run
    /// as root (live lab).
    #[arg(long, value_name = "COMMAND", requires = "undo")]
    tweak: Option<String>,
    /// The command that takes it back: after each stretch with it, however the run ends, and
    /// perhaps more than once.
    #[arg(long, value_name = "COMMAND", requires = "tweak")]
    undo: Option<String>,
    /// Allow all data on --device to be destroyed; type its serial or by-id name.
    #[arg(long, value_name = "ID")]
    wipe: Option<String>,
    #[command(flatten)]
    results: ResultsArguments,
    /// After each trial, read its files back and compare them with what its operations must have
    /// left, and run the filesystem's own check (fsck); a difference voids the trial.
    #[arg(long)]
    verify: bool,
    /// Trials to run in parallel (virtual lab; default: as many as processors and memory allow;
    /// elsewhere always one).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Divide the run into N shares, which other machines perform: with `--on slurm` the nodes of a
    /// cluster, else whoever runs the commands that are printed. Resuming it merges their records.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shares: Option<u32>,
    /// Run the shares as tasks of a Slurm job array, in the default partition (`slurm`) or another
    /// (`slurm:PARTITION`), and wait for them. The nodes need ssdlab and the results folder.
    #[arg(long, value_name = "slurm[:PARTITION]")]
    on: Option<ClusterArguments>,
    /// The lab kernel (virtual lab; default: the one built by `ssdlab kernel build`).
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
    /// Do not record block requests and who causes them (image, device, directory and live labs):
    /// this disables the write ledger and the request logs.
    #[arg(long)]
    no_trace: bool,
    /// Keep the report as a page in the run's folder, which is rewritten between trials, and which
    /// browsers reload while the run goes on.
    #[arg(long)]
    watch: bool,
    /// Print the whole analysis as one JSON object.
    #[arg(long)]
    json: bool,
    /// At the end print the whole report: every claim with its evidence, every table, every caveat.
    #[arg(long, conflicts_with = "json")]
    verbose: bool,
}

/// The outcome of a run.
type Ended = Result<Ending, ConductorError>;

/// A run of guests that has ended, for a command that reports it in its own way.
pub struct PerformedRun {
    pub id: String,
    pub folder: PathBuf,
    /// What was to be done.
    pub schedule: Schedule,
    /// What was measured.
    pub records: Vec<Record>,
    /// How it ended.
    pub ended: Result<Ending, ConductorError>,
}

/// Performs a run of guests into a folder of results, and has something done with what came of it
/// while the guests are there.
pub fn perform<T>(
    resolved: ResolvedPlan,
    results: &Path,
    run_options: RunOptions<'_>,
    interrupt: &Interrupt,
    then: impl FnOnce(&mut Guests<'_>, PerformedRun) -> Result<T, Report>,
) -> Result<T, Report> {
    restore::remind();
    let planned = Planned { resolved, prediction: None, resumed: None }.with_inputs()?;
    let schedule = planned.resolved.schedule.clone();
    executors::in_guests(&schedule, run_options, interrupt, |mut guests| {
        let mut session = planned.start(results)?;
        announce(&schedule, guests.jobs());
        guests.log_to(&session.run.folder().join(REQUEST_LOGS))?;
        let ended = conduct(&mut session, &mut guests, None);
        let Session { run, schedule, records, .. } = session;
        let (id, folder) = (run.id(), run.folder().to_owned());
        then(&mut guests, PerformedRun { id, folder, schedule, records, ended })
    })
}

/// Has the virtual lab predict a run, whose folder keeps what it says.
fn predict(
    resolved: ResolvedPlan,
    folder: &Path,
    run_options: RunOptions<'_>,
    interrupt: &Interrupt,
) -> Result<(), Report> {
    perform(resolved, folder, run_options, interrupt, |_, performed| {
        Ok(performed.ended.map(drop)?)
    })
}

/// A run before it starts.
struct Planned {
    resolved: ResolvedPlan,
    /// What predicts it, if something is to.
    prediction: Option<ResolvedPlan>,
    /// Its folder and its records, if it is resumed.
    resumed: Option<(RunFolder, Vec<Record>)>,
}

impl Planned {
    /// With the hashes of the plan's files, which hold for the whole run.
    fn with_inputs(mut self) -> Result<Self, Report> {
        let schedule = &mut self.resolved.schedule;
        if schedule.inputs.is_empty() {
            *schedule = schedule.clone().with_inputs(elsewhere::inputs(schedule)?);
        }
        Ok(self)
    }

    /// Its folder, if it has one.
    fn folder(&self) -> Option<&Path> {
        self.resumed.as_ref().map(|(run, _)| run.folder())
    }

    fn start(self, folder: &Path) -> Result<Session, Report> {
        let ResolvedPlan { text: plan, schedule } = self.resolved;
        let (run, records) = if let Some(resumed) = self.resumed {
            resumed
        } else {
            let id = RunName::now(&schedule.plan).to_string();
            (RunFolder::create(folder, &id, &plan, &schedule)?, Vec::new())
        };
        Ok(Session { run, plan, schedule, records })
    }
}

/// A run that is ready to start or resume.
struct Session {
    run: RunFolder,
    /// The plan's text.
    plan: String,
    schedule: Schedule,
    records: Vec<Record>,
}

impl RunCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.resume {
            None => {
                let resolved = self.plan.resolve()?;
                let predicted = |drive: &String| prediction::plan_of(&self.plan, &resolved, drive);
                let prediction = self.predict.as_ref().map(predicted).transpose()?;
                self.running.run(resolved, prediction)
            }
            Some(_)
                if self.running.verify
                    || self.predict.is_some()
                    || self.plan.changes_anything() =>
            {
                Err(UsageError::report(
                    "--resume continues a run as it was planned",
                    "omit the plan and the options that change it",
                ))
            }
            Some(run) => self.running.resume(run, self.share),
        }
    }
}

impl RunArguments {
    /// Runs a plan, and first what predicts it, if something does.
    pub fn run(
        &self,
        resolved: ResolvedPlan,
        prediction: Option<ResolvedPlan>,
    ) -> Result<Exit, Report> {
        let ResolvedPlan { text, schedule } = resolved;
        let schedule = if self.verify { schedule.verified() } else { schedule };
        let schedule = judged_after(&self.results.folder(), &text, schedule);
        let resolved = ResolvedPlan { text, schedule };
        self.conduct(Planned { resolved, prediction, resumed: None })
    }

    fn resume(&self, run: &Path, share: Option<RunShare>) -> Result<Exit, Report> {
        let folder = self.results.find(run);
        match share {
            Some(share) => share::perform(&folder, share, self.run_options()),
            None => self.conduct(resume(&folder)?),
        }
    }

    fn conduct(&self, planned: Planned) -> Result<Exit, Report> {
        // A killed run's filesystems have the UUIDs of this run's if both have the same seed, as by
        // default: mkfs.btrfs refuses a duplicate, and XFS does not mount one.
        if planned.resolved.schedule.is_in(LabKind::Live) {
            restore::before_run()?;
        } else {
            restore::remind();
        }
        // All errors that can be found early are, before a folder is made or a device is touched.
        let mut planned = planned.with_inputs()?;
        let schedule = planned.resolved.schedule.clone();
        let lab = executors::target(&schedule)?.lab();
        executors::check_tweak(&schedule, self.tweak())?;
        if schedule.verify && matches!(lab, LabKind::Directory | LabKind::Live) {
            return Err(UsageError::report(
                format!("--verify reads back from the device, but the {lab} lab does not unmount"),
                "omit it, or choose a lab that makes filesystems: --lab image or virtual",
            ));
        }
        if lab != LabKind::Virtual {
            self.check_wall_clock(lab, planned.prediction.is_some())?;
        }
        let is_divided = self.on.is_some() || self.shares.is_some();
        if self.watch && is_divided && self.on.is_none() {
            return Err(UsageError::report(
                "--watch follows a run while it goes on, but here it only divides or merges",
                "omit it, and make the page at the end: ssdlab report RUN --out PAGE.html",
            ));
        }
        if is_divided {
            elsewhere::check_divided(&schedule, self.wipe.is_some())?;
        } else {
            elsewhere::check_local(&schedule)?;
        }
        if is_divided {
            return self.elsewhere(&schedule, planned);
        }
        let session = |interrupt: &Interrupt| {
            let prediction = planned.prediction.take();
            let session = planned.start(&self.results.folder())?;
            if let Some(prediction) = prediction {
                predict(prediction, session.run.folder(), self.run_options(), interrupt)?;
            }
            Ok(session)
        };
        let (ended, session) = self.on_this_machine(&schedule, session)?;
        self.end(ended, &session)
    }

    /// Shows how a run ended.
    fn end(&self, ended: Ended, session: &Session) -> Result<Exit, Report> {
        let ending = *ended.as_ref().unwrap_or(&Ending::Interrupted);
        let id = session.run.id();
        let mut analysis = advice::analyse(&id, &session.schedule, &session.records, ending);
        analysis.folder = report::beyond_name(session.run.folder());
        prediction::add(&mut analysis, session.run.folder())?;
        if let Some(page) = self.page(session) {
            page.end(&session.schedule, &analysis);
        }
        self.show(session, &analysis);
        Ok(Exit::of_run(ended?, &session.records))
    }

    fn run_options(&self) -> RunOptions<'_> {
        RunOptions {
            wipe: self.wipe.as_deref(),
            kernel: self.kernel.as_deref(),
            jobs: self.jobs.map(usize::from),
            tweak: self.tweak(),
            no_trace: self.no_trace,
            ..RunOptions::default()
        }
    }

    /// The user's own change, if there is one.
    fn tweak(&self) -> Option<Tweak<'_>> {
        let (command, undo) = (self.tweak.as_deref()?, self.undo.as_deref()?);
        Some(Tweak { command, undo })
    }

    /// Refuses options that only guests support, and only a prediction has.
    fn check_wall_clock(&self, lab: LabKind, is_predicted: bool) -> Result<(), Report> {
        if let Some(jobs) = self.jobs.filter(|jobs| *jobs != 1) {
            return Err(UsageError::report(
                format!("--jobs {jobs}: wall-clock trials run one at a time"),
                "parallel trials would disturb each other; omit --jobs",
            ));
        }
        if self.kernel.is_some() && !is_predicted {
            return Err(UsageError::report(
                format!("--kernel is for guests, but the {lab} lab has none"),
                "omit it, or add --lab virtual",
            ));
        }
        Ok(())
    }

    fn on_this_machine(
        &self,
        schedule: &Schedule,
        session: impl FnOnce(&Interrupt) -> Result<Session, Report>,
    ) -> Result<(Ended, Session), Report> {
        // Ends after the journal: until then it would put back what this run leaves.
        let _guard = schedule.is_in(LabKind::Live).then(Guard::start).transpose()?;
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let mut journal = restore::journal()?;
        let act = |mut ready: ReadyExecutor<'_>| {
            let mut session = session(&interrupt)?;
            ready.check_drive(&session.records)?;
            executors::check_same_tweak(&session.records, self.tweak())?;
            announce(schedule, ready.jobs());
            ready.log_to(&session.run.folder().join(REQUEST_LOGS))?;
            let page = self.page(&session);
            Ok((conduct(&mut session, ready.executor(), page.as_ref()), session))
        };
        let done =
            executors::with_executor(schedule, self.run_options(), &mut journal, &interrupt, act)?;
        // Incomplete undoing is reported, but does not replace the measured results.
        let (ended, session) = done;
        let undone = journal.finish().map_err(ConductorError::from);
        Ok((ended.and_then(|ending| undone.map(|()| ending)), session))
    }

    /// Has other machines perform the shares of a run that have something to do, and merges what
    /// they have recorded.
    fn elsewhere(&self, schedule: &Schedule, planned: Planned) -> Result<Exit, Report> {
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        // Otherwise each machine would find these errors itself.
        PreparedWorkload::new(&schedule.workload, &schedule.inputs, schedule.seed, &interrupt)?;
        let count = elsewhere::count(schedule, self.shares, planned.folder())?;
        let division = elsewhere::divide(schedule, count)?;
        let requirements = ShareRequirements::here(schedule, self.kernel.as_deref(), count)?;
        let sbatch = self.on.as_ref().map(|_| Slurm::find()).transpose()?;
        let is_new = planned.folder().is_none();
        let mut session = planned.start(&self.results.folder())?;
        announce(schedule, 1);
        let folder = session.run.folder().canonicalize().into_diagnostic()?;
        requirements.write(&folder)?;
        let program = std::env::current_exe().into_diagnostic()?;
        let command = self.command(&program, &folder);
        let slurm = self.on.as_ref().zip(sbatch).map(|(on, sbatch)| Slurm {
            sbatch,
            partition: on.partition.clone(),
            program,
            command: format!("{command} --share"),
            interrupt: &interrupt,
        });
        let is_by_hand = slurm.is_none();
        let mut executor = RemoteExecutor { division: &division, slurm, open: BTreeSet::new() };
        let page = self.page(&session);
        let ended = conduct(&mut session, &mut executor, page.as_ref());
        if is_by_hand && ended.is_ok() && !executor.open.is_empty() {
            elsewhere::tell_open(&division, &executor.open, &command);
            if is_new {
                return Ok(Exit::Done);
            }
        }
        self.end(ended, &session)
    }

    /// The command that resumes a run in this manner, for sh(1).
    fn command(&self, program: &Path, run: &Path) -> String {
        // Others start it in other folders.
        let path =
            |path: &Path| std::path::absolute(path).unwrap_or_default().display().to_string();
        let mut words = vec![path(program), "run".to_owned(), "--resume".to_owned(), path(run)];
        words.extend(self.jobs.map(|jobs| format!("--jobs={jobs}")));
        words.extend(self.kernel.as_deref().map(|kernel| format!("--kernel={}", path(kernel))));
        words.extend(self.no_trace.then(|| "--no-trace".to_owned()));
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
    }

    /// The page of a run that is watched.
    fn page(&self, session: &Session) -> Option<Page> {
        self.watch.then(|| Page::of(session.run.folder(), &session.plan))
    }

    fn show(&self, session: &Session, analysis: &Analysis) {
        if self.json {
            output::print_json(&AnsweredAnalysis::new(&session.schedule, analysis));
            return;
        }
        let text = if self.verbose { ssdlab_report::text } else { ssdlab_report::screen };
        output::print_coloured(&text(&session.schedule, analysis, output::style()));
        output::tell(&format!("Records: {}", session.run.folder().display()));
    }
}

/// Announces the trials, their estimated time, and the bytes written to the device.
fn announce(schedule: &Schedule, jobs: usize) {
    let trials = schedule.expected_trials();
    let jobs = jobs.min(trials).max(1);
    let least =
        if schedule.repetitions.least < schedule.repetitions.most { "at least " } else { "" };
    let mut says =
        vec![format!("{least}{} in the {} lab", counted(trials, "trial"), schedule.origin())];
    if jobs > 1 {
        says.push(format!("{jobs} at a time"));
    }
    if let Some(estimate) = plan::estimate(schedule) {
        let time = estimate.time / u32::try_from(jobs).unwrap_or(1);
        says.push(format!("about {}", roughly(time)));
        // Simulated drives do not wear out, and a machine's own work is not this run's.
        let is_own = !schedule.is_in(LabKind::Live) || estimate.written_bytes > 0;
        if !schedule.is_in(LabKind::Virtual) && is_own {
            says.push(format!("writing {}", roughly_written(&estimate)));
        }
    }
    output::tell(&says.join(", "));
}

fn conduct(session: &mut Session, executor: &mut dyn Executor, page: Option<&Page>) -> Ended {
    let mut progress = RunProgress::new();
    let id = session.run.id();
    let records = std::mem::take(&mut session.records);
    let mut watching = RunWatcher::new(&mut progress, page, &session.schedule, &id, &records);
    let run_state = RunState::new(&session.schedule, &mut session.run, &mut watching, records);
    let mut conductor = Conductor { run_state, executor };
    let ended = conductor.conduct();
    session.records = std::mem::take(&mut conductor.run_state.records);
    progress.finish();
    ended
}

/// Marks claims made after the plan's first run as exploratory, which is said, and counts the runs
/// that left each open.
fn judged_after(results: &Path, plan: &str, schedule: Schedule) -> Schedule {
    let left_open = sealing::left_open(results, &schedule);
    let schedule = schedule.with_left_open(&left_open);
    let Some((late, first)) = sealing::late(results, plan, &schedule) else { return schedule };
    output::tell(&format!(
        "exploratory, because {first} has results and does not make them: {}; to judge them like \
         the others, give the plan another name and new data",
        late.join(", ")
    ));
    schedule.with_exploratory(&late, &format!("made or changed after {first} had results"))
}

fn resume(folder: &Path) -> Result<Planned, Report> {
    let (run, contents) = RunFolder::append(folder)?;
    for warning in &contents.warnings {
        output::tell(warning);
    }
    let RunContents { plan: text, schedule, records, .. } = contents;
    let resolved = ResolvedPlan { text, schedule };
    Ok(Planned { resolved, prediction: None, resumed: Some((run, records)) })
}

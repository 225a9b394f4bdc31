//! `ssdlab crashtest`: cuts the power while a program runs, and tells what it loses.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_advice as advice;
use ssdlab_conductor::{CutOfRun, Guests, SurvivorChoice, TaskError};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::ptrace;
use ssdlab_operations::cuts::{CutOutcome, DataVerdict};
use ssdlab_plan::{CrashTest, Factor, Overrides, PlanError, Span, WriteErrors};
use ssdlab_report::{CrashExample, CrashReport, CrashRow, crash_screen};
use ssdlab_results::{CrashCause, Ending, Record, TrialStatus};

use super::executors::{self, RunOptions};
use super::exit::{self, Exit, UsageError};
use super::plan_arguments::{self, KernelArgument, ResolvedPlan};
use super::results_folder::ResultsArguments;
use super::run::{self, PerformedRun};
use super::{junit, output, report};

/// The largest number of power cuts on a filesystem.
const MOST_CUTS: i64 = 10_000_000;

/// Arguments of `ssdlab crashtest`.
#[derive(Debug, Args)]
pub struct CrashtestCommand {
    /// The shell command that writes data in the top folder of the filesystem, and prints a line
    /// for all that it acknowledges.
    #[arg(long, value_name = "CMD")]
    run: String,
    /// The shell command that checks them there after a power cut: it reads the lines that had been
    /// printed, and fails if something is lost.
    #[arg(long, value_name = "CMD")]
    check: String,
    /// The filesystems.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "ext4,xfs,btrfs")]
    filesystem: Vec<String>,
    /// The number of power cuts on each filesystem.
    #[arg(long, value_name = "N", default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..=MOST_CUTS))]
    cuts: u32,
    /// The simulated drive: a drive file, or a name from `ssdlab drive list` (default: x25m-g2,
    /// which does what a flush says and has no capacitors).
    #[arg(long, value_name = "NAME|FILE")]
    drive: Option<String>,
    /// The seed of all randomness (default 1).
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The system that the commands run in: a folder, a tar archive, or an image that `podman save`
    /// or `docker save` has written (default: this machine's /usr, /bin, /sbin, /lib* and /etc).
    #[arg(long, value_name = "DIR|TAR")]
    root: Option<PathBuf>,
    /// Add a file or folder of this machine to it, at its own path.
    #[arg(long, value_name = "PATH")]
    add: Vec<PathBuf>,
    /// Have a share of the drive's writes of files' data, or of its flushes, fail: `2 % of writes`.
    /// A program that ignores what fsync returns then acknowledges what is not there.
    #[arg(long, value_name = "SHARE of writes|flushes", value_parser = share_of_requests)]
    write_errors: Option<String>,
    /// Stop after this time; what has been found by then counts.
    #[arg(long, value_name = "TIME")]
    budget: Option<Span>,
    /// Also write the result as `JUnit` XML, a test case for each filesystem.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print the plan, checked, and do not run it.
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    results: ResultsArguments,
    /// Trials to run in parallel (default: as many as processors and memory allow).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    kernel: KernelArgument,
}

impl CrashtestCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let began = Instant::now();
        let resolved = self.resolve()?;
        if self.plan {
            executors::check(&resolved.schedule)?;
            output::print(&resolved.text);
            return Ok(Exit::Done);
        }
        if let Some(file) = &self.junit {
            // It is refused now instead of after the run.
            drop(output::begin(file)?);
        }
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        self.stop_in_time(&interrupt);
        let folder = self.results.folder();
        let options = self.run_options();
        let report = |guests: &mut Guests<'_>, performed: PerformedRun| {
            let found = self.report(guests, &performed, &interrupt);
            Ok((performed, found))
        };
        let (performed, found) = match run::perform(resolved, &folder, options, &interrupt, report)
        {
            Err(error) if self.is_spent(&interrupt) && exit::code(&error) == Exit::Interrupted => {
                self.tell(&self.nothing_tried(), began)?;
                return Ok(Exit::Wrong);
            }
            done => done?,
        };
        self.tell(&found, began)?;
        let is_lost = found.rows.iter().any(|row| row.found.count > 0);
        let has_cuts = found.rows.iter().any(|row| row.found.of > 0);
        Ok(match performed.ended {
            _ if is_lost => Exit::Failed,
            Err(error) => return Err(error.into()),
            Ok(Ending::Interrupted) if self.budget.is_none() => Exit::Interrupted,
            // What was not tried is not known to survive.
            Ok(Ending::Interrupted) if !has_cuts => Exit::Wrong,
            Ok(ending) if !has_cuts || !found.failures.is_empty() => {
                match Exit::of_run(ending, &performed.records) {
                    Exit::Failed => Exit::Wrong,
                    Exit::Done => Exit::Lacking,
                    other => other,
                }
            }
            Ok(_) => Exit::Done,
        })
    }

    fn resolve(&self) -> Result<ResolvedPlan, Report> {
        let here = std::env::current_dir().into_diagnostic()?;
        let named = |path: &PathBuf| {
            let path = here.join(path);
            if path.exists() {
                return Ok(path);
            }
            Err(UsageError::report(
                format!("{} does not exist", path.display()),
                "--root and --add name files and folders of this machine",
            ))
        };
        let drive = self.drive.as_deref();
        let add: Vec<PathBuf> = self.add.iter().map(named).collect::<Result<_, _>>()?;
        let test = CrashTest {
            run: self.run.clone(),
            check: self.check.clone(),
            filesystems: self.filesystem.iter().map(|name| name.trim().to_owned()).collect(),
            cuts: self.cuts,
            drive: drive.map(|drive| ssdlab_plan::level_from(&here, Factor::Drive, drive)),
            root: self.root.as_ref().map(named).transpose()?,
            add: add.into_iter().flat_map(with_target).collect(),
            write_errors: self.write_errors.clone(),
        };
        let overrides = Overrides { seed: self.seed, ..Overrides::default() };
        let resolved =
            plan_arguments::resolve_generated(CrashTest::NAME, test.to_string(), &overrides);
        // Its place in a plan that nobody has written says nothing.
        resolved.map_err(|error| {
            let help = error.help().map(|help| help.to_string());
            match (error.downcast_ref::<PlanError>().map(ToString::to_string), help) {
                (Some(fault), Some(help)) => UsageError::report(fault, help),
                _ => error,
            }
        })
    }

    /// Prints what was found.
    fn tell(&self, found: &CrashReport, began: Instant) -> Result<(), Report> {
        output::print_coloured(&crash_screen(found, output::style()));
        if let Some(file) = &self.junit {
            junit::write(file, found, began.elapsed())?;
        }
        Ok(())
    }

    /// What is known if the budget is spent before a run has begun.
    fn nothing_tried(&self) -> CrashReport {
        let why = "the budget was spent before its first power cut";
        let failures =
            self.filesystem.iter().map(|name| (name.trim().to_owned(), why.to_owned())).collect();
        CrashReport {
            rows: Vec::new(),
            failures,
            example: None,
            has_promised: false,
            limits: Vec::new(),
            run: None,
        }
    }

    /// Whether the budget has ended the run.
    fn is_spent(&self, interrupt: &Interrupt) -> bool {
        self.budget.is_some() && interrupt.is_set()
    }

    fn run_options(&self) -> RunOptions<'_> {
        RunOptions {
            kernel: self.kernel.path(),
            jobs: self.jobs.map(usize::from),
            ..RunOptions::default()
        }
    }

    /// Has the run stop when its budget is spent.
    fn stop_in_time(&self, interrupt: &Interrupt) {
        let Some(budget) = self.budget.map(|budget| Duration::from_nanos(budget.nanos())) else {
            return;
        };
        let interrupt = interrupt.clone();
        thread::spawn(move || {
            thread::sleep(budget);
            interrupt.set();
        });
    }

    /// What was found, with one cut looked into.
    fn report(
        &self,
        guests: &mut Guests<'_>,
        performed: &PerformedRun,
        interrupt: &Interrupt,
    ) -> CrashReport {
        let PerformedRun { schedule, folder, .. } = performed;
        let mut rows = Vec::new();
        let mut failures = Vec::new();
        for treatment in 0..schedule.treatments.len() {
            let filesystem = filesystem_of(performed, treatment);
            let own = records_of(performed, treatment);
            let is_bad = |record: &&&Record| record.status != TrialStatus::Ok;
            if let Some(bad) = own.iter().find(is_bad) {
                let why = bad.reason.clone().unwrap_or_default();
                failures.push((filesystem.clone(), why));
            }
            match advice::crashes(&own) {
                Some(found) => rows.push(CrashRow { filesystem, found }),
                None if own.iter().all(|record| record.status == TrialStatus::Ok) => {
                    failures.push((filesystem, "no cut was made".to_owned()));
                }
                None => {}
            }
        }
        let run = report::beyond_name(folder).unwrap_or_else(|| performed.id.clone());
        let mut limits = Vec::new();
        if self.is_spent(interrupt) {
            limits.push("The budget was spent: fewer cuts were made than asked for.".to_owned());
        }
        if !ptrace::can_fix_addresses() {
            limits.push(
                "This container forbids personality(2): other runs may come to other cuts."
                    .to_owned(),
            );
        }
        let mut example = example(performed, &run);
        if let Some((example, record, outcome)) = example.as_mut().filter(|_| !interrupt.is_set()) {
            output::tell(&format!(
                "Looking for what is missing at a cut on {}",
                example.filesystem
            ));
            match cause(guests, performed, record, outcome) {
                Ok(cause) => example.cause = Some(cause),
                Err(error) => {
                    limits.push(format!("What is missing could not be looked for: {error}."));
                }
            }
        }
        let example = example.map(|(example, ..)| example);
        let has_promised = guests.have_heard_lines();
        CrashReport { rows, failures, example, has_promised, limits, run: Some(run) }
    }
}

/// Which requests fail, as a plan says it.
fn share_of_requests(text: &str) -> Result<String, String> {
    text.parse::<WriteErrors>().map(|_| text.to_owned())
}

/// A path, and what it leads to if it is a link.
fn with_target(path: PathBuf) -> Vec<PathBuf> {
    let target = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
    [Some(path), target].into_iter().flatten().collect()
}

fn filesystem_of(performed: &PerformedRun, treatment: usize) -> String {
    let levels = &performed.schedule.treatments[treatment].levels;
    levels.0.get(&Factor::Filesystem).cloned().unwrap_or_default()
}

fn records_of(performed: &PerformedRun, treatment: usize) -> Vec<&Record> {
    performed.records.iter().filter(|record| record.trial.treatment == treatment).collect()
}

/// The first cut of the first trial with a finding, its record and its outcome.
fn example<'a>(
    performed: &'a PerformedRun,
    run: &str,
) -> Option<(CrashExample, &'a Record, &'a CutOutcome)> {
    let has_any = |outcome: &&CutOutcome| outcome.worst().is_some();
    let first = |record: &'a Record| Some((record, record.cuts.iter().find(has_any)?));
    // Not in the order in which they have ended.
    let found = performed.records.iter().filter_map(first);
    let (record, outcome) = found.min_by_key(|(record, _)| record.trial.position)?;
    let quoted = shlex::try_quote(run).unwrap_or_default();
    let CutOutcome { cut, survivor, .. } = outcome;
    let position = record.trial.position;
    let which = if *survivor > 0 { format!(" --survivor {survivor}") } else { String::new() };
    let command = format!("ssdlab cut {quoted} --trial {position} --cut {cut}{which}");
    let filesystem = filesystem_of(performed, record.trial.treatment);
    let says = says(outcome);
    Some((CrashExample { filesystem, says, command, cause: None }, record, outcome))
}

/// Why a cut has a finding.
fn cause(
    guests: &mut Guests<'_>,
    performed: &PerformedRun,
    record: &Record,
    outcome: &CutOutcome,
) -> Result<CrashCause, TaskError> {
    let PerformedRun { id, schedule, .. } = performed;
    let own = records_of(performed, record.trial.treatment);
    let share = advice::crashes(&own).map_or(0.0, |found| found.interval[0]);
    let survives = SurvivorChoice::AsRecorded;
    let cut = CutOfRun { run: id, schedule, record, outcome, survives };
    guests.explain(&cut, share)
}

/// What was found after a cut, in the words of whoever found it.
fn says(outcome: &CutOutcome) -> String {
    if let Some(DataVerdict::Rejected(said)) = &outcome.data {
        // How it ended, and its last lines: the last one has the reason.
        let last = said.rsplit("; ").next().unwrap_or(said);
        let reason = last.split_once(": ").filter(|(how, _)| how.starts_with("ended with "));
        return reason.map_or(last, |(_, reason)| reason).to_owned();
    }
    let other = outcome.unmountable.as_ref().or(outcome.amiss.as_ref());
    other.cloned().unwrap_or_else(|| outcome.worst().map_or(String::new(), |of| of.to_string()))
}

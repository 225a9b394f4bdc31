//! `ssdlab node`: runs one element of a submitted array on its node.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::{Conductor, Desk, Presence, Submission};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::sync::sync_folder;
use ssdlab_host::undo::Journal;
use ssdlab_host::whole_file;
use ssdlab_lab::LabError;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Schedule, Target};
use ssdlab_results::{self as results, Attempt, AttemptId, logs_of};
use ssdlab_slurm::{JobId, attempt};

use super::cluster;
use super::exit::{Exit, Wrong};
use super::progress::Progress;
use super::stages::{Manner, Ready, with_stage};
use super::{node_drives, output, restore};

/// Arguments of `ssdlab node`.
#[derive(Debug, Args)]
pub struct Node {
    /// The run's folder.
    #[arg(long)]
    run: PathBuf,
    /// The name of the submission.
    #[arg(long)]
    submission: String,
}

impl Node {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        let (attempt, index) = element()?;
        let submission = Submission::read(&self.run, &self.submission).map_err(|error| {
            Wrong::report(
                error.to_string(),
                "nodes must see the results folder at the same path, as it was written \
                 (docs/fleet.md)",
            )
        })?;
        let Some(trials) = submission.elements.get(index) else {
            return Err(Wrong::report(
                format!("{} has no element {index}", self.submission),
                "`ssdlab run --on slurm` submits elements",
            ));
        };
        let (run, attempt, mut schedule) = results::Run::attempt(&self.run, attempt)?;
        schedule.trials.clone_from(trials);
        let found = cluster::expected(&schedule)?;
        if let Some(differs) = submission.expected.differs_from(&found) {
            let reason = format!("{} differs from the submitting machine: {differs}", attempt.node);
            return Err(LabError::Unavailable { reason }.into());
        }
        let needed = trials.first().map(|first| schedule.needed_drive(first.treatment));
        let wipe = match (&mut schedule.target, needed) {
            (Some(Target::Device { path }), Some(needed)) => {
                let drive = node_drives::find(needed.as_deref())?;
                *path = Some(drive.path());
                Some(drive.id)
            }
            _ => None,
        };
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let mut journal = restore::journal()?;
        let presence = Presence::enter(&self.run, &attempt, &self.submission, &journal);
        let presence = presence.into_diagnostic()?;
        // Logs are written locally while a trial runs, not over the network.
        let logs = journal.private_folder().join(format!("ssdlab-{}-requests", journal.marker()));
        journal.make_folder(&logs).into_diagnostic()?;
        let manner = Manner {
            wipe: wipe.as_deref(),
            most_jobs: processors(),
            no_trace: submission.no_trace,
            ..Manner::default()
        };
        let ended = perform(run, &schedule, trials, manner, &logs, &mut journal, &interrupt);
        let delivered = deliver(&logs, &logs_of(&self.run, attempt.id));
        journal.finish()?;
        presence.leave().into_diagnostic()?;
        if let Err(error) = delivered {
            output::tell(&format!("the request logs are lost: {error}"));
        }
        ended
    }
}

fn perform(
    mut run: results::Run,
    schedule: &Schedule,
    trials: &[Trial],
    manner: Manner<'_>,
    logs: &Path,
    journal: &mut Journal,
    interrupt: &Interrupt,
) -> Result<Exit, Report> {
    let mut progress = Progress::new();
    with_stage(schedule, manner, journal, interrupt, |mut ready: Ready<'_>| {
        ready.log_to(logs)?;
        let desk = Desk::new(schedule, &mut run, &mut progress, Vec::new()).patient(interrupt);
        let mut conductor = Conductor { desk, stage: ready.stage() };
        let done = conductor.conduct_only(trials)?;
        Ok(if done { Exit::Done } else { Exit::Interrupted })
    })
}

/// The current attempt, and the index of its element in the array.
fn element() -> Result<(Attempt, usize), Report> {
    let of = |name: &str| env::var(name).ok();
    let said = || {
        let job = JobId::read(&of("SLURM_ARRAY_JOB_ID")?)?;
        let index = of("SLURM_ARRAY_TASK_ID")?.parse().ok()?;
        let id = AttemptId::read(&attempt(job, index))?;
        Some((Attempt { id, node: of("SLURMD_NODENAME")? }, index))
    };
    said().ok_or_else(|| {
        Wrong::report("this is not a Slurm array task", "run ssdlab run PLAN --on slurm")
    })
}

/// The number of processors that Slurm has allocated.
fn processors() -> Option<usize> {
    env::var("SLURM_CPUS_ON_NODE").ok()?.parse().ok()
}

/// Copies the request logs to the run's folder, and syncs them there.
fn deliver(logs: &Path, to: &Path) -> io::Result<()> {
    let entries: Vec<_> = fs::read_dir(logs)?.collect::<Result<_, _>>()?;
    if entries.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in entries {
        // A log that is there counts as delivered.
        let mut log = File::open(entry.path())?;
        let to = to.join(entry.file_name());
        whole_file::write(&to, |out| io::copy(&mut log, out).map(drop))?;
    }
    sync_folder(to.parent().unwrap_or(to))
}

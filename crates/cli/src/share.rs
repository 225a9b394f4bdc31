//! `ssdlab run --share`: performs one share of a run, for a batch scheduler or by hand. Its records
//! go to a file of their own in the run's folder.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::{Conductor, Division, OwnShare, RunShare, RunState};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::machine::Machine;
use ssdlab_host::whole_file;
use ssdlab_plan::Schedule;
use ssdlab_results::{Attempt, AttemptId, Ending, REQUEST_LOGS, RunFolder};

use super::executors::{ReadyExecutor, RunOptions, with_executor};
use super::exit::Exit;
use super::node_drives::{self, PermittedDrive};
use super::progress::RunProgress;
use super::{elsewhere, output, restore};

/// Performs a share of a run.
pub fn perform(
    folder: &Path,
    share: RunShare,
    run_options: RunOptions<'_>,
) -> Result<Exit, Report> {
    restore::remind();
    // Slurm's name of the node: a machine may have several.
    let node = std::env::var("SLURMD_NODENAME").unwrap_or_else(|_| Machine::this().host);
    let attempt = Attempt { id: AttemptId::of_share(share.number, share.count), node };
    let (mut run, contents) = RunFolder::attempt(folder, attempt)?;
    for warning in &contents.warnings {
        output::tell(warning);
    }
    let mut schedule = contents.schedule;
    elsewhere::ShareRequirements::check(folder, &schedule, run_options.kernel)?;
    let division = elsewhere::divide(&schedule, share.count)?;
    let drive = permitted_drive(&schedule, &division, share.number)?;
    if let Some(drive) = &drive {
        schedule = schedule.on_device(drive.path());
    }
    let wipe = drive.as_ref().map(|drive| drive.id.as_str()).or(run_options.wipe);
    let interrupt = Interrupt::on_signals().into_diagnostic()?;
    let mut journal = restore::journal()?;
    // Logs are written here while a trial runs, not over the network.
    let logs = journal.private_folder().join(format!("ssdlab-{}-requests", journal.marker()));
    journal.make_folder(&logs).into_diagnostic()?;
    let run_options = RunOptions { wipe, ..run_options };
    let earlier = contents.records.len();
    let mut progress = RunProgress::new();
    let act = |mut ready: ReadyExecutor<'_>| {
        ready.log_to(&logs)?;
        let run_state = RunState::new(&schedule, &mut run, &mut progress, contents.records);
        let mut own =
            OwnShare { executor: ready.executor(), division: &division, number: share.number };
        let mut conductor = Conductor { run_state, executor: &mut own };
        conductor.conduct()?;
        Ok(conductor.run_state.records.split_off(earlier))
    };
    let records = with_executor(&schedule, run_options, &mut journal, &interrupt, act);
    progress.finish();
    let delivered = deliver(&logs, &folder.join(REQUEST_LOGS));
    journal.finish()?;
    if let Err(error) = delivered {
        output::tell(&format!("the request logs are lost: {error}"));
    }
    // What the run needs beyond the share is up to others.
    let ending = if interrupt.is_set() { Ending::Interrupted } else { Ending::AllBlocks };
    Ok(Exit::of_run(ending, &records?))
}

/// The drive of this machine that a share in the device lab may wipe, if the run names none.
fn permitted_drive(
    schedule: &Schedule,
    division: &Division,
    number: u32,
) -> Result<Option<PermittedDrive>, Report> {
    if !schedule.is_without_device() {
        return Ok(None);
    }
    let first = schedule.trials.iter().find(|trial| division.share_of(trial) == number);
    let kind = first.and_then(|first| schedule.needed_drive(first.treatment));
    node_drives::find(kind.as_deref()).map(Some)
}

/// Copies the logs of trials to the run's folder. One that is there counts as delivered.
fn deliver(logs: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(logs)? {
        let entry = entry?;
        fs::create_dir_all(to)?;
        let to = to.join(entry.file_name());
        if !to.exists() {
            let mut log = File::open(entry.path())?;
            whole_file::write(&to, |out| io::copy(&mut log, out).map(drop))?;
        }
    }
    Ok(())
}

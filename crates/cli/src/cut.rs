//! `ssdlab cut`: repeats one power cut of a run, and shows what it left, or shrinks it; or cuts the
//! power of a device that was logged elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use miette::{IntoDiagnostic, Report};
use serde::Serialize;
use ssdlab_conductor::{CutOfRun, Guests, SurvivorChoice};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::Schedule;
use ssdlab_report::{self as text, Style};
use ssdlab_results::{Record, RunContents};

use super::cut_device::{CutDeviceArguments, CutOptions};
use super::cut_files::{CutFiles, CutFilesArguments};
use super::executors::{self, RunOptions};
use super::exit::{Exit, UsageError};
use super::plan_arguments::KernelArgument;
use super::results_folder::ResultsArguments;
use super::{output, report};
use shrunk::shrunk;

mod shrunk;

/// Arguments of `ssdlab cut`.
#[derive(Debug, Args)]
pub struct CutCommand {
    /// The run's name or folder (virtual lab, with `[cuts]` in its plan).
    #[arg(required_unless_present = "device_log")]
    run: Option<PathBuf>,
    /// The trial's place in the run, from 0.
    #[arg(long, value_name = "N", required_unless_present = "device_log")]
    trial: Option<u32>,
    /// The cut in the trial or of the device, from 0.
    #[arg(long = "cut", value_name = "N", required_unless_present = "device_log")]
    number: Option<u32>,
    /// Which of the states that the cut may leave, from 0.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "number")]
    survivor: u32,
    /// Lose what was at risk of these requests, by their numbers in --log, and nothing else.
    #[arg(long, value_name = "none|N,...")]
    lose: Option<LostEvents>,
    /// Find the smallest workload in which some power cut has the same finding, as a run of its
    /// own, and the fewest requests that must be lost.
    #[arg(long, conflicts_with = "lose")]
    shrink: bool,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    device: CutDeviceArguments,
    #[command(flatten)]
    wanted: CutFilesArguments,
    #[command(flatten)]
    kernel: KernelArgument,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Requests that are lost.
#[derive(Debug, Clone)]
struct LostEvents(BTreeSet<usize>);

impl FromStr for LostEvents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(BTreeSet::new()));
        }
        let number = |number: &str| {
            let told =
                |_| format!("`{number}` is not the number of a request; write 12,15 or none");
            number.trim().parse().map_err(told)
        };
        text.split(',').map(number).collect::<Result<_, _>>().map(Self)
    }
}

/// A cut of a run, as it is named.
struct Named<'a> {
    run: &'a Path,
    trial: u32,
    number: u32,
    survivor: u32,
}

impl CutCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let files = self.wanted.begin()?;
        match (&self.run, self.trial, self.number) {
            (Some(run), Some(trial), Some(number)) => {
                let cut = Named { run, trial, number, survivor: self.survivor };
                self.of_run(&cut, files)
            }
            _ => self.device.run(CutOptions {
                only: self.number.map(|number| (number, self.survivor)),
                files,
                kernel: self.kernel.path(),
                json: self.json,
            }),
        }
    }

    /// Repeats a cut of a run, or shrinks it.
    fn of_run(&self, cut: &Named<'_>, files: CutFiles<'_>) -> Result<Exit, Report> {
        let folder = self.results.find_or_last(Some(cut.run))?;
        let (run, contents) = report::read(&folder)?;
        let RunContents { schedule, records, .. } = contents;
        let (record, outcome) = cut.recorded(&schedule, &records)?;
        let lost = self.lose.as_ref();
        let survives = lost
            .map_or(SurvivorChoice::AsRecorded, |LostEvents(lost)| SurvivorChoice::AllBut(lost));
        let cut = CutOfRun { run: &run, schedule: &schedule, record, outcome, survives };
        let (agrees, remains) = if self.shrink {
            let beside = folder.parent().unwrap_or(&folder);
            let (shrink, remains) =
                self.on_stage(&schedule, &files, |guests| shrunk(guests, &cut, beside))?;
            self.print(&shrink, text::shrink);
            (shrink.repeat.agrees, remains)
        } else {
            let (repeat, remains) =
                self.on_stage(&schedule, &files, |guests| Ok(guests.repeat(&cut)?))?;
            self.print(&repeat, text::repeat);
            (repeat.agrees, remains)
        };
        files.keep(&remains)?;
        Ok(if agrees { Exit::Done } else { Exit::Failed })
    }

    fn print<T: Serialize>(&self, value: &T, shown: fn(&T, Style) -> String) {
        if self.json {
            output::print_json(value);
        } else {
            output::print(&shown(value, output::style()));
        }
    }

    fn on_stage<T>(
        &self,
        schedule: &Schedule,
        files: &CutFiles<'_>,
        act: impl FnOnce(&mut Guests<'_>) -> Result<T, Report>,
    ) -> Result<T, Report> {
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let run_options =
            RunOptions { kernel: self.kernel.path(), jobs: Some(1), ..RunOptions::default() };
        executors::in_guests(schedule, run_options, &interrupt, |mut guests| {
            files.ask(&mut guests);
            act(&mut guests)
        })
    }
}

impl Named<'_> {
    /// The run's record of the cut, and of its trial.
    fn recorded<'a>(
        &self,
        schedule: &Schedule,
        records: &'a [Record],
    ) -> Result<(&'a Record, &'a CutOutcome), Report> {
        let run = self.run.display();
        if schedule.cuts.is_none() {
            return Err(UsageError::report(
                format!("{run} has no power cuts"),
                "name a run of a plan with [cuts]; docs/power-cuts.md has an example",
            ));
        }
        let of_trial = |record: &&Record| record.trial.position == self.trial;
        let is_cut = |record: &&Record| !record.cuts.is_empty();
        let Some(record) = records.iter().find(of_trial) else {
            let cut_off = records.iter().filter(is_cut).map(|record| record.trial.position);
            return Err(UsageError::report(
                format!("{run} has no record of trial {}", self.trial),
                format!("trials with power cuts: {}", ranges(cut_off.collect())),
            ));
        };
        let is_it = |cut: &&CutOutcome| (cut.cut, cut.survivor) == (self.number, self.survivor);
        let Some(outcome) = record.cuts.iter().find(is_it) else {
            let Some(last) = record.cuts.last() else {
                let reason = record.reason.as_deref().unwrap_or("it made none");
                return Err(UsageError::report(
                    format!("trial {} of {run} has no power cuts: {reason}", self.trial),
                    "name another trial",
                ));
            };
            return Err(UsageError::report(
                format!(
                    "trial {} of {run} has no cut {}, survivor {}",
                    self.trial, self.number, self.survivor
                ),
                format!(
                    "its cuts are 0 to {}, each with survivors 0 to {}",
                    last.cut, last.survivor
                ),
            ));
        };
        Ok((record, outcome))
    }
}

/// Numbers in ascending order, consecutive ones as ranges.
fn ranges(mut numbers: Vec<u32>) -> String {
    numbers.sort_unstable();
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{first} to {last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests;

//! `ssdlab history`: all runs of a results folder. There is no index: the run folders are
//! authoritative, and a thousand of them are read in about a second (`make bench`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::Args;
use miette::Report as Error;
use rayon::prelude::*;
use ssdlab_advice::{self as advice, Outline, Verdict};
use ssdlab_report::{self as report, HISTORY_SCHEMA, PastRun};
use ssdlab_results::{RunContents, RunFolder, is_run};

use super::exit::{Exit, UsageError};
use super::output;
use super::results_folder::ResultsArguments;

/// Arguments of `ssdlab history`.
#[derive(Debug, Args)]
pub struct HistoryCommand {
    /// Only runs of this plan.
    #[arg(long, value_name = "NAME")]
    plan: Option<String>,
    /// Only runs on this drive, given by part of its name, model or path.
    #[arg(long, value_name = "DRIVE")]
    drive: Option<String>,
    /// Only runs in which some claim has this verdict.
    #[arg(long)]
    verdict: Option<Verdict>,
    /// Only runs in this lab.
    #[arg(long, value_parser = ["virtual", "image", "device", "directory", "imported"])]
    lab: Option<String>,
    #[command(flatten)]
    results: ResultsArguments,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl HistoryCommand {
    pub fn run(&self) -> Result<Exit, Error> {
        let folder = self.results.folder();
        let (folders, foreign) = match look(&folder) {
            // Before the first run there is no folder; one named on the command line must exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.results.is_named() => {
                (Vec::new(), 0)
            }
            other => other.map_err(|error| {
                let help = "name a folder that `ssdlab run --results` has written to";
                UsageError::report(format!("cannot read {}: {error}", folder.display()), help)
            })?,
        };
        let mut runs: Vec<PastRun> = folders.par_iter().map(|folder| past(folder)).collect();
        runs.retain(|run| self.wants(run));
        runs.sort_by(|a, b| (a.started_s, &a.run).cmp(&(b.started_s, &b.run)));
        if foreign > 0 {
            output::tell(&format!("{}: {foreign} entries are not runs", folder.display()));
        }
        if self.json {
            output::print_json(&report::History { schema: HISTORY_SCHEMA, runs });
        } else if runs.is_empty() {
            let says = if folders.is_empty() {
                "no runs yet; `ssdlab run discard` makes one"
            } else {
                "no run matches"
            };
            output::tell(&format!("{}: {says}", folder.display()));
        } else {
            output::print(&report::history(&runs, output::style()));
        }
        Ok(Exit::Done)
    }

    fn wants(&self, run: &PastRun) -> bool {
        let is_filtered = self.plan.is_some()
            || self.drive.is_some()
            || self.verdict.is_some()
            || self.lab.is_some();
        // An unreadable run may match no filter, so only an unfiltered list shows it.
        let Some(outline) = &run.outline else { return !is_filtered };
        let on = |drive: &String| outline.drives.iter().any(|own| own.contains(drive));
        self.plan.as_ref().is_none_or(|plan| outline.plan == *plan)
            && self.drive.as_ref().is_none_or(on)
            && self.verdict.is_none_or(|verdict| outline.claims(verdict) > 0)
            && self.lab.as_ref().is_none_or(|lab| outline.lab.to_string() == *lab)
    }
}

/// The folders of runs, and the number of other entries.
fn look(results: &Path) -> io::Result<(Vec<PathBuf>, usize)> {
    let mut folders = Vec::new();
    let mut foreign = 0;
    for entry in fs::read_dir(results)? {
        let path = entry?.path();
        if is_run(&path) {
            folders.push(path);
        } else {
            foreign += 1;
        }
    }
    Ok((folders, foreign))
}

fn past(folder: &Path) -> PastRun {
    let run = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let outlined = RunFolder::read(folder).map(|contents| outlined(&contents));
    match outlined {
        Ok((Some(started_s), outline)) => {
            PastRun { run, started_s, outline: Some(outline), problem: None }
        }
        Ok((None, outline)) => {
            PastRun { run, started_s: made_s(folder), outline: Some(outline), problem: None }
        }
        Err(error) => {
            let problem = Some(error.to_string());
            PastRun { run, started_s: made_s(folder), outline: None, problem }
        }
    }
}

fn outlined(contents: &RunContents) -> (Option<u64>, Outline) {
    // An import may lack the time.
    let started_s =
        contents.records.iter().map(|record| record.started_s).filter(|at| *at > 0).min();
    (started_s, advice::outline(&contents.schedule, &contents.records, contents.ending))
}

/// When a run's schedule was written, in seconds since 1970.
fn made_s(folder: &Path) -> u64 {
    let written = fs::metadata(folder.join("schedule.json")).and_then(|meta| meta.modified());
    let since = written.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

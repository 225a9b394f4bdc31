//! `ssdlab trace`: summarises the requests of a run or of a block trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::Report as Error;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_conductor as conductor;
use ssdlab_plan::{LabKind, Schedule};
use ssdlab_report::{self as report, Chart, TracedTrial};
use ssdlab_results::{self as results, Executed, REQUEST_LOGS, Record, RunContents};
use ssdlab_trace::{ClampedTimes, Request, Tally, TraceError, TraceSummary, TraceTimeline};

use super::exit::{Exit, UsageError};
use super::report::read;
use super::results_folder::ResultsArguments;
use super::trace_files::{self, TraceArguments};
use super::{charts, output};

/// Arguments of `ssdlab trace`.
#[derive(Debug, Args)]
pub struct TraceCommand {
    /// The run's name or folder; or a block trace, with all its files.
    #[arg(id = "trace", value_name = "RUN|FILE", required = true)]
    named: Vec<PathBuf>,
    /// Only this trial of a run, by its position from 0.
    #[arg(long, value_name = "N")]
    trial: Option<u32>,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    reading: TraceArguments,
    /// Also plot requests by position and time, as SVG and PNG in a folder: one chart per trial.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    /// Show instead the functions of the lab kernel that executed the most basic blocks in each
    /// phase: a profile that is the same on every machine.
    #[arg(long, conflicts_with = "charts")]
    functions: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The `--json` output.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Printed")]
pub enum TraceOutput<'a> {
    /// Of a run.
    Run {
        /// Its name.
        run: &'a str,
        /// Its trials that have a log, in order.
        trials: &'a [TracedTrial],
    },
    /// Of a run, with `--functions`.
    Functions {
        /// Its name.
        run: &'a str,
        /// What was executed in its trials' phases, by the trial's position.
        executed: &'a BTreeMap<u32, Vec<Executed>>,
    },
    /// Of a block trace.
    Files {
        /// The files.
        trace: &'a str,
        /// The summary of their requests.
        summary: &'a TraceSummary,
        /// The times that went backwards.
        clamped: ClampedTimes,
        /// Where and how they are truncated, if they are.
        cut_off: Option<&'a str>,
    },
}

struct TraceContents {
    summary: TraceSummary,
    /// The times that went backwards.
    clamped: ClampedTimes,
    /// Where and how the trace is truncated, if it is.
    cut_off: Option<String>,
    /// The data of a chart, if one is requested.
    timeline: Option<TraceTimeline>,
}

impl TraceCommand {
    pub fn run(&self) -> Result<Exit, Error> {
        match &self.named[..] {
            [run] if run.is_dir() || !run.exists() => self.of_run(run),
            files => self.of_files(files),
        }
    }

    fn of_files(&self, files: &[PathBuf]) -> Result<Exit, Error> {
        if self.trial.is_some() {
            let says = "--trial selects a trial of a run, but this is a file";
            return Err(UsageError::report(says, "omit --trial, or name a run"));
        }
        let name = trace_files::names(files);
        let TraceContents { summary, clamped, cut_off, timeline } = self.look(files)?;
        if let Some(folder) = &self.charts {
            let chart =
                timeline.map(|timeline| report::trace_chart("trace", &name, &summary, &timeline));
            charts::save(chart.as_slice(), folder)?;
        }
        if self.json {
            output::print_json(&TraceOutput::Files {
                trace: &name,
                summary: &summary,
                clamped,
                cut_off: cut_off.as_deref(),
            });
        } else {
            output::print(&report::trace(&name, &summary, None, output::style()));
        }
        Ok(Exit::Done)
    }

    fn of_run(&self, named: &Path) -> Result<Exit, Error> {
        let folder = self.results.find_or_last(Some(named))?;
        let (run, RunContents { schedule, records, .. }) = read(&folder)?;
        let logged = self.logged(&run, &folder, &records)?;
        if self.functions {
            return self.of_functions(&run, &folder, &schedule, &logged);
        }
        let looked: Vec<Result<(TracedTrial, Option<Chart>), Error>> =
            logged.par_iter().map(|(record, log)| self.of_trial(&schedule, record, log)).collect();
        let (mut trials, mut drawn) = (Vec::new(), Vec::new());
        for looked in looked {
            match looked {
                Ok((traced, chart)) => {
                    trials.push(traced);
                    drawn.extend(chart);
                }
                // The logs of other trials are unaffected.
                Err(error) if logged.len() > 1 => output::tell(&error.to_string()),
                Err(error) => return Err(error),
            }
        }
        if let Some(folder) = &self.charts {
            charts::save(&drawn, folder)?;
        }
        if self.json {
            output::print_json(&TraceOutput::Run { run: &run, trials: &trials });
        } else if let [traced] = &trials[..] {
            let name = format!("{run}, {}", traced.name());
            let merged = traced.merged_writes;
            output::print(&report::trace(&name, &traced.summary, merged, output::style()));
        } else {
            output::print(&report::traces(&trials, output::style()));
        }
        Ok(if trials.len() == logged.len() { Exit::Done } else { Exit::Failed })
    }

    fn of_functions(
        &self,
        run: &str,
        folder: &Path,
        schedule: &Schedule,
        logged: &[(&Record, PathBuf)],
    ) -> Result<Exit, Error> {
        let logs = folder.join(REQUEST_LOGS);
        let (mut executed, mut unread) = (BTreeMap::new(), Vec::new());
        for (record, _) in logged {
            let path = conductor::functions_of(&logs, record.trial);
            match conductor::executed(&path) {
                Ok(phases) => {
                    executed.insert(record.trial.position, phases);
                }
                Err(error) => unread.push(format!("{} cannot be read: {error}", path.display())),
            }
        }
        match unread.first() {
            Some(says) if executed.is_empty() => {
                let help = if schedule.is_in(LabKind::Virtual) {
                    "a guest that failed has counted nothing: choose another trial"
                } else {
                    "only the virtual lab counts what its kernel executes: run it there again"
                };
                return Err(UsageError::report(says, help));
            }
            // A guest that died has counted nothing; other trials are unaffected.
            _ => unread.iter().for_each(|says| output::tell(says)),
        }
        let exit = if unread.is_empty() { Exit::Done } else { Exit::Failed };
        if self.json {
            output::print_json(&TraceOutput::Functions { run, executed: &executed });
            return Ok(exit);
        }
        for (record, _) in logged {
            let Some(phases) = executed.get(&record.trial.position) else { continue };
            let levels = schedule.distinct(&record.levels);
            output::print(&format!("{}\n", report::trial_name(record.trial.position, &levels)));
            for Executed { phase, functions } in phases {
                output::print(&report::functions(phase, functions, output::style()));
            }
        }
        Ok(exit)
    }

    /// The requested trials that have a log, in order.
    fn logged<'a>(
        &self,
        run: &str,
        folder: &Path,
        records: &'a [Record],
    ) -> Result<Vec<(&'a Record, PathBuf)>, Error> {
        let logs = folder.join(REQUEST_LOGS);
        let of = |record: &'a Record| (record, conductor::log_of(&logs, record.trial));
        let mut all: Vec<_> = records.iter().map(of).filter(|(_, log)| log.is_file()).collect();
        // Records are in the order in which trials ended.
        all.sort_by_key(|(record, _)| record.trial.position);
        if all.is_empty() {
            return Err(UsageError::report(
                format!("the run {run} has no request logs"),
                "runs in the virtual, image and device labs keep them unless started with \
                 --no-trace: run the plan again",
            ));
        }
        let Some(trial) = self.trial else { return Ok(all) };
        let known: Vec<u32> = all.iter().map(|(record, _)| record.trial.position).collect();
        let mut chosen = all;
        chosen.retain(|(record, _)| record.trial.position == trial);
        if chosen.is_empty() {
            let ends = [known.first(), known.last()].map(|end| end.copied().unwrap_or(0));
            return Err(UsageError::report(
                format!("the run {run} has no request log of trial {trial}"),
                format!("it has {} logs, from trial {} to {}", known.len(), ends[0], ends[1]),
            ));
        }
        Ok(chosen)
    }

    fn of_trial(
        &self,
        schedule: &Schedule,
        record: &Record,
        log: &Path,
    ) -> Result<(TracedTrial, Option<Chart>), Error> {
        let TraceContents { summary, cut_off, timeline, .. } = self.look(&[log.to_owned()])?;
        let trial = record.trial.position;
        let of_phase = |phase: &results::PhaseRecord| Some(phase.device?.write_merges);
        let merged: Option<Vec<u64>> = record.phases.iter().map(of_phase).collect();
        let merged_writes = merged.filter(|all| !all.is_empty()).map(|all| all.iter().sum());
        let levels = schedule.distinct(&record.levels);
        let traced = TracedTrial { trial, levels, summary, merged_writes, cut_off };
        let id = format!("trace-{trial:04}");
        let chart = timeline
            .map(|timeline| report::trace_chart(&id, &traced.name(), &traced.summary, &timeline));
        Ok((traced, chart))
    }

    /// Reads a trace, twice if a chart is requested. Of a damaged trace, the part before the damage
    /// is used and the rest reported.
    fn look(&self, files: &[PathBuf]) -> Result<TraceContents, Error> {
        let mut tally = Tally::new();
        let mut trace = self.reading.open(files)?;
        let fault = each(&mut trace, |request| tally.add(request));
        let (summary, clamped) = (tally.finish(), trace.clamped());
        let cut_off = match fault {
            None => None,
            Some(error) if summary.requests > 0 && is_damage(&error) => Some(error.to_string()),
            Some(error) => return Err(self.reading.explained(files, &error)),
        };
        if let Some(cut_off) = &cut_off {
            let (files, requests) = (trace_files::names(files), summary.requests);
            output::tell(&format!(
                "{files}: {cut_off}; showing the {requests} requests before that"
            ));
        }
        if let Some(note) = report::clamped(clamped) {
            output::tell(&format!("{}: {note}", trace_files::names(files)));
        }
        let timeline = self.charts.is_some().then(|| self.timeline(files, &summary)).transpose()?;
        Ok(TraceContents { summary, clamped, cut_off, timeline })
    }

    fn timeline(&self, files: &[PathBuf], summary: &TraceSummary) -> Result<TraceTimeline, Error> {
        let mut timeline = TraceTimeline::new(summary);
        // The log of an active run may have grown.
        let known = usize::try_from(summary.requests).unwrap_or(usize::MAX);
        // Errors were reported on the first read.
        each(self.reading.open(files)?.take(known), |request| timeline.add(request));
        timeline.finish();
        Ok(timeline)
    }
}

/// Whether the trace is valid up to the error, and is the requested one.
fn is_damage(error: &TraceError) -> bool {
    matches!(
        error,
        TraceError::Truncated { .. } | TraceError::Malformed { .. } | TraceError::Read { .. }
    )
}

/// Processes each request up to the first error, which it returns.
fn each(
    trace: impl Iterator<Item = Result<Request, TraceError>>,
    mut take: impl FnMut(&Request),
) -> Option<TraceError> {
    for request in trace {
        match request {
            Ok(request) => take(&request),
            Err(error) => return Some(error),
        }
    }
    None
}

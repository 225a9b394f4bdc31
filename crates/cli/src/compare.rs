//! `ssdlab compare`: the same treatments in several runs.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miette::Report as Error;
use ssdlab_advice::{self as advice, Candidate};
use ssdlab_plan::metric::{self, Metric};
use ssdlab_results::RunContents;

use super::exit::{Exit, UsageError};
use super::results_folder::ResultsArguments;
use super::{output, report};

/// Arguments of `ssdlab compare`.
#[derive(Debug, Args)]
pub struct CompareCommand {
    /// The runs' names or folders. The first is the reference.
    #[arg(required = true, num_args = 2..)]
    runs: Vec<PathBuf>,
    /// The metric to compare (default: that of the first run's plan).
    #[arg(long)]
    metric: Option<String>,
    #[command(flatten)]
    results: ResultsArguments,
    /// The output format.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Print the whole comparison as one JSON object (same as `--format json`).
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// An output format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for the terminal.
    Text,
    /// The whole comparison as one JSON object.
    Json,
    /// Tables to paste into an issue.
    Markdown,
}

impl CompareCommand {
    pub fn run(&self) -> Result<Exit, Error> {
        let unknown = |name: &String| {
            UsageError::report(format!("there is no metric `{name}`"), metric::instead_of(name))
        };
        let find = |name: &String| metric::find(name).ok_or_else(|| unknown(name));
        let mut metric = self.metric.as_ref().map(find).transpose()?;
        let folders: Vec<PathBuf> = self.runs.iter().map(|run| self.results.find(run)).collect();
        for (index, folder) in folders.iter().enumerate() {
            if folders[..index].contains(folder) {
                return Err(UsageError::report(
                    format!("{} is named twice", folder.display()),
                    "a run does not differ from itself; name another run",
                ));
            }
        }
        let mut candidates: Vec<Candidate> = Vec::new();
        // One at a time, so that only one run's records are in memory.
        for folder in &folders {
            candidates.push(candidate(folder, &mut metric)?);
        }
        let comparison = advice::compare(&candidates)?;
        let format = if self.json { Format::Json } else { self.format };
        match format {
            Format::Text => {
                output::print(&ssdlab_report::comparison(&comparison, output::style()));
            }
            Format::Markdown => output::print(&ssdlab_report::comparison_markdown(&comparison)),
            Format::Json => output::print_json(&comparison),
        }
        Ok(Exit::Done)
    }
}

/// Reads a run; the first one decides the metric if none is given.
fn candidate(folder: &Path, metric: &mut Option<Metric>) -> Result<Candidate, Error> {
    let (run, RunContents { schedule, records, ending, .. }) = report::read(folder)?;
    let metric = *metric.get_or_insert(schedule.metric);
    Ok(Candidate::new(&run, schedule, &records, ending, metric))
}

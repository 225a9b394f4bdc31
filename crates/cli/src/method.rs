//! `ssdlab method`: checks whether the numbers of a run can be trusted.

use std::path::PathBuf;

use clap::Args;
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{self as advice, ANALYSIS_SCHEMA, Check};
use ssdlab_results::RunContents;

use super::exit::Exit;
use super::results_folder::ResultsArguments;
use super::{output, report};

/// Arguments of `ssdlab method`.
#[derive(Debug, Args)]
pub struct MethodCommand {
    /// The name or folder of the run, your own or imported, or a plan's name for its last run
    /// (default: the last run).
    run: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsArguments,
    /// Print the checks as one JSON object.
    #[arg(long)]
    json: bool,
}

/// The `--json` output.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
pub struct MethodOutput {
    /// The version of this format, shared with the analysis.
    schema: u32,
    /// The run's name.
    run: String,
    /// The checks.
    checks: Vec<Check>,
}

impl MethodCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let (run, contents) = report::read(&self.results.find_or_last(self.run.as_deref())?)?;
        let RunContents { schedule, records, ending, .. } = contents;
        let analysis = advice::analyse(&run, &schedule, records, ending);
        if self.json {
            let checks = analysis.method;
            output::print_json(&MethodOutput { schema: ANALYSIS_SCHEMA, run, checks });
        } else {
            output::print_coloured(&ssdlab_report::method(&run, &analysis.method, output::style()));
        }
        Ok(Exit::Done)
    }
}

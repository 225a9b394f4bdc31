//! `ssdlab report`: a run's results again, from its records, in any form.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miette::Report as Error;

use super::exit::Exit;
use super::{charts, output};
use crate::advice::{self, Analysis};
use crate::report::Style;
use crate::results::{self, Ending, Run};

/// Arguments of `ssdlab report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The run: its name or its folder.
    run: PathBuf,
    /// The folder for results.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// The form of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Print the whole analysis as one JSON object: `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write it to a file, which is replaced when all of it is written.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also save the charts, as SVG and PNG, in a folder.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// What a report can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables and verdicts for the terminal.
    Text,
    /// The whole analysis as one JSON object.
    Json,
}

impl Report {
    /// Runs it.
    pub fn run(&self) -> Result<Exit, Error> {
        let results = self.results.clone().unwrap_or_else(results::default_folder);
        let folder = find(&self.run, &results);
        let contents = Run::read(&folder)?;
        for warning in &contents.warnings {
            output::tell(warning);
        }
        let id = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let ending = contents.ending.unwrap_or(Ending::Interrupted);
        let analysis = advice::analyse(&id, &contents.schedule, &contents.records, ending);
        if let Some(folder) = &self.charts {
            charts::save(&crate::report::charts(&contents.schedule, &analysis), folder)?;
        }
        let format = if self.json { Format::Json } else { self.format };
        let report = match format {
            Format::Text => {
                let style = if self.out.is_some() { Style::default() } else { output::style() };
                crate::report::text(&contents.schedule, &analysis, style)
            }
            Format::Json => json(&analysis),
        };
        match &self.out {
            None => output::print(&report),
            Some(file) => output::save(file, report.as_bytes())?,
        }
        Ok(Exit::Done)
    }
}

/// The folder of a run that is named by path or by name.
pub fn find(named: &Path, results: &Path) -> PathBuf {
    let is_folder = named.join("schedule.json").exists();
    let path = if is_folder { named.to_owned() } else { results.join(named) };
    path.canonicalize().unwrap_or(path)
}

/// The analysis as one JSON object.
pub fn json(analysis: &Analysis) -> String {
    let text = serde_json::to_string_pretty(analysis).expect("an analysis is plain data");
    format!("{text}\n")
}

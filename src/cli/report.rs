//! `ssdlab report`: a run's results again, from its records, in any form.

use std::cell::OnceCell;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miette::Report as Error;

use super::exit::{Exit, Wrong};
use super::{charts, output};
use crate::advice::{self, Analysis};
use crate::export::{self, Samples};
use crate::report::{self, Style};
use crate::results::{self, Contents, Ending, Run};

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
    /// The same to be pasted into an issue.
    Markdown,
    /// The whole analysis as one JSON object.
    Json,
    /// One page with everything, for a browser.
    Html,
    /// Every sample, a row each.
    Csv,
    /// Every sample, typed.
    Parquet,
    /// A spreadsheet: samples, summary, claims and what charts draw.
    Ods,
}

impl Report {
    /// Runs it.
    pub fn run(&self) -> Result<Exit, Error> {
        let format = if self.json { Format::Json } else { self.format };
        let is_binary = matches!(format, Format::Parquet | Format::Ods);
        if is_binary && self.out.is_none() && io::stdout().is_terminal() {
            let says = "this format is nothing for a terminal";
            return Err(Wrong::report(says, "name a file with `--out FILE`, or use a pipe"));
        }
        let results = self.results.clone().unwrap_or_else(results::default_folder);
        let folder = find(&self.run, &results);
        let contents = Run::read(&folder)?;
        for warning in &contents.warnings {
            output::tell(warning);
        }
        let id = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
        let told = Told { id: &id, contents: &contents, analysis: OnceCell::new() };
        if let Some(folder) = &self.charts {
            charts::save(&report::charts(&contents.schedule, told.analysis()), folder)?;
        }
        match &self.out {
            None => output::print_written(|out| told.write(format, output::style(), out)),
            Some(file) => output::save(file, |out| told.write(format, Style::default(), out))?,
        }
        Ok(Exit::Done)
    }
}

/// A run that is reported on. It is analysed if what is asked for takes it, and once.
struct Told<'a> {
    id: &'a str,
    contents: &'a Contents,
    analysis: OnceCell<Analysis>,
}

impl Told<'_> {
    fn analysis(&self) -> &Analysis {
        let Contents { schedule, records, .. } = self.contents;
        let ending = self.contents.ending.unwrap_or(Ending::Interrupted);
        self.analysis.get_or_init(|| advice::analyse(self.id, schedule, records, ending))
    }

    fn write(&self, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let Contents { schedule, records, .. } = self.contents;
        let samples = || Samples::new(self.id, schedule, records);
        match format {
            Format::Text => {
                out.write_all(report::text(schedule, self.analysis(), style).as_bytes())
            }
            Format::Markdown => {
                out.write_all(report::markdown(schedule, self.analysis()).as_bytes())
            }
            Format::Json => write_json(self.analysis(), out),
            Format::Html => {
                let page = report::html(schedule, self.analysis(), &self.contents.plan);
                out.write_all(page.as_bytes())
            }
            Format::Csv => export::csv(&samples(), out),
            Format::Parquet => export::parquet(&samples(), out),
            Format::Ods => export::ods(&samples(), schedule, self.analysis(), out),
        }
    }
}

/// The folder of a run that is named by path or by name.
pub fn find(named: &Path, results: &Path) -> PathBuf {
    let is_folder = named.join("schedule.json").exists();
    let path = if is_folder { named.to_owned() } else { results.join(named) };
    path.canonicalize().unwrap_or(path)
}

/// Writes the analysis as one JSON object.
pub fn write_json(analysis: &Analysis, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, analysis)?;
    writeln!(out)
}

//! `ssdlab report`: shows or exports a run's results from its records.

use std::cell::OnceCell;
use std::io::{self, IsTerminal, Write};
use std::mem;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use miette::Report as Error;
use ssdlab_advice::{self as advice, Analysis};
use ssdlab_plan::Schedule;
use ssdlab_report::export::{self as export, Samples};
use ssdlab_report::{self as report, AnsweredAnalysis, ManualAddress, PageOptions, Style};
use ssdlab_results::{self as results, Ending, Record, RunContents, RunFolder};

use super::exit::{Exit, UsageError};
use super::results_folder::ResultsArguments;
use super::{charts, flips, json, output, prediction, restore};

/// Arguments of `ssdlab report`.
#[derive(Debug, Args)]
pub struct ReportCommand {
    /// The run's name or folder, or a plan's name for its last run (default: the last run).
    run: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsArguments,
    /// The format of the report (default: by the extension of `--out`, such as `.html`; else
    /// text).
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Print the whole analysis as one JSON object (same as `--format json`).
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the report to a file, which is replaced once the new one is complete.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show another metric than the plan's in tables and charts (`ssdlab list metrics`), or
    /// several in each table. Claims keep theirs.
    #[arg(long, value_name = "NAME,...")]
    metric: Option<String>,
    #[command(flatten)]
    part: ReportPart,
    /// Link the page of `--format html` to the manual at this address, which may be relative to
    /// the page.
    #[arg(long, value_name = "ADDRESS")]
    manual: Option<ManualAddress>,
    /// Also save the charts, as SVG and PNG, in a folder.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// Which part of the text report to print: the first screen without any of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct ReportPart {
    /// Print why: each claim with its number, what follows, and what limits it.
    #[arg(long)]
    why: bool,
    /// Print the tables and charts.
    #[arg(long)]
    tables: bool,
    /// Print the whole text report: every claim with its evidence, every table, every caveat.
    #[arg(long)]
    verbose: bool,
}

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables and verdicts for the terminal.
    Text,
    /// The same, to paste into an issue.
    Markdown,
    /// The whole analysis as one JSON object.
    Json,
    /// One page with everything, for a browser.
    Html,
    /// Every sample, one per row.
    Csv,
    /// A spreadsheet: samples, summary, claims and chart data.
    Ods,
}

/// The parser of formats. It knows a former one, to say what to do instead.
fn formats() -> impl TypedValueParser<Value = Format> {
    let former = PossibleValue::new("parquet").hide(true);
    let names = Format::value_variants().iter().filter_map(Format::to_possible_value);
    PossibleValuesParser::new(names.chain([former])).try_map(|name| {
        Format::from_str(&name, false).map_err(|_| {
            "ssdlab writes no Parquet: DuckDB, pandas and polars read `--format csv`, and DuckDB \
             makes Parquet of it (docs/exports.md)"
        })
    })
}

impl Format {
    /// The format that a file's extension names.
    fn of_file(file: &Path) -> Option<Self> {
        // A file without an extension, such as /dev/stdout, is text.
        let Some(extension) = file.extension() else { return Some(Self::Text) };
        let extension = extension.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "md" => Some(Self::Markdown),
            "htm" => Some(Self::Html),
            "txt" => Some(Self::Text),
            other => Self::from_str(other, true).ok(),
        }
    }
}

impl ReportCommand {
    pub fn run(&self) -> Result<Exit, Error> {
        let format = self.format()?;
        if format == Format::Ods && self.out.is_none() && io::stdout().is_terminal() {
            let says = "this format is not for terminals";
            return Err(UsageError::report(says, "name a file with `--out FILE`, or use a pipe"));
        }
        if self.manual.is_some() && format != Format::Html {
            let says = "only a page links to the manual";
            return Err(UsageError::report(says, "add `--format html`, or leave out --manual"));
        }
        restore::remind();
        let folder = self.results.find_or_last(self.run.as_deref())?;
        let (id, contents) = read(&folder)?;
        let is_of_samples = matches!(format, Format::Csv | Format::Ods);
        let RunContents { schedule, plan, mut records, ending, .. } = contents;
        let fault = |(message, help): (String, String)| UsageError::report(message, help);
        let schedule = match &self.metric {
            Some(metric) => schedule.showing(metric).map_err(fault)?,
            None => schedule,
        };
        let analysis = if is_of_samples {
            OnceCell::new()
        } else {
            // The records are not needed again, so they are moved.
            let records = mem::take(&mut records);
            let mut analysis = advice::analyse(&id, &schedule, records, ending);
            flips::add(&mut analysis, &folder);
            prediction::add(&mut analysis, &folder)?;
            analysis.folder = beyond_name(&folder);
            OnceCell::from(analysis)
        };
        let (text, manual) = (self.text(), self.manual.as_ref());
        let told = ReportedRun { id: &id, schedule, plan, records, ending, analysis, text, manual };
        if let Some(folder) = &self.charts {
            charts::save(&report::charts(&told.schedule, told.analysis()), folder)?;
        }
        match &self.out {
            None => output::print_written(|out| told.write(format, output::style(), out)),
            Some(file) => output::save(file, |out| told.write(format, Style::default(), out))?,
        }
        Ok(Exit::Done)
    }

    /// The format that was asked for, or else that of the file.
    fn format(&self) -> Result<Format, Error> {
        let asked = if self.json { Some(Format::Json) } else { self.format };
        match (asked, &self.out) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::Text),
            (None, Some(file)) => Format::of_file(file).ok_or_else(|| unknown(file)),
        }
    }

    /// The writer of the report for the terminal.
    fn text(&self) -> Text {
        match self.part {
            ReportPart { verbose: true, .. } => report::text,
            ReportPart { why: true, .. } => report::why,
            ReportPart { tables: true, .. } => report::tables,
            ReportPart { .. } => report::screen,
        }
    }
}

/// Refuses a file whose name promises a format that reports do not have.
fn unknown(file: &Path) -> Error {
    let formats = Format::value_variants().iter().filter_map(Format::to_possible_value);
    let names: Vec<String> = formats.map(|format| format.get_name().to_owned()).collect();
    UsageError::report(
        format!("no report has the format of {}", file.display()),
        format!(
            "name a file that ends in .txt, .md, .html, .json, .csv or .ods, or say --format {}; a \
             browser prints the page as PDF, and DuckDB makes Parquet of CSV",
            names.join("|")
        ),
    )
}

/// What commands call a run, if its name does not lead to its folder.
pub fn beyond_name(folder: &Path) -> Option<String> {
    let is_found_by_name = folder.parent() == Some(&results::default_folder());
    (!is_found_by_name).then(|| folder.to_string_lossy().into_owned())
}

/// A writer of reports for the terminal.
type Text = fn(&Schedule, &Analysis, Style) -> String;

/// A run to report on. It is analysed at most once, and only if the output needs it.
struct ReportedRun<'a> {
    id: &'a str,
    schedule: Schedule,
    plan: String,
    /// The data that samples are exported from.
    records: Vec<Record>,
    ending: Ending,
    analysis: OnceCell<Analysis>,
    text: Text,
    manual: Option<&'a ManualAddress>,
}

impl ReportedRun<'_> {
    fn analysis(&self) -> &Analysis {
        self.analysis
            .get_or_init(|| advice::analyse(self.id, &self.schedule, &self.records, self.ending))
    }

    fn write(&self, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let schedule = &self.schedule;
        let samples = || Samples::new(self.id, schedule, &self.records);
        let text = match format {
            Format::Text => output::coloured(&(self.text)(schedule, self.analysis(), style)),
            Format::Markdown => report::markdown(schedule, self.analysis()),
            Format::Html => {
                let options = PageOptions { manual: self.manual, reload_s: None };
                report::html_with(schedule, self.analysis(), &self.plan, options)
            }
            Format::Json => {
                return json::write(&AnsweredAnalysis::new(schedule, self.analysis()), out);
            }
            Format::Csv => return export::csv(&samples(), out),
            Format::Ods => {
                let analysis = advice::summarise(self.id, schedule, &self.records, self.ending);
                return export::ods(&samples(), schedule, &analysis, out);
            }
        };
        out.write_all(text.as_bytes())
    }
}

/// Reads a run from its folder, reports irregularities, and returns its name.
pub fn read(folder: &Path) -> Result<(String, RunContents), Error> {
    let contents = RunFolder::read(folder)?;
    for warning in &contents.warnings {
        output::tell(warning);
    }
    let id = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok((id, contents))
}

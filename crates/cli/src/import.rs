//! `ssdlab import`: imports the results of other programs as a run.

use std::fs;
use std::io;
use std::path::Path;

use clap::Args;
use miette::Report;
use ssdlab_advice as advice;
use ssdlab_host::{bounded, regular_file};
use ssdlab_plan::Bytes;
use ssdlab_results::import::{self as import, ImportSource, LARGEST_BYTES};
use ssdlab_results::{self as results, Ending};

use super::exit::{Exit, UsageError};
use super::output;
use super::results_folder::ResultsArguments;
use super::run_name::RunName;

/// Arguments of `ssdlab import`.
#[derive(Debug, Args)]
pub struct ImportCommand {
    /// Results of fio, bonnie++, hyperfine or the Phoronix Test Suite, all from the same program;
    /// LABEL=FILE names the treatment, and files with the same label are its trials.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The name of the run (default: the program's name).
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    results: ResultsArguments,
}

impl ImportCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let named: Vec<(Option<&str>, &str)> = self.files.iter().map(|text| named(text)).collect();
        let contents = named.iter().map(|(_, file)| read(file)).collect::<Result<Vec<_>, _>>()?;
        let sources: Vec<ImportSource<'_>> = named
            .iter()
            .zip(&contents)
            .map(|((label, name), contents)| ImportSource { name, label: *label, contents })
            .collect();
        let imported = import::import(self.name.as_deref(), &sources)?;
        let folder = self.results.folder();
        let (schedule, records) = (&imported.schedule, &imported.records);
        let plan = "# Imported: there is no plan. What is known is in schedule.json.\n";
        let id = RunName::now(&schedule.plan).to_string();
        let mut run = results::RunFolder::create(&folder, &id, plan, schedule)?;
        let stored = run.push_all(records).and_then(|()| run.ended(Ending::AllBlocks));
        if let Err(error) = stored {
            // A truncated result would look complete.
            let _ = fs::remove_dir_all(run.folder());
            return Err(error.into());
        }
        let analysis = advice::analyse(&run.id(), schedule, records, Ending::AllBlocks);
        output::print_coloured(&ssdlab_report::text(schedule, &analysis, output::style()));
        output::print(&format!("\nRecords: {}\n", run.folder().display()));
        Ok(Exit::Done)
    }
}

/// A file and the label of its treatment; a file name may contain a `=`.
fn named(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((label, file)) if !label.is_empty() && !Path::new(text).exists() => {
            (Some(label), file)
        }
        _ => (None, text),
    }
}

fn read(file: &str) -> Result<Vec<u8>, Report> {
    let contents = || {
        let opened = regular_file::open(Path::new(file))?;
        let (size, most) = (Bytes(opened.metadata()?.len()), Bytes(LARGEST_BYTES));
        if size > most {
            return Err(io::Error::other(format!(
                "it has {size}, expected {most} at most: result files are not that large"
            )));
        }
        bounded::read(opened, LARGEST_BYTES)
    };
    contents().map_err(|error| {
        UsageError::report(format!("{file}: {error}"), "name a file with results, or LABEL=FILE")
    })
}

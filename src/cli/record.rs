//! `ssdlab record`: what a program does to the files of a directory, as a log to be replayed.

use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_operations::Statistics;

use super::exit::{Exit, Wrong};
use super::output;
use crate::host::interrupt::Interrupt;
use crate::report::value;
use crate::workload::record::{Recorded, record};

/// Arguments of `ssdlab record`.
#[derive(Debug, Args)]
pub struct Record {
    /// The directory whose files count, in which the program is started.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The log, compressed if its name ends in `.gz`; it must lie outside the directory.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    words: Vec<String>,
}

impl Record {
    /// Runs it.
    pub fn run(&self) -> Result<Exit, Report> {
        // A Ctrl-C is the program's; what it did until then is kept.
        let interrupt = Interrupt::on_termination().into_diagnostic()?;
        self.check_place()?;
        // What cannot be kept need not be run.
        File::create(&self.out).map_err(|error| {
            Wrong::report(
                format!("{} cannot be written: {error}", self.out.display()),
                "name another file: --out FILE",
            )
        })?;
        let recorded = record(&self.dir, &self.words, &interrupt)?;
        recorded.save(&self.out)?;
        output::tell(&summary(&recorded, &self.out.display().to_string()));
        if !recorded.status.success() {
            output::tell(&format!("the program itself: {}", recorded.status));
            return Ok(Exit::Failed);
        }
        Ok(Exit::Done)
    }

    /// What is written into the directory would be in the next log.
    fn check_place(&self) -> Result<(), Report> {
        let folder = self.out.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(".".as_ref()).canonicalize();
        let (Ok(folder), Ok(dir)) = (folder, self.dir.canonicalize()) else { return Ok(()) };
        if !folder.starts_with(&dir) {
            return Ok(());
        }
        Err(Wrong::report(
            format!("{} lies in the directory that is recorded", self.out.display()),
            "name a file elsewhere: --out FILE, or another directory: --dir DIR",
        ))
    }
}

/// What was recorded and what was not.
fn summary(recorded: &Recorded, out: &str) -> String {
    let mut statistics = Statistics::default();
    recorded.operations.iter().for_each(|operation| statistics.add(operation));
    let list = |counts: Vec<String>| counts.join(", ");
    let calls = statistics.calls.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let written = value("written_bytes", statistics.written_bytes as f64);
    let says = if recorded.operations.is_empty() {
        format!("{out}: nothing in the directory was used")
    } else {
        format!("{out}: {}; {written} written", list(calls))
    };
    let left: Vec<String> = recorded
        .header
        .left_out
        .iter()
        .map(|(omission, count)| format!("{count} {omission}"))
        .collect();
    if left.is_empty() { says } else { format!("{says}\nnot recorded: {}", list(left)) }
}

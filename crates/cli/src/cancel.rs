//! `ssdlab cancel`: cancels a run's Slurm jobs, and has nodes undo their remaining changes.

use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::{self as conductor, Submission};
use ssdlab_report::counted;
use ssdlab_results::{StoreError, is_run};

use super::exit::{Exit, Wrong, explain};
use super::output;
use super::results_folder::Results;

/// Arguments of `ssdlab cancel`.
#[derive(Debug, Args)]
pub struct Cancel {
    /// The run's name or folder.
    run: PathBuf,
    #[command(flatten)]
    results: Results,
}

impl Cancel {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        let folder = submitted(&self.run, &self.results)?;
        let program = std::env::current_exe().into_diagnostic()?;
        let cancelled = conductor::cancel(&folder, &program)?;
        let elements = counted(cancelled.elements, "element");
        output::print(&format!("{elements} cancelled; finished trials are recorded\n"));
        for node in &cancelled.undone {
            output::print(&format!("{node}: remaining changes undone\n"));
        }
        for (node, says) in &cancelled.failed {
            output::tell(&format!("{node}: not undone, run `ssdlab restore` there: {says}"));
        }
        for says in &cancelled.unasked {
            output::tell(&format!("{says}; run `ssdlab cancel` again when it answers"));
        }
        let is_done = cancelled.failed.is_empty()
            && cancelled.unasked.is_empty()
            && cancelled.unreadable.is_empty();
        for error in cancelled.unreadable {
            explain(&error.into());
        }
        Ok(if is_done { Exit::Done } else { Exit::Failed })
    }
}

/// The folder of a run that was submitted.
pub fn submitted(run: &Path, results: &Results) -> Result<PathBuf, Report> {
    let folder = results.find(run);
    if !is_run(&folder) {
        return Err(StoreError::no_run(&folder, results.folder()).into());
    }
    if Submission::all(&folder).into_diagnostic()?.is_empty() {
        return Err(Wrong::report(
            format!("{} was not submitted to Slurm", run.display()),
            "`ssdlab report RUN` shows the results of any run",
        ));
    }
    folder.canonicalize().into_diagnostic()
}

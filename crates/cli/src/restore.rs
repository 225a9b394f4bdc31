//! `ssdlab restore`: undoes the changes of killed runs.

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_host::kernel;
use ssdlab_host::undo::{self as undo, Journal, Leftovers};
use ssdlab_lab::LabError;
use ssdlab_report::counted;

use super::exit::{Exit, UsageError, explain};
use super::{guard, output};

/// Arguments of `ssdlab restore`.
#[derive(Debug, Args)]
pub struct RestoreCommand {
    /// Wait for the end of the run that starts this: its standard input ends with it.
    #[arg(long, hide = true)]
    guard: bool,
}

/// Undoes the changes of killed runs before a run takes what it finds for the machine's own state.
pub fn before_run() -> Result<(), Report> {
    if leftovers() != Some(Leftovers::Changes) {
        return Ok(());
    }
    output::tell("a killed run has left changes on this machine, which are undone first");
    match (RestoreCommand { guard: false }).run()? {
        Exit::Failed => Err(UsageError::report(
            "a killed run has left changes on this machine that could not be undone",
            "undo them as said above; an experiment would take them for the machine's own settings",
        )),
        _ => Ok(()),
    }
}

/// Says so if a killed run has left changes on this machine, or folders.
pub fn remind() {
    output::tell(match leftovers() {
        None => return,
        Some(Leftovers::Folders) => {
            "a killed run has left temporary folders; `ssdlab restore` removes them"
        }
        Some(Leftovers::Changes) => {
            "a killed run has left changes on this machine; `ssdlab restore` undoes them"
        }
    });
}

fn leftovers() -> Option<Leftovers> {
    undo::folders().iter().filter_map(|folder| undo::leftovers(folder)).max()
}

/// Starts an undo journal.
pub fn journal() -> Result<Journal, Report> {
    if let Some(reason) = kernel::not_mounted() {
        return Err(LabError::Unavailable { reason }.into());
    }
    undo::start().map_err(|error| {
        UsageError::report(
            format!("cannot keep an undo journal: {error}"),
            "ssdlab changes nothing on a machine without one; set XDG_STATE_HOME to a private \
             folder",
        )
    })
}

impl RestoreCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        if self.guard {
            guard::wait_for_parent().into_diagnostic()?;
        }
        let folders = undo::folders();
        let (mut undone, mut failed) = (0, 0);
        for folder in &folders {
            let restored = match undo::restore(folder).into_diagnostic() {
                Ok(restored) => restored,
                // The journal may be in another.
                Err(error) => {
                    explain(&error);
                    failed += 1;
                    continue;
                }
            };
            for path in &restored.alive {
                output::print(&format!("skipped, its run is still active: {}\n", path.display()));
            }
            for (path, host) in &restored.elsewhere {
                output::print(&format!(
                    "skipped, it belongs to another machine, {host}: {path}\n  run `ssdlab \
                     restore` on {host}; if that is a former name of this machine, or no longer \
                     exists, undo the changes that the file lists by hand and remove it\n",
                    path = path.display()
                ));
            }
            undone += restored.undone;
            failed += restored.failed.len();
            for error in restored.failed {
                explain(&error.into());
            }
        }
        let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        output::print(&format!(
            "{} undone, {failed} failed (journals in {})\n",
            counted(undone, "change"),
            folders.join(", ")
        ));
        Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
    }
}

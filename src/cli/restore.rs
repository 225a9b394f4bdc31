//! `ssdlab restore`: undoes what killed runs have left.

use clap::Args;
use miette::{IntoDiagnostic, Report};

use super::exit::{Exit, explain};
use super::output;
use crate::undo;

/// Arguments of `ssdlab restore`.
#[derive(Debug, Args)]
pub struct Restore {}

impl Restore {
    /// Runs it.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "every subcommand runs like this"
    )]
    pub fn run(&self) -> Result<Exit, Report> {
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
                output::print(&format!("left alone, its run is alive: {}\n", path.display()));
            }
            for (path, host) in &restored.elsewhere {
                output::print(&format!(
                    "left alone, it is of another machine, {host}: {path}\n  run `ssdlab restore` \
                     on {host}; if that is an earlier name of this machine, or is gone, take back \
                     what the file lists and remove it\n",
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
            "{undone} changes undone, {failed} could not be (journals in {})\n",
            folders.join(", ")
        ));
        Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
    }
}

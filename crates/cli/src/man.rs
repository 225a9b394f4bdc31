//! `ssdlab man`: the man pages, one per command.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use miette::Result;

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab man`.
#[derive(Debug, Args)]
pub struct Pages {
    /// The folder to write to, usually `PREFIX/share/man/man1`. It is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Pages {
    /// Runs the command, for this command line.
    pub fn run(&self, line: Command) -> Result<Exit> {
        fs::create_dir_all(&self.folder).map_err(output::unwritten(&self.folder))?;
        clap_mangen::generate_to(line.disable_help_subcommand(true), &self.folder)
            .map_err(output::unwritten(&self.folder))?;
        Ok(Exit::Done)
    }
}

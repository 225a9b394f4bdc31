//! `ssdlab man`: the man pages, one per command.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use miette::Result;

use super::exit::Exit;
use super::{help, output};

/// Arguments of `ssdlab man`.
#[derive(Debug, Args)]
pub struct Pages {
    /// The folder to write to, usually `PREFIX/share/man/man1`. It is created if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Pages {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit> {
        fs::create_dir_all(&self.folder).map_err(output::unwritten(&self.folder))?;
        let command = help::command().disable_help_subcommand(true);
        clap_mangen::generate_to(command, &self.folder).map_err(output::unwritten(&self.folder))?;
        Ok(Exit::Done)
    }
}

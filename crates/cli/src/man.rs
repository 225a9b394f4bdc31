//! `ssdlab man`: the man pages, one per command.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
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
    pub fn run(&self, line: Command) -> Result<Exit> {
        fs::create_dir_all(&self.folder).map_err(output::unwritten(&self.folder))?;
        let mut line = line.disable_help_subcommand(true);
        line.build();
        self.write(&line, "").map_err(output::unwritten(&self.folder))?;
        Ok(Exit::Done)
    }

    /// Writes the page of a command, which is below these words, and those of the commands below
    /// it.
    fn write(&self, command: &Command, above: &str) -> io::Result<()> {
        let path = format!("{above} {}", command.get_name());
        for below in command.get_subcommands() {
            self.write(below, &path)?;
        }
        let version = concat!("ssdlab ", env!("CARGO_PKG_VERSION"));
        let man = Man::new(command.clone()).source(version).manual("User Commands");
        let mut page = Vec::new();
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        let path = path.trim_start().strip_prefix("ssdlab ").unwrap_or_default();
        match help::EXAMPLES.iter().find(|(name, _)| *name == path) {
            Some((_, examples)) => page.extend(self::examples(examples).into_bytes()),
            None => page.extend(exit_status().into_bytes()),
        }
        fs::write(self.folder.join(man.get_filename()), page)
    }
}

/// Examples, each with its purpose above the command.
fn examples(examples: &[(&str, &str)]) -> String {
    let mut page = Roff::default();
    page.control("SH", ["EXAMPLES"]);
    for (says, line) in examples {
        page.control("PP", []);
        page.text([roman(format!("{says}:"))]);
        page.control("RS", ["4"]);
        page.control("nf", []);
        page.text([bold(*line)]);
        page.control("fi", []);
        page.control("RE", []);
    }
    page.render()
}

/// The exit codes, on the page of the program itself.
fn exit_status() -> String {
    let mut page = Roff::default();
    page.control("SH", ["EXIT STATUS"]);
    for exit in Exit::ALL {
        page.control("TP", []);
        page.text([bold(exit.code().to_string())]);
        page.text([roman(exit.says())]);
    }
    page.render()
}

#[cfg(test)]
mod tests;

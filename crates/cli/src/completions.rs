//! `ssdlab completions`: the scripts with which shells complete commands and options.

use clap::{Args, Command};
use clap_complete::Shell;

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

impl Completions {
    /// Runs the command, for this command line.
    pub fn run(&self, mut line: Command) -> Exit {
        let shell: Shell = self.shell.parse().expect("one of the shells above");
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut line, "ssdlab", &mut script);
        output::print(&String::from_utf8(script).expect("a script is text"));
        Exit::Done
    }
}

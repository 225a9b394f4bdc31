//! The names that a command line can have: those of plans, runs, drives, hosts and metrics, which
//! completions ask for.

use clap::{Args, ValueEnum};
use ssdlab_flash::presets;
use ssdlab_plan::HOSTS;
use ssdlab_plan::metric;
use ssdlab_plan::shipped;
use ssdlab_results as results;

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab names`.
#[derive(Debug, Args)]
pub struct NamesCommand {
    /// Of what.
    of: Vec<NameKind>,
}

/// What has names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NameKind {
    Plans,
    Runs,
    Drives,
    Hosts,
    Metrics,
}

impl NameKind {
    /// Its word on the command line.
    pub fn word(self) -> String {
        let value = self.to_possible_value().expect("no kind is left out");
        value.get_name().to_owned()
    }

    fn names(self) -> Vec<String> {
        match self {
            Self::Plans => shipped::all().map(|plan| plan.name.to_owned()).collect(),
            Self::Runs => results::runs_in(&results::default_folder()),
            Self::Drives => presets::ALL.iter().map(|drive| drive.name.to_owned()).collect(),
            Self::Hosts => HOSTS.iter().map(|host| host.name.clone()).collect(),
            Self::Metrics => metric::all().map(|metric| metric.name.to_owned()).collect(),
        }
    }
}

impl NamesCommand {
    /// Prints the names, one a line.
    pub fn run(&self) -> Exit {
        let mut names: Vec<String> = self.of.iter().flat_map(|kind| kind.names()).collect();
        names.sort_unstable();
        names.dedup();
        output::print(&(names.join("\n") + "\n"));
        Exit::Done
    }
}

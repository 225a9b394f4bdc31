//! The argument `--results`, and how a run is found in that folder.

use std::path::{Path, PathBuf};

use clap::Args;
use miette::Report as Error;
use ssdlab_results as results;

use super::exit::UsageError;
use super::run_name::RunName;

/// The argument that names the folder.
#[derive(Debug, Args)]
pub struct ResultsArguments {
    /// The results folder.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl ResultsArguments {
    /// Whether the command line names it.
    pub fn is_named(&self) -> bool {
        self.results.is_some()
    }

    pub fn folder(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(results::default_folder)
    }

    /// The folder of a run given by path or by name.
    pub fn find(&self, named: &Path) -> PathBuf {
        let own = self.folder().join(named);
        let is_run = results::is_run(named);
        // A path that exists but is not a run is passed on unchanged, for the error message.
        let path = if is_run || named.exists() && !own.exists() { named.to_owned() } else { own };
        path.canonicalize().unwrap_or(path)
    }

    /// The folder of a run given by path, by name, or by the name of a plan, whose last run it is;
    /// by default the last run of all.
    pub fn find_or_last(&self, named: Option<&Path>) -> Result<PathBuf, Error> {
        let Some(named) = named else {
            return self.last(None).ok_or_else(|| {
                let folder = self.folder();
                let says = format!("{}: no runs yet", folder.display());
                UsageError::report(says, "`ssdlab run discard` makes one; or name a run's folder")
            });
        };
        let found = self.find(named);
        let is_run = results::is_run(&found);
        let last = named.to_str().filter(|_| !is_run).and_then(|plan| self.last(Some(plan)));
        Ok(last.unwrap_or(found))
    }

    /// The last run, or that of a plan. Runs that were renamed have no time in their name and are
    /// not among them.
    fn last(&self, plan: Option<&str>) -> Option<PathBuf> {
        let folder = self.folder();
        let runs = results::runs_in(&folder).into_iter().filter_map(|name| {
            let run = RunName::parse(&name)?;
            plan.is_none_or(|plan| plan == run.plan).then(|| (run.began, folder.join(&name)))
        });
        runs.max().map(|(_, path)| path)
    }
}

#[cfg(test)]
mod tests;

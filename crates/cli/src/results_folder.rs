//! The argument `--results`, and how a run is found in that folder.

use std::path::{Path, PathBuf};

use clap::Args;
use ssdlab_results as results;

/// The argument that names the folder.
#[derive(Debug, Args)]
pub struct Results {
    /// The results folder.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Results {
    /// Whether the command line names it.
    pub fn is_named(&self) -> bool {
        self.results.is_some()
    }

    /// The folder.
    pub fn folder(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(results::default_folder)
    }

    /// The folder of a run given by path or by name.
    pub fn find(&self, named: &Path) -> PathBuf {
        let own = self.folder().join(named);
        let is_run = named.join("schedule.json").exists();
        // A path that exists but is not a run is passed on unchanged, for the error message.
        let path = if is_run || named.exists() && !own.exists() { named.to_owned() } else { own };
        path.canonicalize().unwrap_or(path)
    }
}

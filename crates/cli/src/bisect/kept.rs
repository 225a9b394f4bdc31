//! The findings of a search, as they are stored: the same command finds them again.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ssdlab_bisect::{Bisection, Ends};
use ssdlab_host::regular_file::read_own;
use ssdlab_host::whole_file::WholeFile;
use ssdlab_kernel as kernel;

use super::asked::Asked;
use crate::exit::Wrong;

/// The version of this format.
const SEARCH_SCHEMA: u32 = 1;

/// A search for the commit that changed whether a claim holds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Search {
    /// The version of this format.
    schema: u32,
    /// The plan's name.
    plan: String,
    /// The claim, with the treatment in brackets where it applies to several.
    claim: String,
    /// The claim in words.
    says: String,
    /// The metric that its value is of, or of which it is the ratio.
    metric: String,
    /// The git tree.
    tree: PathBuf,
    /// What was found.
    #[serde(flatten)]
    pub bisection: Bisection,
}

/// The file of a search, and what it begins with.
pub struct Kept {
    path: PathBuf,
    head: Search,
}

impl Search {
    /// A search and its findings.
    pub fn new(asked: &Asked, tree: &Path, bisection: Bisection) -> Self {
        Self {
            schema: SEARCH_SCHEMA,
            plan: asked.schedule.plan.clone(),
            claim: asked.subject.id.clone(),
            says: asked.claim.says.clone(),
            metric: asked.claim.metric.clone(),
            tree: tree.to_owned(),
            bisection,
        }
    }

    /// The claim in words.
    pub fn says(&self) -> &str {
        &self.says
    }
}

impl Kept {
    /// The file of a search: its name depends on all that its findings depend on.
    pub fn open(results: &Path, asked: &Asked, tree: &Path, ends: &Ends) -> Result<Self, Report> {
        let head = Search::new(asked, tree, Bisection::new(ends.clone()));
        let mut hasher = Sha256::new();
        for part in [
            serde_json::to_string(&head).into_diagnostic()?,
            serde_json::to_string(&asked.schedule).into_diagnostic()?,
            kernel::recipe(),
        ] {
            hasher.update(format!("{}\n{part}", part.len()));
        }
        let name = hex::encode(hasher.finalize())[..12].to_owned();
        let folder = results.join(format!("{}-bisect-{name}", head.plan));
        Ok(Self { path: folder.join("bisect.json"), head })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was found so far, if anything.
    pub fn read(&self) -> Result<Option<Bisection>, Report> {
        if !self.path.exists() {
            return Ok(None);
        }
        let unreadable = |error: &dyn std::fmt::Display| {
            Wrong::report(
                format!("the findings in {} cannot be read: {error}", self.path.display()),
                "remove the file to begin again",
            )
        };
        let text = read_own(&self.path).map_err(|error| unreadable(&error))?;
        let search: Search = serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
        Ok(Some(search.bisection.resumed()))
    }

    /// Stores what was found so far, whole or not at all.
    pub fn write(&mut self, bisection: &Bisection) -> Result<(), Report> {
        self.head.bisection = bisection.clone();
        fs::create_dir_all(self.path.parent().unwrap_or(&self.path)).into_diagnostic()?;
        let mut file = WholeFile::begin(&self.path).into_diagnostic()?;
        serde_json::to_writer_pretty(&mut file, &self.head).into_diagnostic()?;
        file.keep().into_diagnostic()
    }
}

#[cfg(test)]
mod tests;

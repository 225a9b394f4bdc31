//! The history of a git tree, which is only read: git itself answers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, ProgramError, Rules};

use super::error::BisectError;

/// How long git may take; a checkout of Linux takes minutes on a slow disk.
const LIMIT: Duration = Duration::from_mins(30);

/// A git tree.
pub struct History<'a> {
    tree: PathBuf,
    /// Its repository, which a worktree shares with others.
    repository: PathBuf,
    interrupt: &'a Interrupt,
}

/// A commit, as people read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// The name of its author.
    pub author: String,
    /// When it was written, by the author: a day.
    pub date: String,
}

impl<'a> History<'a> {
    /// The history of a tree.
    pub fn of(tree: &Path, interrupt: &'a Interrupt) -> Result<Self, BisectError> {
        let no_tree = |says: String| BisectError::NoTree { tree: tree.to_owned(), says };
        let tree = tree.canonicalize().map_err(|error| no_tree(error.to_string()))?;
        let mut history = Self { repository: tree.clone(), tree, interrupt };
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        history.repository = match history.git(&common) {
            Err(BisectError::Program(ProgramError::Failed { output, .. })) => {
                return Err(no_tree(output.trim().to_owned()));
            }
            said => said?.trim().into(),
        };
        Ok(history)
    }

    /// The tree's folder.
    #[must_use]
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    pub(super) fn repository(&self) -> &Path {
        &self.repository
    }

    /// The hash of a revision's commit.
    pub fn commit(&self, revision: &str) -> Result<String, BisectError> {
        let peeled = format!("{revision}^{{commit}}");
        match self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]) {
            Err(BisectError::Program(ProgramError::Failed { .. })) => {
                let (tree, revision) = (self.tree.clone(), revision.to_owned());
                Err(BisectError::NoRevision { tree, revision })
            }
            said => Ok(said?.trim().to_owned()),
        }
    }

    /// Refuses two commits of which the first does not lead to the second.
    pub fn check_leads(&self, good: &str, bad: &str) -> Result<(), BisectError> {
        let base = self.git(&["merge-base", good, bad]).unwrap_or_default();
        let base = base.trim();
        if base == good && good != bad {
            return Ok(());
        }
        let help = match base {
            _ if good == bad => "name two revisions: this is one".to_owned(),
            "" => "name two revisions of one history".to_owned(),
            _ if base == bad => "name them the other way round: the bad one comes later".to_owned(),
            base => format!("name their common ancestor as the good one: --good {base}"),
        };
        Err(BisectError::Unrelated { good: good.to_owned(), bad: bad.to_owned(), help })
    }

    /// The commits that lead to `bad` and not to any of `good`, without `bad` itself, in the order
    /// in which git bisects: first the one whose finding excludes most of the others.
    pub fn between(&self, good: &[&str], bad: &str) -> Result<Vec<String>, BisectError> {
        let mut arguments = vec!["rev-list", "--bisect-all", bad, "--not"];
        arguments.extend(good);
        let said = self.git(&arguments)?;
        let commits = said.lines().filter_map(|line| line.split_whitespace().next());
        Ok(commits.filter(|commit| *commit != bad).map(str::to_owned).collect())
    }

    /// A commit as people read it.
    pub fn describe(&self, commit: &str) -> Result<Commit, BisectError> {
        let format = "--format=%s%n%an%n%as";
        let said = self.git(&["show", "--no-patch", "--no-color", format, commit])?;
        let mut lines = said.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap_or_default();
        let (subject, author, date) = (next(), next(), next());
        Ok(Commit { id: commit.to_owned(), subject, author, date })
    }

    /// The files of one commit that another lacks.
    pub fn lacks(&self, commit: &str, before: &str) -> Result<Vec<PathBuf>, BisectError> {
        let only = ["diff", "--name-only", "--no-renames", "--diff-filter=D", "-z"];
        let said = self.git(&[&only[..], &[before, commit]].concat())?;
        Ok(said.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
    }

    fn git(&self, arguments: &[&str]) -> Result<String, BisectError> {
        git(&self.tree, arguments, self.interrupt)
    }

    pub(super) fn git_in(&self, folder: &Path, arguments: &[&str]) -> Result<String, BisectError> {
        git(folder, arguments, self.interrupt)
    }
}

/// What git says in a folder, where it must succeed.
fn git(folder: &Path, arguments: &[&str], interrupt: &Interrupt) -> Result<String, BisectError> {
    let mut command = Command::new(program::find("git", "git")?);
    command.arg("-C").arg(folder).args(arguments).env("LC_ALL", "C");
    let rules = Rules { marker: "git", limit: LIMIT, interrupt };
    Ok(program::run(command, rules)?.stdout)
}

//! How a submission gets to its nodes and their records get back: through a folder that all
//! machines see or, without one, in the script of the job and by rsync(1).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, ProgramError, Rules};
use ssdlab_host::sync::sync_tree;
use ssdlab_plan::Schedule;
use ssdlab_results::ATTEMPTS;
use ssdlab_slurm::Queue;

use super::submission::Submission;

/// How often records are fetched from nodes.
const PAUSE: Duration = Duration::from_secs(5);

/// The time limit of a fetch.
const LIMIT: Duration = Duration::from_mins(2);

/// The line that ends a file in a script; no line of JSON equals it.
const END: &str = "END OF FILE";

/// A run's folder as a node sees it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'a> {
    /// All machines see it, under this name.
    Shared(&'a Path),
    /// The node has this folder instead.
    Staged(&'a Path),
}

impl<'a> Seen<'a> {
    /// How the nodes of a submission see the folder of its run.
    pub fn by_nodes_of(submission: &'a Submission, run: &'a Path) -> Self {
        submission.staged.as_deref().map_or(Self::Shared(run), Self::Staged)
    }

    /// The folder as a word of sh(1).
    pub fn word(self) -> String {
        let (Self::Shared(folder) | Self::Staged(folder)) = self;
        quoted(folder)
    }

    /// Where Slurm writes the output of an element; with staging the script redirects it.
    pub fn output(self) -> PathBuf {
        match self {
            Self::Shared(run) => run.join(ATTEMPTS).join("%A_%a.out"),
            Self::Staged(_) => "/dev/null".into(),
        }
    }

    /// The script of an element.
    pub fn script(
        self,
        program: &Path,
        schedule: &Schedule,
        submission: &Submission,
        name: &str,
    ) -> String {
        let (program, run) = (quoted(program), self.word());
        let staging = match self {
            Self::Shared(_) => String::new(),
            Self::Staged(_) => staging(schedule, submission, name),
        };
        format!(
            "#!/bin/sh\nset -e\nrun={run}\n{staging}exec {program} node --run \"$run\" \
             --submission {name}\n"
        )
    }
}

/// Lines of sh(1) that copy the run's files into a node's own folder. Several elements may do so at
/// the same time.
fn staging(schedule: &Schedule, submission: &Submission, name: &str) -> String {
    // Elements bring their trials with them; all the others would only make it long.
    let schedule = serde_json::to_string(&Schedule { trials: Vec::new(), ..schedule.clone() });
    let submission = serde_json::to_string(submission);
    let plain = "both are plain data";
    let (schedule, submission) = (schedule.expect(plain), submission.expect(plain));
    format!(
        "old=$(umask)\numask 077\nmkdir -p \"$run\"/{ATTEMPTS}\n\
         exec >\"$run\"/{ATTEMPTS}/\"$SLURM_ARRAY_JOB_ID\"_\"$SLURM_ARRAY_TASK_ID\".out 2>&1\n\
         put() {{ cat >\"$run/$1.$SLURM_JOB_ID\"; mv \"$run/$1.$SLURM_JOB_ID\" \"$run/$1\"; }}\n\
         put {ATTEMPTS}/{name}.json <<'{END}'\n{submission}\n{END}\n\
         put schedule.json <<'{END}'\n{schedule}\n{END}\numask \"$old\"\n"
    )
}

/// A path as a word of sh(1).
pub(super) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    shlex::try_quote(&path).expect("no path has a NUL").into_owned()
}

/// What a node does with files that it has handed over, now or earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Keep,
    Remove,
}

/// rsync, and the nodes that have something for it.
#[derive(Debug)]
pub struct Rsync {
    program: PathBuf,
    /// Each node that may have something, with the folder that it has it in.
    nodes: BTreeSet<(String, PathBuf)>,
    asked: Option<Instant>,
    /// The nodes already reported not to hand anything over.
    told: BTreeSet<String>,
}

impl Rsync {
    /// rsync, as it is installed here.
    pub fn find() -> Result<Self, ProgramError> {
        let program = program::find("rsync", "rsync")?;
        let (nodes, told) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { program, nodes, asked: None, told })
    }

    /// Learns from the queue which nodes elements are on, or were on a moment ago.
    pub(super) fn learn(&mut self, queue: &Queue, submitted: &BTreeMap<String, Submission>) {
        let all = queue.elements.iter().chain(&queue.over);
        for element in all.filter(|element| !element.node.is_empty()) {
            let staged = submitted.get(&element.array).and_then(|of| of.staged.clone());
            self.nodes.extend(staged.map(|folder| (element.node.clone(), folder)));
        }
    }

    /// Learns that elements of a submission may have been on any of some nodes.
    pub(super) fn ask_all(&mut self, submission: &Submission, nodes: impl Iterator<Item = String>) {
        let Some(folder) = &submission.staged else { return };
        self.nodes.extend(nodes.map(|node| (node, folder.clone())));
    }

    /// Fetches new records from nodes, if it is time to; what a node does not hand over now, it may
    /// the next time. Returns problems to report, one per node and only once.
    pub(super) fn fetch(&mut self, run: &Path) -> Vec<String> {
        if self.asked.is_some_and(|asked| asked.elapsed() < PAUSE) {
            return Vec::new();
        }
        self.fetch_now(run)
    }

    /// Fetches all that nodes have.
    pub(super) fn fetch_now(&mut self, run: &Path) -> Vec<String> {
        self.fetch_all(run, After::Keep).1
    }

    /// Has nodes whose elements have ended remove what they have handed over, once it is synced
    /// here.
    pub(super) fn clear(&mut self, run: &Path) -> Vec<String> {
        // The pass that removes files would also fetch any that are still missing, so everything
        // must be here, and synced, before it.
        let (whole, mut troubles) = self.fetch_all(run, After::Keep);
        if let Err(error) = sync_tree(&run.join(ATTEMPTS)) {
            return vec![format!("what nodes have handed over stays there, too: {error}")];
        }
        self.nodes = whole;
        troubles.extend(self.fetch_all(run, After::Remove).1);
        self.nodes.clear();
        troubles
    }

    /// Fetches from all nodes; returns those that have handed over everything, and the problems of
    /// others.
    fn fetch_all(
        &mut self,
        run: &Path,
        after: After,
    ) -> (BTreeSet<(String, PathBuf)>, Vec<String>) {
        let (mut whole, mut troubles) = (BTreeSet::new(), Vec::new());
        for (node, folder) in &self.nodes {
            match self.fetch_from(run, node, folder, after) {
                Ok(is_all) => {
                    self.told.remove(node);
                    whole.extend(is_all.then(|| (node.clone(), folder.clone())));
                }
                Err(says) if self.told.insert(node.clone()) => {
                    troubles.push(format!("cannot fetch from {node}: {says}"));
                }
                Err(_) => {}
            }
        }
        self.asked = Some(Instant::now());
        (whole, troubles)
    }

    /// Fetches from one node; false if it has not handed over all it has.
    fn fetch_from(
        &self,
        run: &Path,
        node: &str,
        folder: &Path,
        after: After,
    ) -> Result<bool, String> {
        let mut command = Command::new(&self.program);
        command.args([
            // Only regular files in folders, whatever else a node may have there.
            "--recursive",
            "--times",
            // The node's shell must not interpret the folder's name.
            "--protect-args",
            "--exclude=*.json",
            "--exclude=*.json.*",
        ]);
        if after == After::Remove {
            command.arg("--remove-source-files");
        }
        if std::env::var_os("RSYNC_RSH").is_none() {
            // Nobody can type a password, and other nodes wait.
            command.arg("--rsh=ssh -o BatchMode=yes -o ConnectTimeout=10");
        }
        let mut to = OsString::from(run.join(ATTEMPTS));
        to.push("/");
        command.arg("--").arg(format!("{node}:{}/{ATTEMPTS}/", folder.display())).arg(to);
        let interrupt = Interrupt::default();
        let rules = Rules { marker: "rsync", limit: LIMIT, interrupt: &interrupt };
        let finished =
            program::run_to_any_end(command, rules).map_err(|error| error.to_string())?;
        match finished.status.code() {
            Some(0) => Ok(true),
            // Some files do not exist yet, or no longer do.
            Some(23 | 24) => Ok(false),
            _ => Err(program::tail(&finished.stderr)),
        }
    }
}

#[cfg(test)]
mod tests;

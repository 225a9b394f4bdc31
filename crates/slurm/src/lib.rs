//! An interface to Slurm through its own programs, whose options and formats have been stable since
//! version 20.11 (sbatch(1), squeue(1), sinfo(1), scancel(1), scontrol(1)). Slurm decides what runs
//! where and when. This room does not know what a job is for.

mod job_id;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use miette::Diagnostic;
use thiserror::Error;

pub use job_id::JobId;
pub use queue::{Element, Queue, attempt};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, ProgramError, Rules};

/// The package of the Slurm programs.
const PACKAGE: &str = "slurm-client";

/// The time limit of the Slurm programs; they give up on a controller sooner.
const LIMIT: Duration = Duration::from_mins(2);

/// The marker of processes started here. A job outlives its submitter, so this must not be the
/// marker of a run, whose processes end with it.
const MARKER: &str = "slurm";

/// The variables that jobs inherit from the submitter's environment, if set: locations of programs
/// and of ssdlab's files, and the locale. Slurm adds its own. Anything else would make trials
/// depend on the submitting shell, and leak its secrets.
const EXPORTED: [&str; 9] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The default maximum number of elements in an array, `MaxArraySize` of slurm.conf(5) minus one.
pub const MOST_ELEMENTS: usize = 1_000;

/// An error of Slurm.
#[derive(Debug, Error, Diagnostic)]
pub enum SlurmError {
    /// A program of Slurm cannot be run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// Its controller does not answer.
    #[error("the Slurm controller does not answer: {says}")]
    #[diagnostic(help(
        "`scontrol ping` shows the controllers; SLURM_CONF selects another configuration"
    ))]
    Unreachable {
        /// What the program says.
        says: String,
    },
    /// It does not know a partition.
    #[error("Slurm has no partition `{name}`")]
    #[diagnostic(help("partitions: {known}"))]
    NoPartition {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// No node has all required features.
    #[error("no node{of} has the features {features}")]
    #[diagnostic(help(
        "features of nodes: {known}; [needs] and `node_feature` in the plan name the required \
         features, slurm.conf those that nodes have"
    ))]
    NoNode {
        /// The partition, in words.
        of: String,
        /// The features.
        features: String,
        /// Those there are.
        known: String,
    },
    /// It does not report the id of the new job.
    #[error("sbatch printed `{says}`, expected a numeric job id")]
    #[diagnostic(help("squeue(1) shows whether the job exists; scancel(1) cancels it"))]
    NoId {
        /// What it prints.
        says: String,
    },
    /// It refuses a request.
    #[error("Slurm refused: {says}")]
    #[diagnostic(help("sinfo(1) shows partitions and nodes, `scontrol show config` shows limits"))]
    Refused {
        /// Why.
        says: String,
    },
}

impl SlurmError {
    /// Whether this machine, or its Slurm, lacks something.
    #[must_use]
    pub fn is_of_this_machine(&self) -> bool {
        matches!(
            self,
            Self::Program(ProgramError::Missing { .. })
                | Self::Unreachable { .. }
                | Self::NoPartition { .. }
                | Self::NoNode { .. }
        )
    }

    /// Whether it was to stop.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Program(ProgramError::Interrupted))
    }
}

/// Slurm, as accessible from this machine.
#[derive(Debug, Clone)]
pub struct Slurm {
    sbatch: PathBuf,
    squeue: PathBuf,
    scancel: PathBuf,
    scontrol: PathBuf,
    sinfo: PathBuf,
    /// The partition for jobs; `None` means the default one.
    partition: Option<String>,
}

/// The limits of a job.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The maximum duration; `None` if unlimited.
    pub time: Option<Duration>,
    /// Whether Slurm allocates memory. If it does not, nodes need not declare theirs, and requests
    /// for memory are refused.
    pub gives_out_memory: bool,
}

/// An array of jobs.
#[derive(Debug)]
pub struct Array<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its elements, which are numbered from 0.
    pub elements: usize,
    /// The features of the nodes it may run on.
    pub features: &'a BTreeSet<String>,
    /// The only node it may run on, if it is for one.
    pub node: Option<&'a str>,
    /// Whether an element has its node to itself.
    pub is_exclusive: bool,
    /// The memory that an element needs per allocated processor, in bytes; `None` means all of the
    /// node's. Only used where Slurm allocates memory.
    pub memory_bytes: Option<u64>,
    /// The time limit of an element.
    pub limit: Duration,
    /// The file for an element's output; `%A` is the job and `%a` the element.
    pub output: &'a Path,
    /// The script, for sh(1), that each element runs.
    pub script: &'a str,
}

impl Slurm {
    /// Slurm's programs, on this machine.
    pub fn find(partition: Option<String>) -> Result<Self, SlurmError> {
        let find = |name| program::find(name, PACKAGE);
        Ok(Self {
            sbatch: find("sbatch")?,
            squeue: find("squeue")?,
            scancel: find("scancel")?,
            scontrol: find("scontrol")?,
            sinfo: find("sinfo")?,
            partition,
        })
    }

    /// The partition that jobs go to, if one was named.
    #[must_use]
    pub fn partition(&self) -> Option<&str> {
        self.partition.as_deref()
    }

    /// The nodes that have all given features, and whether each is up and not draining. An error if
    /// there is no such partition or node; Slurm waits for nodes that are not up.
    pub fn nodes(&self, features: &BTreeSet<String>) -> Result<BTreeMap<String, bool>, SlurmError> {
        let text = ask(&self.sinfo, ["--noheader", "--all", "--Node", "--format=%P|%N|%f|%t"])?;
        let nodes: Vec<Node> = text.lines().filter_map(Node::read).collect();
        let partitions: BTreeSet<&str> = nodes.iter().map(|node| node.partition).collect();
        let is_there = |node: &&Node| match &self.partition {
            Some(name) => node.partition == name,
            None => node.is_default,
        };
        let nodes: BTreeMap<&str, &Node> =
            nodes.iter().filter(is_there).map(|node| (node.name, node)).collect();
        let list = |words: BTreeSet<&str>| words.into_iter().collect::<Vec<_>>().join(", ");
        if nodes.is_empty() {
            let name = self.partition.clone().unwrap_or_else(|| "by default".to_owned());
            return Err(SlurmError::NoPartition { name, known: list(partitions) });
        }
        let has_all =
            |node: &&Node| features.iter().all(|one| node.features.contains(one.as_str()));
        let found = nodes.values().copied().filter(has_all);
        let found: BTreeMap<String, bool> =
            found.map(|node| (node.name.to_owned(), node.is_up)).collect();
        if found.is_empty() {
            return Err(SlurmError::NoNode {
                of: self.partition.as_ref().map(|name| format!(" of {name}")).unwrap_or_default(),
                features: list(features.iter().map(String::as_str).collect()),
                known: list(nodes.values().flat_map(|node| node.features.clone()).collect()),
            });
        }
        Ok(found)
    }

    /// Submits an array within limits; its job's id.
    pub fn submit(&self, array: &Array<'_>, limits: Limits) -> Result<JobId, SlurmError> {
        let mut command = Command::new(&self.sbatch);
        command.args(["--parsable", "--no-requeue", "--nodes=1", "--ntasks=1", "--chdir=/"]);
        command.arg(format!("--export={}", EXPORTED.join(",")));
        command.arg(format!("--job-name={}", array.name));
        command.arg(format!("--array=0-{}", array.elements.saturating_sub(1)));
        // A job above its partition's limit would wait for ever.
        let limit = limits.time.map_or(array.limit, |most| most.min(array.limit));
        command.arg(format!("--time={}", (limit.as_secs() / 60).max(1)));
        let mut output = std::ffi::OsString::from("--output=");
        output.push(array.output);
        command.arg(output);
        if array.is_exclusive {
            command.arg("--exclusive");
        }
        if limits.gives_out_memory {
            command.arg(match array.memory_bytes {
                Some(bytes) => format!("--mem-per-cpu={}M", bytes.div_ceil(1 << 20)),
                None => "--mem=0".to_owned(),
            });
        }
        if let Some(partition) = &self.partition {
            command.arg(format!("--partition={partition}"));
        }
        if let Some(node) = array.node {
            command.arg(format!("--nodelist={node}"));
        }
        if !array.features.is_empty() {
            let all: Vec<&str> = array.features.iter().map(String::as_str).collect();
            command.arg(format!("--constraint={}", all.join("&")));
        }
        let says = run(command, array.script)?;
        // In a federation, the cluster's name follows the id.
        let id = JobId::read(says.trim().split(';').next().unwrap_or_default());
        id.ok_or_else(|| SlurmError::NoId { says: program::tail(&says) })
    }

    /// The limits for jobs.
    pub fn limits(&self) -> Result<Limits, SlurmError> {
        let text = ask(&self.sinfo, ["--noheader", "--all", "--format=%P|%l"])?;
        let partitions = text.lines().filter_map(|line| line.trim().split_once('|'));
        let is_meant = |name: &str| match &self.partition {
            Some(own) => name.trim_end_matches('*') == own,
            None => name.ends_with('*'),
        };
        let mut meant = partitions.filter(|(name, _)| is_meant(name));
        let time = meant.next().and_then(|(_, limit)| span(limit));
        let config = ask(&self.scontrol, ["show", "config"])?;
        let line = config.lines().find(|line| line.starts_with("SelectTypeParameters"));
        let gives_out_memory = line.is_some_and(|line| line.to_uppercase().contains("MEMORY"));
        Ok(Limits { time, gives_out_memory })
    }

    /// The elements of arrays of these names.
    pub fn queue(&self, names: &BTreeSet<String>) -> Result<Queue, SlurmError> {
        if names.is_empty() {
            return Ok(Queue::default());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = format!("--name={}", names.join(","));
        let format = format!("--format={}", queue::FORMAT);
        let text =
            ask(&self.squeue, ["--noheader", "--all", "--array", "--states=all", &names, &format])?;
        Ok(Queue::read(&text))
    }

    /// Cancels jobs by their ids; those that have ended are ignored.
    pub fn cancel(&self, jobs: &BTreeSet<JobId>) -> Result<(), SlurmError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let jobs = jobs.iter().map(ToString::to_string);
        ask(&self.scancel, ["--quiet".to_owned()].into_iter().chain(jobs))?;
        Ok(())
    }
}

/// The output of a query program.
fn ask<A: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, SlurmError> {
    let mut command = Command::new(program);
    command.args(arguments);
    run(command, "")
}

/// Runs a Slurm program. Interrupts take effect between programs, so that every submission is
/// known.
fn run(mut command: Command, input: &str) -> Result<String, SlurmError> {
    // Users' own settings would hide elements and nodes, or send jobs elsewhere; only the account
    // is theirs to choose.
    let own = ["SQUEUE_", "SINFO_", "SCANCEL_", "SBATCH_"];
    let kept = ["SBATCH_ACCOUNT", "SBATCH_QOS"];
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let is_own = |name: &String| own.iter().any(|of| name.starts_with(of));
    for name in names.filter(|name| is_own(name) && !kept.contains(&name.as_str())) {
        command.env_remove(name);
    }
    let interrupt = Interrupt::default();
    let rules = Rules { marker: MARKER, limit: LIMIT, interrupt: &interrupt };
    match program::run_with_input(command, input, rules) {
        Ok(finished) => Ok(finished.stdout),
        Err(ProgramError::Failed { output, .. }) => Err(understood(&output)),
        Err(error) => Err(error.into()),
    }
}

/// Interprets an error message of Slurm and its programs.
fn understood(says: &str) -> SlurmError {
    let says = program::tail(says);
    let unreachable = [
        "Unable to contact slurm controller",
        "Unable to contact controller",
        "Connection refused",
        "Socket timed out",
        "Zero Bytes were transmitted",
        "establish a configuration source",
        "establish configuration source",
        "Transport endpoint",
        "Protocol authentication error",
    ];
    if unreachable.iter().any(|words| says.contains(words)) {
        SlurmError::Unreachable { says }
    } else {
        SlurmError::Refused { says }
    }
}

/// A time limit as sinfo(1) prints it, `[DAYS-]HOURS:MINUTES:SECONDS` without what is 0 in front;
/// `None` for `infinite`.
fn span(text: &str) -> Option<Duration> {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let seconds =
        parts.iter().fold(0_u64, |sum, part| sum.saturating_mul(60).saturating_add(*part));
    let days = Duration::from_hours(24 * days.parse::<u32>().ok().map(u64::from)?);
    Some(days + Duration::from_secs(seconds))
}

/// A node in a partition, as sinfo(1) prints it.
struct Node<'a> {
    partition: &'a str,
    is_default: bool,
    name: &'a str,
    features: BTreeSet<&'a str>,
    is_up: bool,
}

impl<'a> Node<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut parts = line.trim().split('|');
        let (partition, name, features) = (parts.next()?, parts.next()?, parts.next()?);
        if !queue::is_host(name) {
            return None;
        }
        let state = parts.next()?;
        let features = features.split(',').filter(|one| !one.is_empty() && *one != "(null)");
        Some(Self {
            partition: partition.trim_end_matches('*'),
            is_default: partition.ends_with('*'),
            name,
            features: features.collect(),
            // The compact states (sinfo(1)); a suffix says that the node does not answer.
            is_up: !["down", "drain", "drng", "fail", "maint", "*"]
                .iter()
                .any(|ill| state.contains(ill)),
        })
    }
}

#[cfg(test)]
mod tests;

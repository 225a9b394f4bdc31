//! The schedule: a plan with every default filled in, every seed and every trial explicit.
//!
//! It is what a run stores beside its records (`schedule.json`), what resuming reads back, and what
//! the analysis is computed from; nothing in it depends on the machine.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::bonnie::{Bonnie, BonnieTest};
use super::cuts::Cuts;
use super::database::Database;
use super::factor::{Factor, Levels};
use super::io::Io;
use super::lab_kind::{LabKind, Origin};
use super::level_error::LevelError;
use super::maildir::Maildir;
use super::metric::Metric;
use super::published::Published;
use super::reading::ReadOrder;
use super::recordings::Recording;
use super::rotation::Rotate;
use super::sequences::Sequences;
use super::setup::{FSTRIM, Setup};
use super::system::CommandSystem;
use super::target::{self, Target};
use super::transactions::{DATABASE, PAGE_BYTES, Transactions};
use super::versions::{Append, Replace};

mod claim;
mod decided;
mod distinct;

use claim::is_zero;
pub use claim::{Bounds, Claim, Statement};
pub use decided::ImportedTrials;

/// The version of `schedule.json` this program writes.
pub const SCHEDULE_SCHEMA: u32 = 1;

/// A plan with everything decided. Only this crate makes or changes one, so that its parts agree;
/// everybody reads them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct Schedule(pub(crate) ScheduleContents);

impl Deref for Schedule {
    type Target = ScheduleContents;

    fn deref(&self) -> &ScheduleContents {
        &self.0
    }
}

/// Everything a run will do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ScheduleContents {
    /// The version of this format.
    pub schema: u32,
    /// The plan's name.
    pub plan: String,
    pub question: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// The metric the table shows and precision is judged on.
    pub metric: Metric,
    /// The metrics that tables show below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Metric>,
    /// Whether the reader asked for these metrics: charts show them instead of the answer's.
    #[serde(skip)]
    pub is_asked_for: bool,
    /// Where the trials run; none in an imported run, whose trials ran elsewhere.
    #[serde(with = "target")]
    pub target: Option<Target>,
    /// The features that nodes of a batch scheduler must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The treatments, in the order tables show them.
    pub treatments: Vec<Treatment>,
    /// The levels every other is compared with.
    pub baseline: Levels,
    pub workload: Workload,
    /// By how much the plan's workload was scaled; see [`Schedule::scale`].
    #[serde(default)]
    pub scale: Option<f64>,
    /// The drives that the plan names, which its amounts are about; empty if it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<String>,
    /// The capacity in bytes that the plan gives to drives, which its amounts are about; none if
    /// each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_capacity_bytes: Option<u64>,
    /// Power cuts, and what is left after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<Cuts>,
    /// When to stop.
    pub repetitions: Repetitions,
    /// The number of plausible drives, each with a block of its own after the first; 0 for a run
    /// on the published drive alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub plausible: u32,
    /// The ranking of treatments.
    #[serde(default)]
    pub ranking: Option<Ranking>,
    /// The steps, in order; none for a run that measures every treatment in every block.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// How the question is answered.
    #[serde(
        default,
        deserialize_with = "super::answer::stored",
        skip_serializing_if = "Answer::is_empty"
    )]
    pub answer: Answer,
    /// The claims to judge.
    pub claims: Vec<Claim>,
    /// Published measurements.
    #[serde(default)]
    pub published: Vec<Published>,
    /// The seed everything random is derived from; 0 in an imported run, which has none.
    pub seed: u64,
    /// Whether the files that every trial leaves are compared with those that it must leave.
    #[serde(default)]
    pub verify: bool,
    /// Every trial up to the last block, in order.
    pub trials: Vec<Trial>,
    /// Notes where the plan was interpreted differently from its wording.
    pub notes: Vec<String>,
    /// What the command line changed in the plan, as its arguments.
    #[serde(default)]
    pub overrides: Vec<String>,
    /// The files that the plan names, as they were when the run began; all of its trials require
    /// the same contents. Empty before they were hashed.
    #[serde(default, skip_serializing_if = "FileHashes::is_empty")]
    pub inputs: FileHashes,
}

/// The SHA-256 of files in hex, by their absolute paths.
pub type FileHashes = BTreeMap<PathBuf, String>;

/// One combination of levels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "StoredTreatment")]
pub struct Treatment {
    /// A level for every factor of the plan.
    pub levels: Levels,
    /// The treatment it is compared with (an index); none for a baseline or without a counterpart.
    pub baseline: Option<usize>,
    /// What the levels mean. Another release may have stored levels that this one does not know.
    #[serde(skip_serializing)]
    pub setup: Result<Setup, LevelError>,
}

#[derive(Deserialize)]
struct StoredTreatment {
    levels: Levels,
    baseline: Option<usize>,
}

impl Treatment {
    /// A treatment; `baseline` is the index of the one it is compared with.
    pub fn new(levels: Levels, baseline: Option<usize>) -> Self {
        let setup = Setup::new(&levels);
        Self { levels, baseline, setup }
    }
}

impl From<StoredTreatment> for Treatment {
    fn from(stored: StoredTreatment) -> Self {
        Self::new(stored.levels, stored.baseline)
    }
}

/// One trial: a treatment in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The block, from 0.
    pub block: u32,
    /// The place within the whole run, from 0.
    pub position: u32,
    /// The index of the treatment.
    pub treatment: usize,
    /// The seed: the same for every treatment of a block, so that they are paired; 0 in an imported
    /// run, which has none.
    pub seed: u64,
}

/// The operations on the filesystem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The tree of `unpack` and `delete`.
    pub tree: Option<FileTree>,
    /// The build of `clone`, `make` and `clean`.
    pub build: Option<Build>,
    /// The sizes of Bonnie's tests.
    #[serde(default)]
    pub bonnie: Option<Bonnie>,
    /// How long the device must be inactive to count as idle, in ns.
    pub quiet_ns: u64,
    /// The timed steps that every treatment shares.
    pub phases: Vec<Phase>,
    /// The programs that those of phases, or the check of power cuts, start in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// The system that commands and the check of power cuts run in, if it is not a few programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<CommandSystem>,
}

impl Workload {
    /// The files that are written before the first phase: their names and their sizes in bytes.
    pub fn files(&self) -> BTreeMap<String, u64> {
        self.phases.iter().flat_map(|phase| phase.action.files()).collect()
    }

    /// Whether some phase records what its files must hold after a power cut.
    pub fn has_history(&self) -> bool {
        self.phases.iter().any(|phase| phase.action.has_history())
    }

    /// The files that it names: an archive, operation logs, fio job files.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        let tree = self.tree.iter().filter_map(|tree| match tree {
            FileTree::Archive { path, .. } => Some(path.as_path()),
            FileTree::Synthetic { .. } => None,
        });
        tree.chain(self.phases.iter().filter_map(|phase| match &phase.action {
            Action::Replay { log: Recording::File(path) } | Action::Fio { job: path, .. } => {
                Some(path.as_path())
            }
            _ => None,
        }))
    }
}

/// The tree of `unpack` and `delete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileTree {
    /// Made from the trial's seed, with the shape of kernel sources.
    Synthetic { files: u64, bytes: u64 },
    /// From a tar archive.
    Archive {
        /// The archive, an absolute path.
        path: PathBuf,
        /// The share of its entries that is unpacked, from the front; above 0, at most 1.
        share: f64,
    },
}

/// The build of `clone`, `make` and `clean`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Build {
    /// The file operations of a kernel build on a synthetic tree.
    Synthetic {
        /// Source files.
        files: u64,
        bytes: u64,
    },
    /// A real repository, really built.
    Git {
        /// The repository, an absolute path.
        repository: PathBuf,
        /// The program that builds.
        make: Vec<String>,
        /// The program that cleans.
        clean: Vec<String>,
    },
}

/// A timed step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name in tables and results.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// Whether it ends with a sync of the filesystem, which is timed.
    pub sync: bool,
    /// Whether the caches are dropped first, untimed.
    #[serde(default)]
    pub cold: bool,
    /// Whether a small reader runs beside it.
    #[serde(default)]
    pub reader: bool,
    /// How often it is done in a day of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a_day: Option<f64>,
    /// The longest it may take, in ns.
    pub limit_ns: u64,
    /// How long after it, or after the last discard, another discard is waited for, in ns; 0 where
    /// none is expected once the device is idle.
    #[serde(default, skip_serializing_if = "is_zero_ns")]
    pub postponed_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero_ns(ns: &u64) -> bool {
    *ns == 0
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Makes the tree.
    Unpack,
    /// Reads the tree's files.
    Read { order: ReadOrder },
    /// Deletes everything.
    Delete,
    /// Syncs the filesystem.
    Sync,
    /// Trims all free space.
    Fstrim,
    /// Waits until the device has been silent this long.
    Idle {
        /// The silence in ns.
        quiet_ns: u64,
    },
    /// Unmounts, drops the device's caches, mounts again.
    Remount,
    /// Lets the machine do its own work, and syncs at the end (live lab).
    Stretch {
        /// How long, in ns.
        stretch_ns: u64,
        /// What of its beginning is not counted, and comes before that, in ns.
        washout_ns: u64,
    },
    /// Clones the repository.
    Clone,
    /// Builds it.
    Make,
    /// Removes what the build made.
    Clean,
    /// Runs a program.
    Command {
        /// The program and its arguments.
        run: Vec<String>,
        /// Environment variables to add.
        env: BTreeMap<String, String>,
    },
    /// Runs fio.
    Fio {
        /// The job file, an absolute path.
        job: PathBuf,
        /// Whether each of its jobs syncs what it writes, bypasses the page cache or only reads, as
        /// far as is known: the file may only be where the plan will run.
        #[serde(default)]
        syncs: bool,
    },
    /// Performs one of Bonnie's tests.
    Bonnie { test: BonnieTest },
    /// Reads and writes files.
    Io(Io),
    /// Commits transactions.
    Transactions(Transactions),
    /// Performs what a recorded program did.
    Replay {
        /// What it did.
        log: Recording,
    },
    /// Replaces files.
    Replace(Replace),
    /// Appends to a file.
    Append(Append),
    /// Commits to a database.
    Database(Database),
    /// Performs every short sequence of operations.
    Sequences(Sequences),
    /// Delivers mail.
    Maildir(Maildir),
    /// Appends to a log and rotates it.
    Rotate(Rotate),
    /// Another program's work: elsewhere, before its results were imported, or in a run of an
    /// earlier version, which could run bonnie++.
    #[serde(alias = "bonnie++")]
    Imported,
}

impl Action {
    /// Whether it waits while the machine does its own work.
    pub const fn is_stretch(&self) -> bool {
        matches!(self, Self::Stretch { .. })
    }

    /// The files it works on, which are written before the first phase: their names in the trial's
    /// directory and their sizes in bytes.
    pub fn files(&self) -> Vec<(String, u64)> {
        match self {
            Self::Io(io) => io.names().map(|name| (name, io.size_bytes)).collect(),
            Self::Transactions(work) => {
                vec![(DATABASE.to_owned(), work.database_pages * PAGE_BYTES as u64)]
            }
            _ => Vec::new(),
        }
    }

    /// Whether its files record their own history.
    pub const fn has_history(&self) -> bool {
        matches!(self, Self::Replace(_) | Self::Append(_) | Self::Database(_) | Self::Sequences(_))
    }
}

impl Phase {
    /// A phase with this action and no options, with a limit in ns.
    pub fn new(name: &str, action: Action, limit_ns: u64) -> Self {
        let name = name.to_owned();
        Self {
            name,
            action,
            sync: false,
            cold: false,
            reader: false,
            a_day: None,
            limit_ns,
            postponed_ns: 0,
        }
    }

    /// What it does, in a plan's words if its files record their history.
    pub fn work(&self) -> String {
        match &self.action {
            Action::Replace(work) => format!("do = \"replace\", {work}"),
            Action::Append(work) => format!("do = \"append\", {work}"),
            Action::Database(work) => format!("do = \"database\", {work}"),
            Action::Sequences(work) => format!("do = \"sequences\", {work}"),
            _ => format!("name = \"{}\"", self.name),
        }
    }

    /// Whether everything written before it is on the device when it returns.
    pub fn syncs(&self) -> bool {
        let is_sync = matches!(self.action, Action::Sync | Action::Remount);
        self.sync || is_sync || self.action.is_stretch()
    }

    /// How long the device must be idle at its end, if it is a wait.
    pub fn idle(&self) -> Option<Duration> {
        match self.action {
            Action::Idle { quiet_ns } => Some(Duration::from_nanos(quiet_ns)),
            _ => None,
        }
    }

    /// Whether the device must become idle after it. Other phases leave dirty data to the next, and
    /// waiting would measure when the kernel chooses to write.
    pub fn settles(&self) -> bool {
        !self.action.is_stretch() && self.syncs()
            || matches!(self.action, Action::Fstrim | Action::Idle { .. })
    }
}

/// When to stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Repetitions {
    /// Blocks to run before precision is checked.
    pub least: u32,
    /// The maximum number of blocks.
    pub most: u32,
    /// Half the width of an effect's interval, relative to the effect.
    pub precision: f64,
    /// Stop when the trials have taken this long, in ns.
    pub time_ns: Option<u64>,
    /// Stop when this much has been written to the device, in bytes.
    pub written_bytes: Option<u64>,
}

/// The ranking of treatments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranking {
    pub metric: Metric,
    /// The phases it is taken over.
    pub phases: Vec<String>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    pub first_block: u32,
    pub blocks: u32,
    /// The treatments that it is limited to.
    #[serde(rename = "where")]
    pub only: Levels,
    /// What continues to the next step; everything, if none.
    pub keep: Option<Keep>,
}

/// What continues to the next step: the best levels of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    pub factor: Factor,
    /// How many of its levels, for each combination of the other factors' levels.
    pub count: usize,
}

impl Schedule {
    /// The number of a block's draw, if its drives and host are drawn; none for the first block,
    /// which uses those of the files.
    pub fn draw_of(&self, block: u32) -> Option<u32> {
        block.checked_sub(1).filter(|draw| *draw < self.plausible)
    }

    /// The origin of its results.
    pub fn origin(&self) -> Origin {
        self.target.as_ref().map_or(Origin::Imported, |target| Origin::Lab(target.lab()))
    }

    /// Whether its trials run in a lab.
    pub fn is_in(&self, lab: LabKind) -> bool {
        self.origin() == Origin::Lab(lab)
    }

    /// Whether another schedule measures the same things: the same treatments and workload in the
    /// same place, however often.
    pub fn measures_as(&self, other: &Self) -> bool {
        let levels = |schedule: &Self| -> Vec<Levels> {
            schedule.treatments.iter().map(|treatment| treatment.levels.clone()).collect()
        };
        self.target == other.target
            && levels(self) == levels(other)
            && self.workload == other.workload
            && self.scale == other.scale
            && self.cuts == other.cuts
    }

    /// Whether its trials run on a device that each machine has to name.
    pub fn is_without_device(&self) -> bool {
        self.target == Some(Target::Device { path: None })
    }

    /// The setups of all treatments; treatments with unknown levels cannot run and are left out.
    pub fn setups(&self) -> impl Iterator<Item = &Setup> {
        self.treatments.iter().filter_map(|treatment| treatment.setup.as_ref().ok())
    }

    /// The phases of a treatment: the workload's, and a trim at the end for `discard = fstrim`.
    pub fn phases(&self, treatment: usize) -> Vec<Phase> {
        let mut phases = self.workload.phases.clone();
        let level = self.treatments[treatment].levels.0.get(&Factor::Discard);
        if level.is_some_and(|level| level == FSTRIM) {
            let limit_ns = phases.iter().map(|phase| phase.limit_ns).max().unwrap_or(0);
            phases.push(Phase::new(FSTRIM, Action::Fstrim, limit_ns));
        }
        phases
    }

    /// The names of all phases of any treatment, in order.
    pub fn phase_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for treatment in 0..self.treatments.len() {
            for phase in self.phases(treatment) {
                if !names.contains(&phase.name) {
                    names.push(phase.name);
                }
            }
        }
        names
    }

    /// The treatment with exactly these levels.
    pub fn find(&self, levels: &Levels) -> Option<usize> {
        self.treatments.iter().position(|treatment| treatment.levels == *levels)
    }
}

#[cfg(test)]
mod tests;

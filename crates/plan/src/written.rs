//! The plan as a person writes it: TOML, one doc line a key, unset means default.
//!
//! This is only the shape of the file; `resolve` turns it into a schedule in which everything
//! is explicit. Keys this version does not know are refused, so a typo cannot change an
//! experiment silently.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ssdlab_quantity::{Bytes, Share, Span, Words};
use toml::Spanned;

use super::bonnie::{BonnieTest, WrittenBonnie};
use super::cuts::WrittenCuts;
use super::database::WrittenDatabase;
use super::factor::{Factor, Level, Levels};
use super::io::WrittenIo;
use super::lab_kind::LabKind;
use super::live::WrittenLive;
use super::maildir::WrittenMaildir;
use super::reading::ReadOrder;
use super::rotation::WrittenRotate;
use super::sequences::Sequences;
use super::side::WrittenSide;
use super::system::WrittenSystem;
use super::transactions::WrittenTransactions;
use super::versions::{WrittenAppend, WrittenReplace};

mod answer;

pub use answer::{AnswerTable, WrittenAnswer, WrittenCondition, WrittenRemark};

/// A question about filesystems on SSDs, and the experiment that settles it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The name results are filed under: letters, digits, `-` and `_`.
    #[schemars(with = "String")]
    #[schemars(example = &"scheduler")]
    pub name: Spanned<String>,
    /// The question that the experiment is to settle, in one sentence. Here, and in what claims say
    /// and what follows from them, `{filesystem}` is the level of that factor in the run.
    #[schemars(example = &"Does the I/O scheduler matter for unpacking a tree?")]
    pub question: String,
    /// Where the question or the claims come from.
    #[schemars(example = &"A blog post, July 2011")]
    pub source: Option<String>,
    /// The metric the table shows and precision is judged on (default `time_ns`; of work with
    /// pauses or a rate `latency.p99_ns`, and of work that ends after a time, such as a fio job
    /// that is `time_based`, `ops_per_second`).
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"settled_ns")]
    pub metric: Option<Spanned<String>>,
    /// Instead of `metric`: several, of which the first is the plan's metric. Tables show the
    /// others below it.
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(example = ["time_ns","written_bytes"])]
    pub metrics: Option<Spanned<Vec<Spanned<String>>>>,
    /// The lab, instead of `lab` in `[target]`.
    #[schemars(example = &"live")]
    pub lab: Option<LabKind>,
    /// Where the trials run.
    #[serde(default)]
    pub target: WrittenTarget,
    /// Stretches of the running machine's time (live lab).
    #[serde(default)]
    pub live: WrittenLive,
    /// Requirements on the machines that perform shares (`--on slurm`, `--shares`); ignored on one
    /// machine.
    #[serde(default)]
    pub needs: WrittenNeeds,
    /// The factors and their levels: `discard = ["off", "on"]`. A single level fixes a setting.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Factor, OneOrMany>")]
    #[schemars(example = json!({"filesystem":"ext4","discard":["off","on"]}))]
    pub factors: BTreeMap<Factor, Spanned<OneOrMany>>,
    /// Differences in the virtual lab.
    #[serde(default, rename = "virtual")]
    pub simulated: WrittenVirtual,
    /// Treatments listed one by one, beside all combinations of what `[factors]` vary. A treatment
    /// without a level of `mount` or `mkfs` has `defaults`, without one of `discard` `off`. The
    /// first is what the others are compared with, unless there is a `[baseline]`.
    #[serde(default)]
    #[schemars(with = "Vec<Levels>")]
    #[schemars(example = json!([
        {"filesystem":"xfs","mount":"defaults"}, {"filesystem":"ext4","mount":"commit=60"},
    ]))]
    pub treatments: Vec<Spanned<Levels>>,
    /// Combinations of levels to leave out.
    #[serde(default)]
    #[schemars(with = "Vec<Levels>")]
    #[schemars(example = json!([{"filesystem":"xfs","discard":"on"}]))]
    pub exclude: Vec<Spanned<Levels>>,
    /// The levels that all others are compared with. Factors not named here are held constant
    /// within each comparison.
    #[schemars(with = "Option<Levels>")]
    #[schemars(example = json!({"discard":"off"}))]
    pub baseline: Option<Spanned<Levels>>,
    /// The operations to perform on the filesystem; only the live lab can do without.
    #[serde(default)]
    pub workload: WrittenWorkload,
    /// Power cuts in the virtual lab: how many, and how many of the resulting drive states to
    /// examine.
    #[schemars(with = "Option<WrittenCuts>")]
    pub cuts: Option<Spanned<WrittenCuts>>,
    /// How many blocks to run, how precise the results must be, and when to stop.
    #[serde(default)]
    pub repetitions: WrittenRepetitions,
    /// How treatments are ranked (default: in a plan with steps, by the plan's metric over all
    /// phases; otherwise not at all).
    #[schemars(with = "Option<WrittenRanking>")]
    pub ranking: Option<Spanned<WrittenRanking>>,
    /// Narrows the set of treatments step by step; each step runs its own blocks.
    #[serde(default)]
    #[schemars(with = "Vec<WrittenStep>")]
    pub steps: Vec<Spanned<WrittenStep>>,
    /// How the question is answered. A list of claims, as in plans of earlier releases, is read as
    /// `decides`.
    #[schemars(with = "Option<AnswerTable>")]
    #[schemars(example = json!({"decides":["slower"],"yes":"bfq takes {slower.times} as long."}))]
    pub answer: Option<Spanned<WrittenAnswer>>,
    /// Statements to judge.
    #[serde(default)]
    #[schemars(with = "Vec<WrittenClaim>")]
    pub claims: Vec<Spanned<WrittenClaim>>,
    /// Published measurements, shown next to the measured values.
    #[serde(default)]
    #[schemars(with = "Vec<WrittenPublished>")]
    pub published: Vec<Spanned<WrittenPublished>>,
}

/// One level, or a list of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a level or a list of levels; scheduler tunables are a separate factor: \
        scheduler_tunables = \"read_expire=100\""
)]
pub enum OneOrMany {
    /// A setting that every treatment shares.
    One(Level),
    /// Levels that treatments differ in.
    Many(Vec<Level>),
}

impl OneOrMany {
    /// The levels, as words.
    pub fn levels(&self) -> Vec<String> {
        match self {
            Self::One(level) => vec![level.to_string()],
            Self::Many(levels) => levels.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Where the trials run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Target")]
pub struct WrittenTarget {
    /// The lab (default `virtual`); `--lab` overrides it.
    #[schemars(example = &"image")]
    pub lab: Option<LabKind>,
    /// The size of the image file (default 4 GiB).
    #[schemars(example = &"4 GiB")]
    pub size: Option<Bytes>,
}

/// Requirements on a machine that a batch scheduler chooses.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Needs")]
pub struct WrittenNeeds {
    /// The kind of drive: selects Slurm nodes with the feature `ssd=NAME`.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"x25m")]
    pub drive: Option<Spanned<String>>,
    /// Additional features, all of which the node must have.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    #[schemars(example = ["big"])]
    pub features: Vec<Spanned<String>>,
}

/// Differences in the virtual lab.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Simulated")]
pub struct WrittenVirtual {
    /// Factors and levels for simulated drives only, because they would take too long on real ones
    /// or wear them out. In other labs each factor has only its first level.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Factor, OneOrMany>")]
    #[schemars(example = json!({"drive":["x25m-g1","x25m-g2"]}))]
    pub factors: BTreeMap<Factor, Spanned<OneOrMany>>,
    /// Gives every drive this capacity, of at least 100 superblocks, 10 of them spare (default:
    /// each has its own).
    #[schemars(example = &"8 GB")]
    pub capacity: Option<Bytes>,
    /// The number of blocks, each with a seed of its own (default 6, the fewest that decide a
    /// claim): there is no noise to average out, and repeating a seed would repeat every
    /// nanosecond.
    #[schemars(example = 8)]
    pub seeds: Option<u32>,
    /// The number of plausible drives (default 0). Each adds a block, run on drives and a host
    /// whose values are drawn from the ranges and choices that their evidence allows. The first
    /// block uses the values in the drive and host files. If this is given, `seeds` is ignored.
    #[schemars(example = 9)]
    pub plausible: Option<u32>,
}

/// The operations performed on the filesystem, phase by phase.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Workload")]
pub struct WrittenWorkload {
    /// The file tree that `unpack` and `delete` work on.
    pub tree: Option<WrittenTree>,
    /// The build that `clone`, `make` and `clean` perform.
    pub build: Option<WrittenBuild>,
    /// The sizes of Bonnie's tests.
    pub bonnie: Option<WrittenBonnie>,
    /// How long the device must be inactive to count as idle (default 5 ms). Discards that a
    /// filesystem postpones are waited for besides, where a claim or the plan's metric is about
    /// them.
    #[schemars(example = &"50 ms")]
    pub quiet: Option<Span>,
    /// The longest a phase may take before its trial fails (default 30 min).
    #[schemars(example = &"2 h")]
    pub limit: Option<Span>,
    /// Further programs of this machine that commands start: in the virtual lab there are no others
    /// than these, those that `run` and `check` name, and the shared libraries of all of them.
    #[serde(default)]
    #[schemars(example = ["sqlite3"])]
    pub programs: Vec<String>,
    /// The system that commands and the check of power cuts run in: with it they find whatever it
    /// has, not only the programs that are named, and their system calls are watched (virtual lab).
    #[schemars(example = json!({"add":["/opt/database"]}))]
    pub system: Option<WrittenSystem>,
    /// The timed steps, in order.
    #[schemars(with = "Vec<WrittenPhase>")]
    pub phases: Spanned<Vec<Spanned<WrittenPhase>>>,
}

impl Default for WrittenWorkload {
    /// No workload, of a plan that has none.
    fn default() -> Self {
        Self {
            tree: None,
            build: None,
            bonnie: None,
            quiet: None,
            limit: None,
            programs: Vec::new(),
            system: None,
            phases: Spanned::new(0..0, Vec::new()),
        }
    }
}

/// A file tree: generated from a seed in the shape of the kernel sources, with text that compresses
/// to about a third as theirs does, or unpacked from an archive.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tree")]
pub struct WrittenTree {
    /// The number of files in a synthetic tree (default 36706, as in the sources of Linux 2.6.39).
    #[schemars(example = 10000)]
    pub files: Option<u64>,
    /// The total size of these files (default 493 MB).
    #[schemars(example = &"130 MB")]
    pub size: Option<Bytes>,
    /// A tar archive (.tar, .gz, .xz, .zst) to unpack instead; `--source` overrides it.
    #[schemars(example = &"linux.tar.xz")]
    pub archive: Option<PathBuf>,
}

/// A build: the file operations of a kernel build, or a real one.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Build")]
pub struct WrittenBuild {
    /// The number of files in the synthetic source tree (default 26700, about as many as in Linux
    /// 2.6.29).
    #[schemars(example = 5000)]
    pub files: Option<u64>,
    /// The total size of these files (default 340 MB).
    #[schemars(example = &"60 MB")]
    pub size: Option<Bytes>,
    /// A git repository to clone, build and clean instead; `--source` overrides it.
    #[schemars(example = &"zstd")]
    pub repository: Option<PathBuf>,
    /// The command that the `make` phase runs in a repository (default `make -j2`).
    #[schemars(example = &"make -j4")]
    pub make: Option<Words>,
    /// The command that the `clean` phase runs in a repository (default `make clean`).
    #[schemars(example = ["make","clean"])]
    pub clean: Option<Words>,
}

/// A timed step of the workload.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Phase")]
pub struct WrittenPhase {
    /// Its name in tables and results (default: what it does).
    #[schemars(example = &"read again")]
    pub name: Option<String>,
    /// What it does.
    #[serde(rename = "do")]
    #[schemars(example = &"unpack")]
    pub verb: Verb,
    /// Whether the phase ends with a sync of the filesystem, which is timed (default false).
    #[serde(default)]
    #[schemars(example = true)]
    pub sync: bool,
    /// Whether the filesystem is unmounted and mounted again before the phase, untimed, so that
    /// nothing is cached (default false, but true for those of Bonnie's tests that read the large
    /// file; the directory lab only drops the file from the cache).
    #[schemars(example = true)]
    pub cold: Option<bool>,
    /// Whether a small reader runs concurrently until the device is idle; its latencies are metrics
    /// (`reader.p99_ns`; default false; not in the directory lab).
    #[serde(default)]
    #[schemars(example = true)]
    pub reader: bool,
    /// How many times a day the phase runs in real use; a simulated drive's lifetime in years is
    /// computed from it (`years_by_bytes`).
    #[schemars(example = 0.5)]
    pub a_day: Option<f64>,
    /// `command`: the program and its arguments; it starts in the trial's directory.
    #[schemars(example = &"tar xf /srv/linux.tar")]
    pub run: Option<Words>,
    /// `command`: environment variables to add.
    #[schemars(example = json!({"LC_ALL":"C"}))]
    pub env: Option<BTreeMap<String, String>>,
    /// `fio`: the job file.
    #[schemars(example = &"random.fio")]
    pub job: Option<PathBuf>,
    /// `bonnie`: its tests (default: all twelve); each becomes a phase of its own.
    #[schemars(example = ["seq_output_block","random_seek"])]
    pub tests: Option<Vec<BonnieTest>>,
    /// `replay`: the operation log, a file or the name of one that is shipped (`zstd-clone`,
    /// `zstd-make`, `zstd-clean`, `kine`, `desktop`).
    #[schemars(example = &"zstd-make")]
    pub log: Option<PathBuf>,
    /// `io`: the files, and what is read and written.
    pub io: Option<WrittenIo>,
    /// `transactions`: the database, and what is committed.
    pub transactions: Option<WrittenTransactions>,
    /// `replace`: the files, and what is synced.
    pub replace: Option<WrittenReplace>,
    /// `append`: the records, and when they are synced.
    pub append: Option<WrittenAppend>,
    /// `database`: its size, and what is committed.
    pub database: Option<WrittenDatabase>,
    /// `sequences`: how many operations they have.
    pub sequences: Option<Sequences>,
    /// `read`: the order of the files (default `directory`).
    #[schemars(example = &"random")]
    pub order: Option<ReadOrder>,
    /// `maildir`: the messages, and how they are delivered.
    pub maildir: Option<WrittenMaildir>,
    /// `rotate`: the log, and when it is rotated.
    pub rotate: Option<WrittenRotate>,
    /// `idle`: how long the device must be inactive (default: the workload's `quiet`). The wait
    /// itself is not counted as time until the device was quiet.
    #[schemars(example = &"1 s")]
    pub quiet: Option<Span>,
    /// The longest it may take before the trial fails (default: the workload's `limit`).
    #[schemars(example = &"10 min")]
    pub limit: Option<Span>,
}

/// What a phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Makes the tree's directories and files.
    Unpack,
    /// Reads every file of the tree from its beginning to its end, each timed.
    Read,
    /// Deletes everything, as `rm -rf` does.
    Delete,
    /// Syncs the filesystem.
    Sync,
    /// Trims all free space.
    Fstrim,
    /// Waits until the device is quiet.
    Idle,
    /// Unmounts the filesystem, drops the device's caches and mounts it again.
    Remount,
    /// Clones the repository.
    Clone,
    /// Builds the cloned sources.
    Make,
    /// Removes what the build made.
    Clean,
    /// Runs a program.
    Command,
    /// Runs fio.
    Fio,
    /// Performs Bonnie's tests.
    Bonnie,
    /// Reads and writes files, each operation timed.
    Io,
    /// Commits small transactions as `SQLite` does, each timed.
    Transactions,
    /// Replays a program's file operations from a log made by `ssdlab record`.
    Replay,
    /// Replaces files by renaming new ones over them.
    Replace,
    /// Appends records to a file.
    Append,
    /// Commits as a database server does: into a log, each timed, and at checkpoints into pages.
    Database,
    /// Performs every short sequence of operations on a few names, each ended by a sync.
    Sequences,
    /// Delivers messages into Maildirs, each timed, and fetches them by POP3.
    Maildir,
    /// Appends records to a log, each timed, and rotates it as logrotate does.
    Rotate,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// How many blocks to run, how precise the results must be, and when to stop. A block is one trial
/// of every treatment.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Repetitions")]
pub struct WrittenRepetitions {
    /// The number of blocks to run before a run may end because it is precise (default 10, and no
    /// fewer; six decide a claim).
    #[schemars(example = 10)]
    pub least: Option<u32>,
    /// The maximum number of blocks (default 20).
    #[schemars(example = 20)]
    pub most: Option<u32>,
    /// Stop when half the width of every effect's confidence interval, relative to the effect, was
    /// at most this four blocks ago (default 5 %).
    #[schemars(example = &"5 %")]
    pub precision: Option<Share>,
    /// Stop when the trials have taken this long (default: no limit).
    #[schemars(example = &"2 h")]
    pub time: Option<Span>,
    /// Stop when this much has been written to the device (default: no limit).
    #[schemars(example = &"1 TB")]
    pub written: Option<Bytes>,
}

/// What treatments are ranked by.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Ranking")]
pub struct WrittenRanking {
    /// The metric (default: the plan's).
    #[schemars(example = &"ops_per_second")]
    pub metric: Option<String>,
    /// The phases it is taken over (default: all).
    #[schemars(example = ["random_seek"])]
    pub phases: Option<Vec<String>>,
}

/// A step of a run that narrows the choice.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Step")]
pub struct WrittenStep {
    /// Its name in the report.
    #[schemars(example = &"filesystems")]
    pub name: String,
    /// The levels to which the step is limited, in addition to the selection made by earlier steps.
    #[serde(default, rename = "where")]
    #[schemars(example = json!({"scheduler":"none"}))]
    pub only: Levels,
    /// How many levels of a factor advance to the next step: the best in the ranking, for each
    /// combination of the other factors' levels.
    #[schemars(example = json!({"filesystem":3}))]
    pub keep: Option<BTreeMap<Factor, usize>>,
}

/// A statement about an effect, to be judged.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim")]
pub struct WrittenClaim {
    /// A short name: letters, digits, `-` and `_`.
    #[schemars(example = &"bfq-slower")]
    pub id: String,
    /// The claim in words.
    #[schemars(example = &"bfq makes unpacking slower than none")]
    pub says: String,
    /// The metric it is about (default: the plan's).
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"settled_ns")]
    pub metric: Option<Spanned<String>>,
    /// The phases it is about; their sum is compared. Required, unless the claim compares phases.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    #[schemars(example = ["unpack"])]
    pub phases: Vec<Spanned<String>>,
    /// The levels whose effect it states. To compare two phases of each trial, name one here and
    /// the other in `against`, alone or beside levels: `compare = { phase = "fdatasync" }`,
    /// `against = { phase = "fsync" }`.
    #[serde(default)]
    #[schemars(example = json!({"scheduler":"bfq"}))]
    pub compare: WrittenSide,
    /// Instead of `compare`: the levels that the claim says are better than all others of the same
    /// factors, by a factor of at least `at_least` if that is given.
    #[schemars(example = json!({"filesystem":"ext4"}))]
    pub best: Option<Levels>,
    /// With `best`: the levels that compete, by factor (default: all of the plan's).
    #[serde(default)]
    #[schemars(example = json!({"filesystem":["ext2","ext4","xfs"]}))]
    pub among: BTreeMap<Factor, Vec<String>>,
    /// The levels they are compared with (default: the plan's baseline), or the other phase. If the
    /// bounds are amounts, nothing is compared.
    #[schemars(example = json!({"scheduler":"mq-deadline"}))]
    pub against: Option<WrittenSide>,
    /// The treatments it is limited to.
    #[serde(default, rename = "where")]
    #[schemars(example = json!({"filesystem":"ext4"}))]
    pub only: Levels,
    /// Compare not the metric but its excess over the same treatment with these levels.
    #[schemars(example = json!({"journal":"off"}))]
    pub excess_over: Option<Levels>,
    /// The claim holds if the ratio is at least this or, given an amount such as `"3 min"`, if the
    /// metric itself is.
    #[schemars(example = 1.05)]
    pub at_least: Option<Bound>,
    /// It holds if the ratio, or the metric, is at most this.
    #[schemars(example = &"6 min")]
    pub at_most: Option<Bound>,
    /// The setting to recommend if the claim holds.
    #[schemars(example = &"Mount without discard.")]
    pub if_holds: Option<String>,
    /// The setting to recommend if the claim is refuted.
    #[schemars(example = &"Mount with discard.")]
    pub if_refuted: Option<String>,
    /// The value that the source states, written in the same form as the bounds.
    #[schemars(example = &"64")]
    pub published: Option<Bound>,
    /// Why the virtual lab's verdict is not independent evidence: the part of its models from which
    /// the claim follows, such as a value fitted to the same observation.
    #[schemars(example = &"the cost of a discard was fitted to it")]
    pub by_construction: Option<String>,
    /// Why a lab cannot test it, by lab; it gets no verdict there.
    #[serde(default)]
    #[schemars(example = json!({"virtual":"the lab kernel has no cfq"}))]
    pub not_testable: BTreeMap<LabKind, String>,
    /// What was already known about the results when the claim was made or changed, if anything.
    #[schemars(example = &"made after a smaller run")]
    pub exploratory: Option<String>,
}

/// Values measured by others.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Published")]
pub struct WrittenPublished {
    /// The treatments next to which these values are shown.
    #[serde(default, rename = "where")]
    #[schemars(example = json!({"discard":"on"}))]
    pub only: Levels,
    /// The plan's metric in phases: a time, a size or a number.
    #[schemars(example = json!({"sync_deleted":"40.4 s"}))]
    pub values: BTreeMap<String, Bound>,
    /// The phases to whose values a model or the workload was fitted, so that a match is not a
    /// prediction.
    #[serde(default)]
    #[schemars(example = ["fstrim"])]
    pub fitted: BTreeSet<String>,
}

/// A bound of a claim.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a ratio, or a text with a unit: 0.5, \"3 min\", \"5 %\"")]
pub enum Bound {
    /// Of a ratio.
    Ratio(f64),
    /// Of the metric itself, in its unit: a time, a size, years, or the number alone of what has
    /// none.
    Amount(String),
}

#[cfg(test)]
mod tests;

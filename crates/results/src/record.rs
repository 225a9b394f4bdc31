//! The record of one trial: what ran, and the raw measurements, in units that field names end in.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::{Draw, DriveSample, FlashActivity, WearSummary};
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::environment::Environment;
use ssdlab_host::meter::smart::Smart;
use ssdlab_operations::calls::ProgramActivity;
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Levels, Origin, Schedule};

use super::attempt_id::AttemptId;
use super::ledger::Ledger;
use super::work::Work;

/// The version of `records.jsonl` that this program writes, and the newest it reads.
pub const RECORD_SCHEMA: u32 = 1;

/// One trial's result.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The version of this format.
    pub schema: u32,
    /// Which trial it was.
    pub trial: Trial,
    /// What of the drive and the host was drawn (`host.` before keys of the host's file); absent on
    /// the published drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// The treatment's levels.
    pub levels: Levels,
    /// Where it ran.
    pub lab: Origin,
    /// Where it was imported from; absent if ssdlab itself measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// How it ended.
    pub status: TrialStatus,
    /// Why, unless it succeeded.
    pub reason: Option<String>,
    /// Equal for trials that were identical to the bit; only virtual time makes that possible.
    pub fingerprint: Option<String>,
    /// The attempt, if it was run as part of a share; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Attempt>,
    /// When it started, in seconds since 1970; 0 if an imported file does not say.
    pub started_s: u64,
    /// How long it took including preparation, in ns; 0 if it was imported, like the bytes below.
    pub took_ns: u64,
    /// The result of ageing, if the filesystem was aged.
    #[serde(default)]
    pub aged: Option<AgeingRecord>,
    /// Bytes written to the device over the whole trial, including mkfs, prefill and unmounting;
    /// for a cached aged filesystem, from its copy on.
    pub written_bytes: u64,
    /// Bytes written before the first phase although everything was synced: background work of mkfs
    /// or the mount.
    pub background_written_bytes: u64,
    /// What the device did from the start of the trial to that of the first phase; absent without a
    /// device of our own.
    #[serde(default)]
    pub before: Option<Counters>,
    /// What was measured, phase by phase.
    pub phases: Vec<PhaseRecord>,
    /// What unmounting wrote.
    pub teardown: Option<Teardown>,
    /// The history of a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveCourse>,
    /// The outcome of each power cut, one for each examined state, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<CutOutcome>,
    /// Every setting as the kernel reported it.
    pub applied: BTreeMap<String, String>,
    /// The results of checking the filesystem's stated features, in trials that checked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, String>,
    /// The machine.
    pub environment: Environment,
    /// The drive's own counters before and after, if it has them.
    pub smart: Option<[Smart; 2]>,
}

/// An attempt by a machine to run a share of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Its unique id: the number of shares and the share, `SHARES_SHARE`, or `SHARES_SHARE_START`
    /// if the share was started again.
    pub id: AttemptId,
    /// The batch scheduler's name of the node, or the machine's host name.
    pub node: String,
}

/// Where a record was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The file, as named on the command line.
    pub file: String,
    /// The SHA-256 of its contents, in hex.
    pub sha256: String,
    /// The program that made it.
    pub program: String,
    /// Its version, if the file says it.
    pub version: Option<String>,
    /// Whether positions are the order in which trials ran; otherwise, they are the order in the
    /// file.
    pub is_order_known: bool,
    /// What the file says about how each phase was done.
    pub told: BTreeMap<String, StatedMethod>,
}

/// What a program's output says about how a phase was done; what it does not say is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Told")]
pub struct StatedMethod {
    /// Whether anything was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Whether what was written had left the page cache when the clock stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<bool>,
    /// Whether I/O bypassed the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_direct: Option<bool>,
    /// The size of the files worked on, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Its duration, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// Whether it was too fast to be measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_too_fast: bool,
    /// Whether the program looked for a steady state and found one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_steady: Option<bool>,
    /// Its options, by the program's names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Status")]
pub enum TrialStatus {
    /// It was measured.
    #[default]
    Ok,
    /// It cannot run on this machine.
    Unavailable,
    /// An error occurred.
    Failed,
    /// It ran, but two counts of the same thing disagree.
    Void,
}

impl fmt::Display for TrialStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every interval is as narrow as requested.
    Precise,
    /// All planned blocks have run.
    AllBlocks,
    /// The budget of time is spent.
    TimeSpent,
    /// The budget of bytes written is spent.
    BytesSpent,
    /// No treatment can run here.
    NothingRuns,
    /// Only one treatment can run here, and has.
    NothingToCompare,
    /// It was interrupted (or is still running) and can be resumed.
    Interrupted,
}

/// The measurements of one phase. Counts are the device's until it was quiet, and absent without a
/// device of our own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Phase")]
pub struct PhaseRecord {
    /// The phase.
    pub name: String,
    /// Time until it returned, in ns; like the next three, absent only if it was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Time until the device was quiet, without the pauses in which it was idle, in ns; equal to
    /// `time_ns` for a phase that leaves its dirty data to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_ns: Option<u64>,
    /// Whether the device fell quiet before the wait timed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_quiet: Option<bool>,
    /// Processor time of the workload, user and system, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Processor time of kernel threads until the device was quiet, in ns; absent, like the next,
    /// where the kernel does not tell whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_threads_ns: Option<u64>,
    /// Processor time of interrupts until the device was quiet, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupts_ns: Option<u64>,
    /// Bytes the workload passed to write(2); absent if an external program did the writing.
    pub application_bytes: Option<u64>,
    /// What the device did until it was quiet.
    #[serde(flatten)]
    pub device: Option<Counters>,
    /// What the device had done when the phase returned.
    pub at_return: Option<Counters>,
    /// What the flash of a simulated drive did until it was quiet.
    #[serde(flatten)]
    pub flash: Option<FlashActivity>,
    /// What ext4 itself reports to have written, in KiB.
    pub lifetime_kib: Option<u64>,
    /// Transactions committed by the journal of ext3 or ext4.
    pub commits: Option<u64>,
    /// The workload's own count of operations.
    #[serde(flatten)]
    pub work: Option<Work>,
    /// What a program reported about itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reported: BTreeMap<Metric, f64>,
    /// What the programs of a command in a system did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramActivity>,
    /// A caveat about the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Where the bytes written come from; absent without a device of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
}

/// The result of ageing a filesystem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Aged")]
pub struct AgeingRecord {
    /// The hash of the state: equal for trials that started from the same one; absent if it was
    /// aged in place.
    pub state: Option<String>,
    /// The share of blocks of aged files, except each file's first, that directly follow their
    /// predecessor; absent if the filesystem does not report block locations.
    pub layout_score: Option<f64>,
    /// Rounds of writing and deleting; the first four fill the filesystem.
    pub rounds: u32,
    /// Bytes written to files in these rounds.
    pub written_bytes: u64,
    /// Files that remain.
    pub files: u64,
    /// Whether the requested layout score was reached; absent if none was requested or it is
    /// unknown.
    pub is_at_target: Option<bool>,
}

/// What unmounting did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Teardown {
    /// How long it took, in ns.
    pub time_ns: u64,
    /// What the device did.
    #[serde(flatten)]
    pub device: Counters,
}

impl Record {
    /// The empty record of a trial; `started_s` is in seconds since 1970.
    pub fn new(schedule: &Schedule, trial: Trial, started_s: u64) -> Self {
        Self { started_s, ..Self::default() }.for_trial(schedule, trial)
    }

    /// The same measurements as those of a trial.
    #[must_use]
    pub fn for_trial(self, schedule: &Schedule, trial: Trial) -> Self {
        Self {
            schema: RECORD_SCHEMA,
            trial,
            levels: schedule.treatments[trial.treatment].levels.clone(),
            lab: schedule.origin(),
            ..self
        }
    }
}

/// A simulated drive from the first phase of a trial to its end. The lists are parallel: the nth
/// values of all belong to the nth moment, of which there are a few dozen at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveCourse {
    /// When each phase began, in ns since the first one did.
    pub phases_ns: BTreeMap<String, u64>,
    /// The moments, in ns since the first phase began.
    pub at_ns: Vec<u64>,
    /// Erased blocks (or superblocks, if it has them) ready to be written.
    pub free_blocks: Vec<u32>,
    /// Bytes in pages written by the host since the first moment.
    pub host_page_bytes: Vec<u64>,
    /// Bytes programmed since the first moment, for the host and for the drive's own work.
    pub flash_written_bytes: Vec<u64>,
    /// How long the host's pages had waited since the first moment for dies busy with the drive's
    /// own work, summed over pages, in ns.
    pub stalled_ns: Vec<u64>,
    /// Its wear at the end, including its life before the trial.
    pub wear: WearSummary,
}

impl DriveCourse {
    /// The course of a drive from its moments, the first of which is the start of the first phase,
    /// the start of each phase, and its wear at the end. `None` without a moment.
    pub fn of(
        moments: &[DriveSample],
        phases_ns: BTreeMap<String, u64>,
        wear: WearSummary,
    ) -> Option<Self> {
        let first = moments.first()?;
        let grown = |of: fn(&DriveSample) -> u64| {
            moments.iter().map(|moment| of(moment).saturating_sub(of(first))).collect()
        };
        Some(Self {
            phases_ns,
            at_ns: moments.iter().map(|moment| moment.at_ns).collect(),
            free_blocks: moments.iter().map(|moment| moment.free_blocks).collect(),
            host_page_bytes: grown(|moment| moment.host_page_bytes),
            flash_written_bytes: grown(|moment| moment.flash_written_bytes),
            stalled_ns: grown(|moment| moment.stalled_ns),
            wear,
        })
    }
}

/// What the lab kernel executed in a phase.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// The phase.
    pub phase: String,
    /// The basic blocks of each function that were executed.
    pub functions: BTreeMap<String, u64>,
}

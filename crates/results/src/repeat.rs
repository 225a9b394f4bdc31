//! The outcome of a repeated power cut, compared with its record.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_operations::calls::{FileCall, Unsynced};
use ssdlab_operations::cuts::{
    CutMoment, CutOutcome, CutVerdict, ExpectedVersions, FileOperation, FileState, Finding,
    FsckResult,
};
use ssdlab_plan::{DRIVE_IDENTITY, LAB_KERNEL, Levels, SyncRemedy};

use super::record::Record;

/// The version of what `ssdlab cut --json` prints.
pub const REPEAT_SCHEMA: u32 = 2;

/// A power cut of a run that was made again.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Repeat")]
pub struct RepeatedCut {
    /// The version of this format.
    pub schema: u32,
    /// The run's name.
    pub run: String,
    /// The trial's place in the run, from 0.
    pub trial: u32,
    /// The treatment's levels.
    pub levels: Levels,
    /// Whether the repeated trial was bit-for-bit identical and its cut had the recorded outcome;
    /// if other requests were chosen to be lost, whether it was at the recorded time.
    pub agrees: bool,
    /// Whether what is lost was chosen, and not drawn as in the record.
    pub chosen: bool,
    /// Whether the repeated trial was bit-for-bit identical to the recorded one.
    pub same_trial: bool,
    /// What changed in the software and the drive between the record and the repeat.
    pub changes: Vec<ChangedInput>,
    /// The record.
    pub recorded: CutOutcome,
    /// What the repeat found.
    pub repeated: CutOutcome,
    /// The state of the drive's requests at the cut.
    pub drive: AtRisk,
    /// The SHA-256 of what the drive holds after the cut, in hex: of its 4 KiB pages that are not
    /// all zeros, in order, each after its offset in bytes, and of the capacity after the last;
    /// both as 64 bits, little-endian.
    pub contents_sha256: String,
    /// The drive's capacity, in bytes.
    pub image_bytes: u64,
    /// The workload's files; none if the filesystem could not be mounted.
    pub files: Vec<FileAfter>,
    /// The operations on files and the requests at risk, in the order of time.
    pub course: Vec<CourseEvent>,
}

/// The version of what `ssdlab cut --shrink --json` prints.
pub const SHRINK_SCHEMA: u32 = 1;

/// A finding, with the smallest workload in which it was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Shrink {
    /// The version of this format.
    pub schema: u32,
    /// The finding.
    pub finding: Finding,
    /// The phases of the run, in a plan's words.
    pub from: Vec<String>,
    /// The phases of the smallest workload.
    pub to: Vec<String>,
    /// The trials of smaller workloads that were performed.
    pub trials: u32,
    /// Whether no smaller workload of those that were tried has it; if not, trials ran out.
    pub is_least: bool,
    /// The power cuts of the trial with the smallest workload, which is a run of its own.
    pub cuts: u64,
    /// How many of them have the finding.
    pub found: u64,
    /// The first of them; requests that are lost are as few as possible.
    pub repeat: RepeatedCut,
    /// The command that repeats it.
    pub command: String,
}

/// Something that happened before a cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct CourseEvent {
    /// When, in ns since the trial began.
    pub at_ns: u64,
    /// What.
    #[serde(flatten)]
    pub what: CourseEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CourseEventKind {
    /// A step of an operation on a file.
    #[serde(rename = "deed")]
    FileOperation(FileOperation),
    /// A program of the workload printed this line.
    Said(String),
    /// A request to the drive was submitted that was at risk when the power failed.
    Request(RequestAtRisk),
}

/// A request that was at risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestAtRisk {
    /// Its number in the log of requests, from 0.
    pub number: u64,
    /// The command: `write`, `discard` or `write-zeroes`.
    pub command: &'static str,
    /// Where it begins, in bytes.
    pub offset_bytes: u64,
    /// Its bytes.
    pub length_bytes: u64,
    /// Whether the drive had acknowledged it.
    pub acknowledged: bool,
    /// Whether something of it is lost.
    pub lost: bool,
}

/// What the record and its repeat were made with, where that is not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Change")]
pub struct ChangedInput {
    /// What has changed: `ssdlab`, `lab_kernel`, `drive_identity` or `tools`.
    pub of: String,
    /// With what the record was made; absent if it does not say.
    pub recorded: Option<String>,
    /// With what the repeat was made.
    pub repeated: Option<String>,
}

/// What a drive had of its requests when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtRisk {
    /// The requests that had been submitted.
    pub requests: u64,
    /// The writes that were acknowledged and of which something was not safe.
    pub volatile: u64,
    /// What was not safe of them, in bytes; what was written twice counts twice.
    pub volatile_bytes: u64,
    /// The writes that were not acknowledged yet.
    pub under_way: u64,
    /// Their bytes.
    pub under_way_bytes: u64,
    /// The bytes of the drive that hold an older version than the newest that was submitted.
    pub older_bytes: u64,
}

/// A file of the workload after a cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileAfter {
    /// Its name in the trial's directory.
    pub name: String,
    /// What it was to be.
    pub expected: ExpectedVersions,
    /// What was found.
    pub found: FileState,
    /// What follows of this file.
    pub verdict: CutVerdict,
}

impl ChangedInput {
    /// The relevant differences in how two records of one trial were made.
    pub fn between(recorded: &Record, repeated: &Record) -> Vec<Self> {
        let applied = |record: &Record, key: &str| record.applied.get(key).cloned();
        let tools = |record: &Record| Some(record.environment.tools.join(", "));
        let program = |record: &Record| Some(record.environment.ssdlab.clone());
        let of = |of: &str, [recorded, repeated]: [Option<String>; 2]| {
            (recorded != repeated).then(|| Self { of: of.to_owned(), recorded, repeated })
        };
        let both = [recorded, repeated];
        let changes = [
            of("ssdlab", both.map(program)),
            of(LAB_KERNEL, both.map(|record| applied(record, LAB_KERNEL))),
            of(DRIVE_IDENTITY, both.map(|record| applied(record, DRIVE_IDENTITY))),
            of("tools", both.map(tools)),
        ];
        changes.into_iter().flatten().collect()
    }
}

/// What explains a finding.
#[derive(Debug, Clone)]
pub struct CrashCause {
    /// What no sync had made durable at the cut.
    pub unsynced: Unsynced,
    /// The last line that had been printed by then.
    pub said: Option<String>,
    /// A sync that had failed before, after which the program went on, if nothing is found where no
    /// request fails.
    pub ignored: Option<FileCall>,
    /// The sync that makes it vanish, if one does.
    pub remedy: Option<TriedRemedy>,
}

/// A sync without which something is lost, and with which it was not.
#[derive(Debug, Clone)]
pub struct TriedRemedy {
    /// Which.
    pub remedy: SyncRemedy,
    /// After how many cuts nothing was lost with it.
    pub cuts: u32,
    /// What it would have made durable at the cut.
    pub of: String,
    /// The call after which, or before which, it is made.
    pub call: Option<FileCall>,
    /// Whether the program makes this sync itself, but later.
    pub is_late: bool,
}

/// The version of what `ssdlab cut --device-log --json` prints.
pub const DEVICE_CUT_SCHEMA: u32 = 2;

/// What came of one survivor of one cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceCase {
    /// The cut, from 0, in the order of the log.
    pub cut: u32,
    /// Which of the states that it may leave, from 0.
    pub survivor: u32,
    /// The entry of the log in which the power was cut, from 0; marks are entries.
    pub entry: u64,
    /// The last mark before that; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// How the moment was chosen.
    pub moment: CutMoment,
    /// What the filesystem's own check said of it as the cut had left it, before it was mounted;
    /// absent if it has no check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_before: Option<FsckResult>,
    /// Why the filesystem could not be mounted; absent if it could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmountable: Option<String>,
    /// How long mounting took, in ns; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<u64>,
    /// What the filesystem's own check found amiss after that; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<String>,
    /// Whether that check was not run: the filesystem has none, or the kernel had died.
    pub unchecked: bool,
}

/// One survivor of one cut, with what the drive had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceCut {
    /// The version of this format.
    pub schema: u32,
    /// The outcome.
    #[serde(flatten)]
    pub case: DeviceCase,
    /// The state of the drive's requests at the cut.
    pub drive: AtRisk,
    /// The SHA-256 of what the drive holds after the cut, in hex: of its 4 KiB pages that are not
    /// all zeros, in order, each after its offset in bytes, and of the capacity after the last;
    /// both as 64 bits, little-endian.
    pub contents_sha256: String,
    /// The drive's capacity, in bytes.
    pub image_bytes: u64,
}

//! What a check finds.

use schemars::JsonSchema;
use serde::Serialize;

/// The checks, by the names that programs see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckName {
    /// Whether the machine's drives are its own.
    Host,
    /// Whether barriers are on.
    Barriers,
    /// Whether the kernel and the drive agree on the write cache.
    WriteCache,
    /// Whether the drive is at its end.
    Wear,
    /// Whether discards get through every layer.
    TrimPath,
    /// Whether anything sends discards.
    TrimSchedule,
    /// Whether discards of swap cost more than they bring.
    SwapDiscard,
    /// Whether reads write.
    AccessTimes,
    /// How often a filesystem commits.
    CommitInterval,
    /// How often a home automation's recorder commits.
    RecorderCommits,
    /// How often the system's log is synced.
    LogSync,
    /// Whether a filesystem lies in an image on btrfs.
    ImageOnBtrfs,
    /// Whether space is left.
    FreeSpace,
    /// Whether partitions begin at whole pages.
    Alignment,
}

/// What is to be done about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Something is to be done here.
    ToDo,
    /// It is set on the host of this virtual machine or container, and can only be done there.
    OnTheHost,
}

/// What an advice rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdviceGrade {
    /// The machine or the documentation of what it runs says so.
    Fact,
    /// A shipped plan finds so on simulated drives.
    Lab,
}

/// Something about the machine that could be better.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetupFinding {
    /// The check that found it.
    pub id: CheckName,
    /// The mount point, drive or file that it is about.
    pub subject: String,
    /// Whether something is to be done, and where.
    pub state: FindingState,
    /// What the advice rests on.
    pub grade: AdviceGrade,
    /// What is, and why it matters.
    pub why: String,
    /// What to do: a command, or a line for a file.
    #[serde(rename = "do")]
    pub remedy: String,
    /// What doing it may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
}

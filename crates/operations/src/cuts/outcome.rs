//! The outcome of a cut.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_state::FileState;
use super::history::CutVerdict;

/// How a cut's moment was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Moment")]
pub enum CutMoment {
    /// At the beginning or the end of a flush, at a promise, or when a request came or was done.
    Event,
    /// At any time, each as likely as any other.
    Random,
}

/// A kind of harm that a cut may do, the worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Something is gone that was promised.
    BrokenPromise,
    /// The plan's own check rejects the data.
    Rejected,
    /// A file is damaged.
    Damaged,
    /// The filesystem cannot be mounted.
    Unmountable,
    /// The filesystem's own check finds something amiss.
    Amiss,
}

impl Finding {
    /// Every kind, the worst first.
    pub const ALL: [Self; 5] =
        [Self::BrokenPromise, Self::Rejected, Self::Damaged, Self::Unmountable, Self::Amiss];
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BrokenPromise => "a broken promise",
            Self::Rejected => "data that the plan's check rejects",
            Self::Damaged => "a damaged file",
            Self::Unmountable => "an unmountable filesystem",
            Self::Amiss => "a check that fails",
        })
    }
}

/// What the plan's own check says of the data that survived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Data")]
pub enum DataVerdict {
    /// It ended with exit status 0.
    Accepted,
    /// It ended otherwise; how, and the end of what it printed.
    Rejected(String),
}

/// What the filesystem's own check says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Checked")]
pub enum FsckResult {
    /// Nothing is amiss.
    Sound,
    /// Something is; the last of what it found.
    Amiss(String),
}

impl From<Result<(), String>> for FsckResult {
    fn from(said: Result<(), String>) -> Self {
        said.map_or_else(Self::Amiss, |()| Self::Sound)
    }
}

/// The recovery of a filesystem from the contents of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// What the filesystem's own check said before it was mounted, of a copy; none if it has no
    /// check.
    pub checked_before: Option<FsckResult>,
    /// How long mounting took, in ns of virtual time, or why it failed.
    pub mounted: Result<u64, String>,
    /// The state of each file, if it could be mounted.
    pub found: Vec<FileState>,
    /// What the check said after that; none if it was not run.
    pub checked: Option<FsckResult>,
    /// What the plan's check says, if there is one and the filesystem could be mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataVerdict>,
}

/// What came of one survivor of one cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub struct CutOutcome {
    /// The cut, from 0, in the order of time.
    pub cut: u32,
    /// Which of the states that it may leave, from 0.
    pub survivor: u32,
    /// Which of the different states of the drive that the trial's cuts left, from 0: cuts between
    /// which nothing changed leave the same. Absent in records of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<u32>,
    /// When the power was cut, in ns since the trial began.
    pub at_ns: u64,
    /// How the moment was chosen.
    pub moment: CutMoment,
    /// The phase at that time.
    pub phase: String,
    /// What the filesystem's own check said of it as the cut had left it, before the journal was
    /// replayed; absent if it has no check, and in records of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_before: Option<FsckResult>,
    /// Why the filesystem could not be mounted; absent if it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmountable: Option<String>,
    /// How long mounting took, in ns; absent if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<u64>,
    /// What the filesystem's own check found amiss after that; absent if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amiss: Option<String>,
    /// Whether that check was not run: the filesystem has none, or the kernel had died.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// Operations on files that had been done by then and were not promised to last, so that they
    /// may be lost; absent if no file records its history, and in records of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpromised: Option<u32>,
    /// What the cut did to the files; absent if the filesystem could not be mounted, or if no file
    /// records its history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<CutVerdict>,
    /// What the plan's own check says of the data; absent if there is none, or if the filesystem
    /// could not be mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataVerdict>,
}

impl CutOutcome {
    /// Whether it has this finding; none if nobody could look: at the files of a filesystem that
    /// could not be mounted, or where there is no check.
    pub fn has(&self, finding: Finding) -> Option<bool> {
        let files = self.verdict.as_ref();
        match finding {
            Finding::BrokenPromise => files.map(|files| files.broken_promises > 0),
            Finding::Rejected => {
                self.data.as_ref().map(|data| matches!(data, DataVerdict::Rejected(_)))
            }
            Finding::Damaged => files.map(|files| !files.damaged.is_empty()),
            Finding::Unmountable => Some(self.unmountable.is_some()),
            Finding::Amiss => (!self.unchecked).then_some(self.amiss.is_some()),
        }
    }

    pub fn worst(&self) -> Option<Finding> {
        Finding::ALL.into_iter().find(|finding| self.has(*finding) == Some(true))
    }

    /// Whether two recoveries from one cut found the same, except for the mount time and the
    /// wording of a check or a kernel panic, which depend on what else the guest had done, and what
    /// earlier releases did not record.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let wordless = |outcome: &Self| Self {
            unmountable: outcome.unmountable.as_ref().map(|_| String::new()),
            amiss: outcome.amiss.as_ref().map(|_| String::new()),
            unchecked: false,
            recovery_ns: None,
            state: None,
            unpromised: None,
            checked_before: None,
            data: outcome.data.as_ref().map(|data| match data {
                DataVerdict::Accepted => DataVerdict::Accepted,
                DataVerdict::Rejected(_) => DataVerdict::Rejected(String::new()),
            }),
            ..outcome.clone()
        };
        wordless(self) == wordless(other)
    }
}

#[cfg(test)]
mod tests;

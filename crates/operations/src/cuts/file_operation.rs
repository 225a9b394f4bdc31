//! The steps of a workload's operations on files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::database::{DatabaseShape, TornPages};
use super::sequence::Sequence;

/// A file of the workload, or a database of several.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Subject")]
pub enum WatchedFile {
    /// A file that is replaced as a whole, by its number. Its version counts the replacements.
    Replaced(u32),
    /// The file that is appended to. Its version is the number of its records.
    Log,
    /// The database whose torn pages are repaired by this. Its version is the number of its
    /// commits.
    Database(TornPages),
    /// What a sequence's sync is about. Its version counts the operations that changed it.
    Sequence(Sequence),
}

impl WatchedFile {
    /// Its name in the trial's directory.
    pub fn name(self) -> String {
        match self {
            Self::Replaced(number) => format!("replaced-{number:04}"),
            Self::Log => "log".to_owned(),
            Self::Sequence(sequence) => sequence.name(),
            Self::Database(TornPages::Nothing) => "database-nothing".to_owned(),
            Self::Database(TornPages::FullPages) => "database-full-pages".to_owned(),
            Self::Database(TornPages::DoubleWrite) => "database-double-write".to_owned(),
        }
    }
}

/// The files that exist before the first phase, synced, each in its version 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedFiles {
    /// How many are replaced.
    pub replaced: u32,
    /// The bytes of each record of the one that is appended to, if one is.
    pub log: Option<u32>,
    /// The databases: one of each kind.
    #[serde(default)]
    pub databases: Vec<DatabaseShape>,
    /// The most operations of the sequences, of which there are all; none if 0.
    #[serde(default)]
    pub sequences: u32,
}

impl WatchedFiles {
    /// Each of them, in the order in which they are examined.
    pub fn each(&self) -> impl Iterator<Item = WatchedFile> {
        let databases = self.databases.iter().map(|shape| WatchedFile::Database(shape.torn_pages));
        let files = (0..self.replaced).map(WatchedFile::Replaced);
        let sequences = Sequence::all(self.sequences).into_iter().map(WatchedFile::Sequence);
        files.chain(self.log.map(|_| WatchedFile::Log)).chain(databases).chain(sequences)
    }
}

/// A step of making a new version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Deed")]
pub struct FileOperation {
    /// The file.
    pub of: WatchedFile,
    /// The version.
    pub version: u32,
    /// The step.
    pub step: FileOperationStep,
}

/// The steps of a new version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Step")]
pub enum FileOperationStep {
    /// Its contents were promised: a sync of the new file returned, before it was in place.
    Contents,
    /// It is being put in place: the rename, or the write that appends, comes next.
    Begun,
    /// It is in place: the rename, or the write that appends, returned.
    Done,
    /// Its place was promised: a sync of the directory, of the file or log that is appended to, or
    /// at the end of a sequence, returned.
    Place,
}

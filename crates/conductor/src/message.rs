//! What guests tell their host.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ssdlab_filesystem::Layout;
use ssdlab_operations::calls::FileCall;
use ssdlab_operations::cuts::{FileOperation, Recovery};

/// A message from a guest to its host, whose job has results of type `T`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message<T = ()> {
    /// A phase begins.
    Begins(String),
    /// A phase is over and the disk is quiet.
    Over(String),
    /// The blocks of each function of the kernel that were executed in the phase before.
    Functions(BTreeMap<String, u64>),
    /// The layout of the disk's filesystem, after the phases, or why it is unknown.
    Layout(Result<Layout, String>),
    /// An operation on a file that a power cut may undo, or a promise about the file.
    Deed(FileOperation),
    /// A line that a program of the workload printed.
    Said(String),
    /// A program of the workload changed or synced a file.
    Called(FileCall),
    /// The drive may be replaced by that of the next power cut: nothing uses it.
    Next,
    /// The drive may be replaced by the same again: a check may have changed it.
    Again,
    /// A piece of the archive of the files that it has once it is recovered.
    Packed(Vec<u8>),
    /// A name of which something is missing in that archive, and why.
    Unreadable(String),
    /// The result of recovering it.
    Recovered(Recovery),
    /// The job is done; this is its result.
    Done(T),
}

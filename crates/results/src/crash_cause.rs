//! What explains a finding after a power cut of programs.

use ssdlab_operations::calls::{FileCall, Unsynced};
use ssdlab_plan::SyncRemedy;

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

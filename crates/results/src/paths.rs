//! The folders of runs, and the names of the files in them.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use ssdlab_host::base_folder::base_folder;

/// The file that says why a run ended.
pub(super) const ENDING: &str = "ending.json";

/// The file of the plan.
pub(super) const PLAN: &str = "plan.toml";

/// The file of the schedule.
pub(super) const SCHEDULE: &str = "schedule.json";

/// The file of records.
pub(super) const RECORDS: &str = "records.jsonl";

/// The folder of request logs in a run's folder.
pub const REQUEST_LOGS: &str = "requests";

/// The folder of attempts in a run's folder.
pub const ATTEMPTS: &str = "attempts";

/// The files and folders of a run.
const PARTS: [&str; 8] =
    [PLAN, SCHEDULE, RECORDS, "records.cut", ENDING, "ending.half", REQUEST_LOGS, ATTEMPTS];

/// The folder for results: `$XDG_DATA_HOME/ssdlab`, or `~/.local/share/ssdlab`.
pub fn default_folder() -> PathBuf {
    let data = base_folder("XDG_DATA_HOME", ".local/share");
    data.unwrap_or_else(|| PathBuf::from(".local/share")).join("ssdlab")
}

/// Whether a path, with links resolved, is a file of a run, as opposed to other files in its
/// folder.
pub fn is_of_a_run(path: &Path) -> bool {
    path.ancestors().take(2).any(|part| {
        let is_part = part.file_name().is_some_and(|name| PARTS.iter().any(|part| name == *part));
        let folder = part.parent().filter(|parent| !parent.as_os_str().is_empty());
        is_part && folder.unwrap_or(Path::new(".")).join(SCHEDULE).exists()
    })
}

/// Whether a folder is that of a run, which may be broken.
pub fn is_run(folder: &Path) -> bool {
    folder.join(SCHEDULE).exists()
}

pub(super) fn run_folders(folder: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_run(&entry.path()))
}

/// The names of the runs in a folder as far as they are text, those of a plan with the latest last;
/// none if it cannot be read.
pub fn runs_in(folder: &Path) -> Vec<String> {
    let runs = run_folders(folder);
    let mut names: Vec<String> =
        runs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

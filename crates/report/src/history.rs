//! All runs of a results folder, one a row.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{Outline, Verdict};
use ssdlab_results::Ending;

use super::grid::ReportTable;
use super::number;
use super::words::{Style, plain};

/// The version of the history's format.
pub const HISTORY_SCHEMA: u32 = 1;

/// All runs of a results folder.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct History {
    /// The version of this format.
    pub schema: u32,
    /// The runs, the newest last.
    pub runs: Vec<PastRun>,
}

/// A run of the past.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Past")]
pub struct PastRun {
    /// Its name.
    pub run: String,
    /// When its first trial started, in seconds since 1970; when it was made, where none has.
    pub started_s: u64,
    /// What it was and came to; absent where it cannot be read.
    #[serde(flatten)]
    pub outline: Option<Outline>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The runs as a table.
pub fn history(runs: &[PastRun], style: Style) -> String {
    let row = |run: &PastRun| {
        let name = [plain(&run.run), number::moment(run.started_s)];
        let told = if let Some(outline) = &run.outline {
            cells(outline)
        } else {
            let problem = plain(run.problem.as_deref().unwrap_or_default());
            ["", "", "", "", &format!("cannot be read: {problem}"), ""].map(str::to_owned)
        };
        name.into_iter().chain(told).collect()
    };
    let header = ["run", "started", "plan", "lab", "drive", "trials", "ended", "claims"];
    let header = header.map(str::to_owned).to_vec();
    let rows = runs.iter().map(row).collect();
    ReportTable { header, rows, numbers: usize::MAX }.text(style) + "\n"
}

fn cells(outline: &Outline) -> [String; 6] {
    let (all, failed) = (outline.trials, outline.trials - outline.trials_ok);
    let trials = match failed {
        0 => format!("{all} ok"),
        failed => format!("{} ok, {failed} not", outline.trials_ok),
    };
    let ended = match outline.ending {
        Ending::Precise => "precise",
        Ending::AllBlocks => "all blocks",
        Ending::TimeSpent => "time spent",
        Ending::BytesSpent => "bytes spent",
        Ending::NothingRuns => "nothing runs",
        Ending::NothingToCompare => "nothing to compare",
        Ending::Interrupted => "partial",
    };
    let claims = Verdict::ALL.map(|verdict| (outline.claims(verdict), verdict));
    let claims = claims.iter().filter(|(count, _)| *count > 0);
    let claims: Vec<String> = claims.map(|(count, word)| format!("{count} {word}")).collect();
    [
        plain(&outline.plan),
        outline.lab.to_string(),
        plain(&outline.drives.join(", ")),
        trials,
        ended.to_owned(),
        claims.join(", "),
    ]
}

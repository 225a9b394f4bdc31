//! `ssdlab schema`: JSON schemas of what people write and of what programs read.

use clap::Args;

use super::exit::Exit;
use super::output;
use crate::advice::{Analysis, Comparison};
use crate::plan::Plan;
use crate::report::History;

/// Arguments of `ssdlab schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// The schema of what `--json` prints, instead of that of plans.
    #[arg(long)]
    analysis: bool,
    /// The schema of what `ssdlab compare --json` prints.
    #[arg(long, conflicts_with = "analysis")]
    comparison: bool,
    /// The schema of what `ssdlab history --json` prints.
    #[arg(long, conflicts_with_all = ["analysis", "comparison"])]
    history: bool,
}

impl Schema {
    /// Runs it.
    pub fn run(&self) -> Exit {
        let schema = if self.analysis {
            schemars::schema_for!(Analysis)
        } else if self.comparison {
            schemars::schema_for!(Comparison)
        } else if self.history {
            schemars::schema_for!(History)
        } else {
            schemars::schema_for!(Plan)
        };
        let text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
        output::print(&format!("{text}\n"));
        Exit::Done
    }
}

//! `ssdlab schema`: JSON schemas of what people write and of what programs read.

use clap::{Args, ValueEnum};
use schemars::schema_for;

use super::cache::Cached;
use super::drive::Shown;
use super::exit::Exit;
use super::method::Checked;
use super::output;
use super::status::Standing;
use super::trace::Printed;
use crate::advice::{Analysis, Comparison};
use crate::plan::Plan;
use crate::report::History;
use crate::results::Record;
use crate::simulation::Outcome;

/// Arguments of `ssdlab schema`.
#[derive(Debug, Args)]
pub struct Schema {
    /// What to describe.
    #[arg(default_value = "plan")]
    of: Of,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    /// A plan, as people write it.
    Plan,
    /// A line of a run's records.jsonl.
    Record,
    /// What `ssdlab run --json` and `ssdlab report --json` print.
    Analysis,
    /// What `ssdlab method --json` prints.
    Method,
    /// What `ssdlab compare --json` prints.
    Comparison,
    /// What `ssdlab history --json` prints.
    History,
    /// What `ssdlab status --json` prints.
    Status,
    /// What `ssdlab cache --json` prints.
    Cache,
    /// What `ssdlab drive show --json` prints.
    Drive,
    /// A line that `ssdlab simulate --json-lines` prints, and with more in it what `--json` does.
    Simulation,
    /// What `ssdlab trace --json` prints: of a run, or of a block trace.
    Trace,
}

impl Schema {
    /// Runs it.
    pub fn run(&self) -> Exit {
        output::print_json(&match self.of {
            Of::Plan => schema_for!(Plan),
            Of::Record => schema_for!(Record),
            Of::Analysis => schema_for!(Analysis),
            Of::Method => schema_for!(Checked),
            Of::Comparison => schema_for!(Comparison),
            Of::History => schema_for!(History),
            Of::Status => schema_for!(Standing),
            Of::Cache => schema_for!(Cached),
            Of::Drive => schema_for!(Shown),
            Of::Simulation => schema_for!(Outcome),
            Of::Trace => schema_for!(Printed<'_>),
        });
        Exit::Done
    }
}

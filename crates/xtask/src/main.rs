//! `cargo xtask`: makes the files of the source that follow from the program.

mod answers;
mod evidence;
mod reference;
mod source;

use std::path::PathBuf;

use clap::Parser;
use miette::Result;

/// Makes the files of ssdlab's source that follow from the program.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Write docs/answers and docs/answers.md.
    Answers {
        /// First keep the records of the runs in this folder, in tests/data/answers.
        #[arg(long, value_name = "DIR")]
        runs: Option<PathBuf>,
    },
    /// Write docs/reference.
    Reference,
    /// Write docs/evidence.md.
    Evidence {
        /// First store what the runs in this folder came to, in crates/report/kept.toml.
        #[arg(long, value_name = "DIR")]
        runs: Option<PathBuf>,
    },
}

fn main() -> Result<()> {
    match Task::parse() {
        Task::Answers { runs } => answers::write(runs.as_deref()),
        Task::Reference => reference::write(),
        Task::Evidence { runs } => evidence::write(runs.as_deref()),
    }
}

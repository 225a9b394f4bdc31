//! `cargo xtask`: makes the files of the source that follow from the program.

mod evidence;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use miette::{IntoDiagnostic, Result, WrapErr};

/// Makes the files of ssdlab's source that follow from the program.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Task {
    /// Write docs/reference.
    Reference,
    /// Write docs/evidence.md.
    Evidence {
        /// First store what the runs in this folder came to, in crates/book/kept.toml.
        #[arg(long, value_name = "DIR")]
        runs: Option<PathBuf>,
    },
}

fn main() -> Result<()> {
    match Task::parse() {
        Task::Reference => reference::write(),
        Task::Evidence { runs } => evidence::write(runs.as_deref()),
    }
}

/// A file of the source.
fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn write_source(path: &str, text: &str) -> Result<()> {
    fs::write(source(path), text).into_diagnostic().wrap_err_with(|| format!("cannot write {path}"))
}

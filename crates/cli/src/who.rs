//! `ssdlab who`: what writes to a drive.

mod since_boot;

use std::path::PathBuf;

use clap::Args;
use miette::Report;

use self::since_boot::OutputFormat;
use super::exit::Exit;

pub use self::since_boot::SinceBoot;

/// Arguments of `ssdlab who`.
#[derive(Debug, Args)]
pub struct WhoCommand {
    /// A drive, a partition or a mount point (default: every drive).
    #[arg(value_name = "DEVICE|MOUNT")]
    target: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, for an issue or a forum.
    #[arg(long)]
    markdown: bool,
    /// Write a file for the textfile collector of Prometheus's node exporter, whole or not at all.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown"])]
    prometheus: Option<PathBuf>,
}

impl WhoCommand {
    /// Runs the command.
    pub fn run(self) -> Result<Exit, Report> {
        let format = match (self.json, self.markdown, self.prometheus) {
            (true, ..) => OutputFormat::Json,
            (_, true, _) => OutputFormat::Markdown,
            (_, _, Some(file)) => OutputFormat::Prometheus(file),
            (false, false, None) => OutputFormat::Text,
        };
        since_boot::since_boot(self.target.as_deref(), format)
    }
}

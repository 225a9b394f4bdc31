//! `ssdlab who`: what writes to a drive, since boot or while it is recorded.

mod devices;
mod exact;
mod exposition;
mod live;
mod output;
mod since_boot;

use std::path::PathBuf;

use clap::Args;
use miette::Report;
use ssdlab_quantity::Span;

use self::exact::ExactRecording;
use self::output::{OutputFormat, RowGrouping};
use super::exit::{Exit, UsageError};

pub use self::since_boot::SinceBoot;

/// Arguments of `ssdlab who`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct WhoCommand {
    /// A drive, a partition, or a folder of a mounted filesystem (default: every drive).
    #[arg(value_name = "DEVICE|MOUNT")]
    target: Option<PathBuf>,
    /// Record for this time who writes, to the byte; needs root.
    #[arg(long = "for", value_name = "TIME", conflicts_with = "command")]
    time: Option<Span>,
    /// Record until Ctrl-C, and show meanwhile who writes, as top does; needs root.
    #[arg(long, conflicts_with_all = ["time", "command"])]
    live: bool,
    /// Refresh the screen of a recording so often (default: 2 s; without a terminal, and for a
    /// file, 1 min).
    #[arg(short, long, value_name = "TIME", conflicts_with_all = ["json", "markdown", "command"])]
    delay: Option<Span>,
    /// What the rows of a recording are (default: program).
    #[arg(long, value_name = "WHAT")]
    by: Option<RowGrouping>,
    /// Show the files of a recording, too.
    #[arg(long)]
    files: bool,
    /// Print one JSON object. A command's own output goes to standard error.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, for an issue or a forum. Paths are shown only below --root.
    #[arg(long)]
    markdown: bool,
    /// Show the paths below this folder in the Markdown of a recording; others are hashed.
    #[arg(long, value_name = "DIR", requires = "markdown")]
    root: Vec<PathBuf>,
    /// Write a file for the textfile collector of Prometheus's node exporter, whole or not at all.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown"])]
    prometheus: Option<PathBuf>,
    /// Record while this command runs, until its filesystem is synced; needs root.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl WhoCommand {
    pub fn run(self) -> Result<Exit, Report> {
        let target = self.target.as_deref();
        let format = match (self.json, self.markdown, &self.prometheus) {
            (true, ..) => OutputFormat::Json,
            (_, true, _) => OutputFormat::Markdown,
            (_, _, Some(file)) => OutputFormat::Prometheus(file),
            (false, false, None) => OutputFormat::Text,
        };
        if self.live || self.time.is_some() || !self.command.is_empty() {
            let recording = ExactRecording {
                target,
                time: self.time.map(|time| time.0),
                command: &self.command,
                by: self.by.unwrap_or(RowGrouping::Program),
                has_files: self.files,
                delay: self.delay.map(|delay| delay.0),
                format,
                roots: &self.root,
            };
            return recording.run();
        }
        if self.by.is_some() || self.files || self.delay.is_some() || !self.root.is_empty() {
            return Err(UsageError::report(
                "--by, --files, --delay and --root are about a recording",
                "record for some time, `sudo ssdlab who / --for 10m`, or while a command runs, \
                 `sudo ssdlab who / -- COMMAND`",
            ));
        }
        since_boot::since_boot(target, format)
    }
}

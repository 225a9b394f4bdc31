//! `ssdlab drive`: simulated drives, shipped and user-defined.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, Report, WrapErr};
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::{DriveFileError, Specification, presets};

use super::exit::{Exit, Wrong};
use super::output;
use crate::plan::{self, Bytes, Fault};
use crate::report;

/// Arguments of `ssdlab drive`.
#[derive(Debug, Args)]
pub struct Drive {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the shipped drives.
    List,
    /// Print a drive file, with the source of every value, as a starting point for your own.
    Show {
        /// The drive's name.
        name: String,
    },
    /// Check a drive file and show the resulting drive.
    Check {
        /// A drive file, or the name of a shipped drive.
        drive: String,
        /// Override its capacity; spare space and caches scale with it.
        #[arg(long, value_name = "SIZE")]
        capacity: Option<Bytes>,
    },
}

impl Drive {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::List => output::print(&list()),
            What::Show { name } => match presets::find(name) {
                Some(preset) => output::print(preset.text),
                None => return Err(unknown(name)),
            },
            What::Check { drive, capacity } => {
                output::print(&report::specification(&load(drive, *capacity)?));
            }
        }
        Ok(Exit::Done)
    }
}

fn list() -> String {
    let mut out = String::new();
    for preset in presets::ALL {
        let drive = Specification::parse(preset.text).expect("a test parses every preset");
        let _ = writeln!(out, "  {:13}  {}", drive.name, drive.description);
    }
    out
}

/// Reads a drive: a file, or a shipped one.
pub fn load(drive: &str, capacity: Option<Bytes>) -> Result<Specification, Report> {
    let is_path = plan::is_drive_file(drive);
    let (name, text) = match presets::find(drive) {
        Some(preset) if !is_path => (preset.name, preset.text.to_owned()),
        None if !is_path && !Path::new(drive).exists() => return Err(unknown(drive)),
        _ => {
            let text = fs::read_to_string(drive)
                .into_diagnostic()
                .wrap_err_with(|| format!("the drive file {drive} cannot be read"))
                .map_err(|error| {
                    Wrong::report(
                        format!("{error}: {}", error.root_cause()),
                        "name a drive file, or one of `ssdlab drive list`",
                    )
                })?;
            (drive, text)
        }
    };
    let at_its_place = |error: DriveFileError| {
        let fault = Fault { message: error.message, at: error.at, help: Some(error.help) };
        Report::new(fault.in_file(name, &text))
    };
    let mut file = DriveFile::parse(&text).map_err(at_its_place)?;
    if let Some(capacity) = capacity {
        file.with_capacity(capacity);
    }
    file.resolve().map_err(at_its_place)
}

fn unknown(name: &str) -> Report {
    let names: Vec<&str> = presets::ALL.iter().map(|preset| preset.name).collect();
    Wrong::report(
        format!("there is neither a drive nor a file named `{name}`"),
        format!("name a drive file, or one of {}", names.join(", ")),
    )
}

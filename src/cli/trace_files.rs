//! Opening the files of a block trace, and what is said where they are wrong.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::Report;
use ssdlab_trace::{Format, Merge, Options, Reader, Stage, TraceError};

use super::exit::Wrong;
use crate::simulation::TraceFiles;

/// What is read at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// How a trace is read; the command has an argument `trace` for its files.
#[derive(Debug, Args)]
pub struct Reading {
    /// The trace's format (default: what it looks like): blktrace, blkparse, msr-cambridge, fio
    /// or ssdlab.
    #[arg(long, value_name = "FORMAT", requires = "trace", value_parser = format)]
    format: Option<Format>,
    /// Which drive of a trace with several, as the trace names it.
    #[arg(long, value_name = "NAME", requires = "trace")]
    trace_drive: Option<String>,
    /// Take a trace's requests as they were queued, not as they were issued to the drive.
    #[arg(long, requires = "trace")]
    queued: bool,
}

impl Reading {
    /// Opens the files of one trace, several where each processor has its own.
    pub fn open(&self, files: &[PathBuf]) -> Result<Merge<BufReader<File>>, Report> {
        let readers = files.iter().map(|path| self.reader(path, files));
        Ok(ssdlab_trace::merge(readers.collect::<Result<_, _>>()?))
    }

    fn reader(&self, path: &Path, files: &[PathBuf]) -> Result<Reader<BufReader<File>>, Report> {
        let stage = if self.queued { Stage::Queued } else { Stage::Issued };
        let options = Options { stage, drive: self.trace_drive.clone() };
        let file = File::open(path).map_err(|error| {
            Wrong::report(format!("{}: {error}", path.display()), "name a trace that can be read")
        })?;
        let input = BufReader::with_capacity(BUFFER_BYTES, file);
        match self.format {
            Some(format) => Reader::new(input, format, &options),
            None => Reader::detect(input, &options),
        }
        .map_err(|error| self.explained(files, &error))
    }

    /// What is read of the files, for those who get the results.
    pub fn of(&self, files: &[PathBuf]) -> TraceFiles {
        TraceFiles {
            files: files.iter().map(|path| path.display().to_string()).collect(),
            drive: self.trace_drive.clone(),
            is_queued: self.queued,
        }
    }

    /// What is wrong with a trace, and what to do.
    pub fn explained(&self, files: &[PathBuf], error: &TraceError) -> Report {
        let help = match error {
            TraceError::SeveralDrives { .. } | TraceError::NoSuchDrive { .. } => {
                "choose one with --trace-drive"
            }
            TraceError::NoneAtStage { .. } if self.queued => "leave --queued out",
            TraceError::NoneAtStage { .. } => "--queued reads them",
            _ => "--format names the format where it is mistaken for another",
        };
        Wrong::report(format!("{}: {error}", names(files)), help)
    }
}

/// The files of a trace, for a message.
pub fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

fn format(text: &str) -> Result<Format, String> {
    text.parse().map_err(|error: TraceError| error.to_string())
}

//! Opens the files of a block trace, and explains errors in them.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use flate2::bufread::MultiGzDecoder;
use miette::Report;
use ssdlab_flash::simulation::TraceFiles;
use ssdlab_host::regular_file;
use ssdlab_trace::{Merge, TraceError, TraceFormat, TraceOptions, TraceReader, TraceStage};

use super::exit::UsageError;

/// The read buffer, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// The magic bytes of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The contents of a trace's file.
pub type TraceInput = Box<dyn BufRead + Send>;

/// How to read a trace; the command has an argument `trace` for its files.
#[derive(Debug, Args)]
pub struct TraceArguments {
    /// The trace's format (default: detected): blktrace, blkparse, ftrace, biosnoop, msr-cambridge,
    /// systor, alibaba, tencent, fiu, fio, dm-log-writes or ssdlab.
    #[arg(long, value_name = "FORMAT", requires = "trace", value_parser = format)]
    format: Option<TraceFormat>,
    /// The drive to read from a trace of several, as the trace names it.
    #[arg(long, value_name = "NAME", requires = "trace")]
    trace_drive: Option<String>,
    /// Use a trace's requests as they were queued, not as they were issued to the drive.
    #[arg(long, requires = "trace")]
    queued: bool,
}

impl TraceArguments {
    /// Opens the files of one trace, of which there may be one per processor.
    pub fn open(&self, files: &[PathBuf]) -> Result<Merge<TraceInput>, Report> {
        let readers = files.iter().map(|path| self.reader(path, files));
        Ok(ssdlab_trace::merge(readers.collect::<Result<_, _>>()?))
    }

    fn reader(&self, path: &Path, files: &[PathBuf]) -> Result<TraceReader<TraceInput>, Report> {
        let stage = if self.queued { TraceStage::Queued } else { TraceStage::Issued };
        let options = TraceOptions { stage, drive: self.trace_drive.clone() };
        let input = regular_file::open(path).and_then(decompressed).map_err(|error| {
            UsageError::report(format!("{}: {error}", path.display()), "name a readable trace")
        })?;
        match self.format {
            Some(format) => TraceReader::new(input, format, &options),
            None => TraceReader::detect(input, &options),
        }
        .map_err(|error| self.explained(files, &error))
    }

    /// The files and how they are read, for the output.
    pub fn of(&self, files: &[PathBuf]) -> TraceFiles {
        TraceFiles {
            files: files.iter().map(|path| path.display().to_string()).collect(),
            drive: self.trace_drive.clone(),
            is_queued: self.queued,
        }
    }

    /// An error in a trace, with a remedy.
    pub fn explained(&self, files: &[PathBuf], error: &TraceError) -> Report {
        let help = match error {
            TraceError::SeveralDrives { .. } | TraceError::NoSuchDrive { .. } => {
                "choose one with --trace-drive"
            }
            TraceError::NoneAtStage { .. } if self.queued => "omit --queued",
            TraceError::NoneAtStage { .. } => "--queued reads them",
            _ => "name the format with --format if it was misdetected",
        };
        UsageError::report(format!("{}: {error}", names(files)), help)
    }
}

/// The contents of a file, decompressed if it is of gzip, as published traces are.
fn decompressed(file: File) -> io::Result<TraceInput> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
    if input.fill_buf()?.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input))));
    }
    Ok(Box::new(input))
}

/// The files of a trace, for a message.
pub fn names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}

fn format(text: &str) -> Result<TraceFormat, String> {
    text.parse().map_err(|error: TraceError| error.to_string())
}

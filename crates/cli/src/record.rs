//! `ssdlab record`: logs a program's file operations in a directory, for replay.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::Operation;
use ssdlab_report::bytes;
use ssdlab_workload::record::{ProgramRecording, record};

use super::exit::{Exit, UsageError};
use super::output;

/// Arguments of `ssdlab record`.
#[derive(Debug, Args)]
pub struct RecordCommand {
    /// The directory to record, in which the program is started.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The log, compressed if its name ends in `.gz`; it must be outside the directory. An existing
    /// file is replaced if anything was recorded.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    words: Vec<String>,
}

impl RecordCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        // Ctrl-C reaches only the program; its operations until then are kept.
        let interrupt = Interrupt::on_termination().into_diagnostic()?;
        self.check_place()?;
        // Fail before running the program if the log cannot be written.
        let mut out = output::begin(&self.out)?;
        let recorded = record(&self.dir, &self.words, &interrupt)?;
        let shown = self.out.display().to_string();
        let is_used = !recorded.operations.is_empty();
        if is_used {
            let is_compressed = self.out.extension().is_some_and(|ending| ending == "gz");
            recorded
                .save(&mut out, is_compressed)
                .and_then(|()| out.keep())
                .map_err(output::unwritten(&self.out))?;
        }
        output::tell(&summary(&recorded, &shown));
        if !recorded.status.success() {
            output::tell(&format!("the recorded program: {}", recorded.status));
            return Ok(Exit::Failed);
        }
        Ok(if is_used { Exit::Done } else { Exit::Failed })
    }

    /// A log inside the directory would be part of the next recording.
    fn check_place(&self) -> Result<(), Report> {
        let folder = self.out.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(".".as_ref()).canonicalize();
        let (Ok(folder), Ok(dir)) = (folder, self.dir.canonicalize()) else { return Ok(()) };
        if !folder.starts_with(&dir) {
            return Ok(());
        }
        Err(UsageError::report(
            format!("{} is inside the recorded directory", self.out.display()),
            "name a file elsewhere with --out FILE, or another directory with --dir DIR",
        ))
    }
}

/// Summarises what was recorded and what was not.
fn summary(recorded: &ProgramRecording, out: &str) -> String {
    let (mut calls, mut written_bytes) = (BTreeMap::new(), 0_u64);
    for operation in &recorded.operations {
        let count = calls.entry(operation.name()).or_insert(0_u64);
        *count = count.saturating_add(operation.calls());
        if let Operation::Write(transfer) = operation {
            written_bytes = written_bytes.saturating_add(transfer.bytes());
        }
    }
    let list = |counts: Vec<String>| counts.join(", ");
    let calls = calls.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let written = bytes(written_bytes as f64);
    let says = if recorded.operations.is_empty() {
        format!("no file in the directory was used: {out} is not written")
    } else {
        format!("{out}: {}; {written} written", list(calls))
    };
    let left: Vec<String> = recorded
        .header
        .left_out
        .iter()
        .map(|(omission, count)| format!("{count} {omission}"))
        .collect();
    if left.is_empty() { says } else { format!("{says}\nnot recorded: {}", list(left)) }
}

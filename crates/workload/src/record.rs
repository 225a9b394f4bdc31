//! Records what a program does to the files of a directory, as an operation log.
//!
//! It uses strace(1), which needs no privileges and supports every architecture, but makes each
//! system call about ten times slower; so a log has no times, only operations in order.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use miette::Diagnostic;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::processes;
use ssdlab_host::program::{self, ProgramError};
use ssdlab_operations::{
    LogHeader, LogWriter, Omission, Operation, ProgramStart, STRACE_OPTIONS, StraceError,
    StraceRecorder, Tree,
};
use thiserror::Error;

use super::WorkloadError;
use super::snapshot::DirectorySnapshot;
use super::verify::umask;

/// The interval at which the program's end and interrupts are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Why a program could not be recorded.
#[derive(Debug, Error, Diagnostic)]
pub enum RecordError {
    /// strace is missing.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// The directory, the program or strace's output cannot be used.
    #[error("cannot {step} {}: {cause}", path.display())]
    Io { step: &'static str, path: PathBuf, cause: io::Error },
    /// The umask is unknown.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Workload(#[from] WorkloadError),
    /// strace printed something unexpected.
    #[error(transparent)]
    Strace(#[from] StraceError),
}

/// What a program did.
#[derive(Debug)]
pub struct ProgramRecording {
    /// How it ended.
    pub status: ExitStatus,
    /// Its operations on the directory, in order.
    pub operations: Vec<Operation>,
    /// Its description, and the omissions.
    pub header: LogHeader,
    before: DirectorySnapshot,
}

/// Runs a program in a directory, and records its operations there. On an interrupt the program and
/// its children get SIGTERM, and their operations until then are recorded.
pub fn record(
    directory: &Path,
    words: &[String],
    interrupt: &Interrupt,
) -> Result<ProgramRecording, RecordError> {
    let step = |step, path: &Path| {
        let path = path.to_owned();
        move |cause| RecordError::Io { step, path, cause }
    };
    let strace = program::find("strace", "strace")?;
    let directory = directory.canonicalize().map_err(step("find", directory))?;
    let before = DirectorySnapshot::of(&directory)
        .map_err(|(path, cause)| step("look through", &path)(cause))?;
    let tree = Tree::new(&before.entries).map_err(|_| {
        let cause = io::Error::other("it has too many entries; choose a smaller one with --dir");
        step("look through", &directory)(cause)
    })?;
    let output =
        tempfile::NamedTempFile::new().map_err(step("make a file in", &std::env::temp_dir()))?;
    let mut tracer = Command::new(&strace)
        .args(STRACE_OPTIONS)
        .arg("-o")
        .arg(output.path())
        .arg("--")
        .args(words)
        .current_dir(&directory)
        // Programs trust this instead of asking the kernel.
        .env("PWD", &directory)
        .env("PATH", program::search_path())
        .spawn()
        .map_err(step("start", &strace))?;
    let status = wait(&mut tracer, interrupt).map_err(step("wait for", &strace))?;
    if output.path().metadata().is_ok_and(|traced| traced.len() == 0) {
        let cause = io::Error::other(format!("it traced nothing: {status}"));
        return Err(step("trace the program with", &strace)(cause));
    }
    let reader = BufReader::new(File::open(output.path()).map_err(step("open", output.path()))?);
    let setting = ProgramStart { directory: directory.as_os_str().as_bytes(), umask: umask()? };
    let mut recorder = StraceRecorder::new(reader, setting, tree);
    let mut operations = Vec::new();
    while let Some(operation) = recorder.next_operation()? {
        operations.push(operation);
    }
    let mut left_out = recorder.left_out().clone();
    if !before.special.is_empty() {
        left_out.add(Omission::SpecialFile, before.special.len() as u64);
    }
    let header = LogHeader { title: words.join(" "), left_out };
    Ok(ProgramRecording { status, operations, header, before })
}

/// Waits for strace, which ends with the traced program.
fn wait(tracer: &mut Child, interrupt: &Interrupt) -> io::Result<ExitStatus> {
    let mut asked = BTreeSet::new();
    loop {
        if let Some(status) = tracer.try_wait()? {
            return Ok(status);
        }
        if interrupt.is_set() {
            // strace itself blocks the signal while the traced program runs (strace(1), -I).
            processes::ask_descendants_to_end(tracer, &mut asked);
        }
        sleep(POLL_INTERVAL);
    }
}

impl ProgramRecording {
    /// Writes the log.
    pub fn save(&self, output: impl Write, is_compressed: bool) -> io::Result<()> {
        if is_compressed {
            self.write(GzEncoder::new(output, Compression::best()))?.finish()?;
        } else {
            self.write(output)?;
        }
        Ok(())
    }

    fn write<W: Write>(&self, output: W) -> io::Result<W> {
        let mut writer =
            LogWriter::new(output, &self.header, &self.before.entries).map_err(io::Error::other)?;
        for operation in &self.operations {
            writer.append(operation).map_err(io::Error::other)?;
        }
        writer.finish().map_err(io::Error::other)
    }
}

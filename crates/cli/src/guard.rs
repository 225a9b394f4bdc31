//! The guard of a run that changes the running machine: a process that puts everything back when
//! the run has been killed.
//!
//! It is this program in a session of its own, and waits for the end of a pipe, which ends with the
//! run however that ends. Then it does what `ssdlab restore` does, and finds nothing to do after a
//! run that has put back everything itself.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::Report;
use rustix::process::Pid;
use ssdlab_host::{lock, undo};

use super::exit::UsageError;

/// A guard that waits.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts it. Its first message says that it is in its own session, so that no signal to this
    /// one ends it.
    pub fn start() -> Result<Self, Report> {
        let start = || -> io::Result<Self> {
            let mut command = Command::new(env::current_exe()?);
            command.args(["restore", "--guard"]);
            let pipes = [Stdio::piped(), Stdio::piped(), Stdio::null()];
            let [input, output, errors] = pipes;
            let mut child = command.stdin(input).stdout(output).stderr(errors).spawn()?;
            let mut ready = [0];
            child.stdout.as_mut().map_or(Ok(()), |output| output.read_exact(&mut ready))?;
            // Its report has no reader.
            child.stdout = None;
            Ok(Self(child))
        };
        start().map_err(|error| {
            UsageError::report(
                format!("cannot start the process that puts back everything after a kill: {error}"),
                "ssdlab changes nothing on a running machine without one",
            )
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stdin = None;
        // It has nothing to do, as the journal is finished or still locked.
        let _ = self.0.wait();
    }
}

/// How long a run that was killed may take to end once its pipe has.
const DYING: Duration = Duration::from_secs(30);

/// Waits, as a guard, until the run that started this has ended.
pub fn wait_for_parent() -> io::Result<()> {
    let parent = rustix::process::getppid();
    rustix::process::setsid()?;
    let mut output = io::stdout();
    io::Write::write_all(&mut output, b"\n")?;
    io::Write::flush(&mut output)?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    // The last thread of a dying run, or a child that it was starting, may still have the lock of
    // its journal, by which the run would count as alive. One that ends by itself has no journal
    // any more, and waits for this.
    let began = Instant::now();
    while has_locked_journal(parent) && began.elapsed() < DYING {
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether somebody locks a journal of a process, whose number is the beginning of its name.
fn has_locked_journal(process: Option<Pid>) -> bool {
    let number = format!("{}-", process.map_or(0, Pid::as_raw_pid));
    let files = undo::folders().into_iter().flat_map(fs::read_dir).flatten().flatten();
    let mut own = files.filter(|file| file.file_name().to_string_lossy().starts_with(&number));
    own.any(|file| lock::holder(&file.path()).is_some())
}

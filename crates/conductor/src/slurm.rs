//! Slurm runs the shares of a run, as tasks of a job array, by sbatch(1), which waits for them. The
//! script is all that is known of Slurm here; squeue(1) and scancel(1) show and end its tasks.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use miette::Diagnostic;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, ProgramError, Rules};
use ssdlab_host::whole_file;
use ssdlab_results::ATTEMPTS;
use thiserror::Error;

/// The variables that tasks inherit, if set: locations of programs and of ssdlab's files, and the
/// locale. Anything else would make trials depend on the submitting shell, and leak its secrets.
const EXPORTED: &str =
    "PATH,HOME,USER,LOGNAME,LANG,LC_ALL,XDG_CACHE_HOME,XDG_DATA_HOME,XDG_STATE_HOME";

/// What holds for every array: a node for each task. Slurm may start a task again, which performs
/// what is missing; an array waits for those of earlier submissions.
const ALWAYS: &str = "\
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --chdir=/
#SBATCH --requeue
#SBATCH --dependency=singleton
";

/// The most tasks of an array: the highest index of the default `MaxArraySize` of slurm.conf(5).
pub const MOST_TASKS: u32 = 1_000;

/// Slurm does not run shares.
#[derive(Debug, Error, Diagnostic)]
pub enum SlurmError {
    /// sbatch cannot be run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// The script cannot be stored.
    #[error("cannot write the script {}: {cause}", path.display())]
    Script {
        /// Where.
        path: PathBuf,
        cause: io::Error,
    },
    /// It refuses the script.
    #[error("Slurm does not accept {}: {says}", path.display())]
    #[diagnostic(help(
        "sinfo(1) shows partitions, nodes and their features; then `ssdlab run --resume RUN --on \
         slurm` submits the run"
    ))]
    Refused {
        /// The script.
        path: PathBuf,
        /// Why.
        says: String,
    },
}

/// Slurm, and what its tasks do.
#[derive(Debug)]
pub struct Slurm<'a> {
    pub sbatch: PathBuf,
    /// The partition; none for the default one.
    pub partition: Option<String>,
    /// The path of this program, which is the same on all nodes.
    pub program: PathBuf,
    /// The command that performs the share whose name follows it, for sh(1).
    pub command: String,
    /// The request to wait no longer.
    pub interrupt: &'a Interrupt,
}

/// An array of tasks.
pub(super) struct Array<'a> {
    pub name: &'a str,
    /// The features that its nodes must have.
    pub features: &'a BTreeSet<String>,
    /// Its shares, of so many.
    pub shares: &'a [u32],
    pub count: u32,
}

/// The name of the file, among the attempts, with what a task has printed.
pub(super) fn output_name(count: u32, share: &str) -> String {
    format!("{count}_{share}.out")
}

impl Slurm<'_> {
    /// Finds sbatch.
    pub fn find() -> Result<PathBuf, SlurmError> {
        Ok(program::find("sbatch", "slurm-client")?)
    }

    /// Writes the script of an array; returns its path.
    pub(super) fn write(&self, run: &Path, array: &Array<'_>) -> Result<PathBuf, SlurmError> {
        let path = run.join(ATTEMPTS).join(format!("{}.sbatch", array.name));
        let write =
            |script: String| whole_file::write(&path, |out| out.write_all(script.as_bytes()));
        match self.script(run, array).and_then(write) {
            Ok(()) => Ok(path),
            Err(cause) => Err(SlurmError::Script { path, cause }),
        }
    }

    fn script(&self, run: &Path, array: &Array<'_>) -> io::Result<String> {
        let Array { name, features, shares, count } = array;
        let word = |text: &str| match shlex::try_quote(text) {
            Ok(word) if !text.contains('\n') => Ok(word.into_owned()),
            _ => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{text:?} is not a line")))
            }
        };
        // sbatch(1) replaces what follows `%`.
        let attempts = run.join(ATTEMPTS).display().to_string().replace('%', "%%");
        let shares: Vec<String> = shares.iter().map(u32::to_string).collect();
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let options = [
            ("job-name", (*name).to_owned()),
            ("array", shares.join(",")),
            ("output", format!("{attempts}/{}", output_name(*count, "%a"))),
            ("partition", self.partition.clone().unwrap_or_default()),
            ("constraint", features.join("&")),
            ("export", EXPORTED.to_owned()),
        ];
        let mut lines = vec!["#!/bin/sh".to_owned()];
        for (option, value) in options.iter().filter(|(_, value)| !value.is_empty()) {
            lines.push(format!("#SBATCH --{option}={}", word(value)?));
        }
        lines.extend([
            ALWAYS.to_owned(),
            "# What a killed task has left on this node.".to_owned(),
            format!("{} restore", word(&self.program.display().to_string())?),
            format!("exec {} \"$SLURM_ARRAY_TASK_ID/{count}\"\n", self.command),
        ]);
        Ok(lines.join("\n"))
    }

    /// Submits scripts and waits for their tasks, however these end. False means that the wait was
    /// interrupted; the tasks continue.
    pub(super) fn run(&self, scripts: &[PathBuf]) -> Result<bool, SlurmError> {
        let ended: Vec<Result<(), SlurmError>> = thread::scope(|scope| {
            let all = scripts.iter().map(|script| scope.spawn(move || self.wait(script)));
            let waiting: Vec<_> = all.collect();
            let join =
                |one: thread::ScopedJoinHandle<'_, _>| one.join().expect("it panics nowhere");
            waiting.into_iter().map(join).collect()
        });
        match ended.into_iter().collect() {
            Err(SlurmError::Program(ProgramError::Interrupted)) => Ok(false),
            other => other.map(|()| true),
        }
    }

    fn wait(&self, script: &Path) -> Result<(), SlurmError> {
        let mut command = Command::new(&self.sbatch);
        command.args(["--parsable", "--wait"]).arg(script);
        // Not the marker of a run, whose processes end with it.
        let rules = Rules { marker: "slurm", limit: Duration::MAX, interrupt: self.interrupt };
        let ended = program::run_to_any_end(command, rules)?;
        // It ends like the worst of the tasks, and first prints the job's id, followed in a
        // federation by the cluster's name.
        let id = ended.stdout.trim().split(';').next().unwrap_or_default();
        if id.parse::<u32>().is_ok() {
            return Ok(());
        }
        let path = script.to_owned();
        Err(SlurmError::Refused { path, says: program::tail(&ended.stderr) })
    }
}

#[cfg(test)]
mod tests;

//! `ssdlab who`: which program, cgroup, file and kind wrote each byte to a block device.
//!
//! It opens no device for writing and makes no filesystem. `survey` finds what is to be watched,
//! `recording` records the kernel's events and feeds them to the room `causes`, `names` says what
//! people call files and cgroups, and `summary` makes rows of the ledger, which `output` shows.

mod names;
mod output;
mod recording;
mod summary;
mod survey;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use miette::{IntoDiagnostic, Report, WrapErr};
use rustix::process::{Pid, Signal, kill_process};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_quantity::Span;

pub use self::summary::WhoOutput;

use super::exit::{Exit, UsageError};
use super::output as terminal;
use output::By;
use recording::WhoRecording;
use survey::WatchSurvey;

/// The interval at which the end is looked for.
const STEP: Duration = Duration::from_millis(20);

/// Arguments of `ssdlab who`.
#[derive(Debug, Args)]
pub struct WhoCommand {
    /// A block device, or a folder of a mounted filesystem. Without it, every disk.
    #[arg(value_name = "DEVICE|MOUNT")]
    what: Option<PathBuf>,
    /// Record for this time, exactly and by file; needs root.
    #[arg(long = "for", value_name = "TIME", conflicts_with = "words")]
    time: Option<Span>,
    /// What the rows of the table are.
    #[arg(long, value_name = "WHAT", default_value = "program")]
    by: By,
    /// Show files, too.
    #[arg(long)]
    files: bool,
    /// Print one JSON object. A command's own output goes to standard error.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a block for an issue or a forum. Paths are shown only below --root.
    #[arg(long)]
    markdown: bool,
    /// Show the paths below this folder in --markdown; others are hashed.
    #[arg(long, value_name = "DIR", requires = "markdown")]
    root: Vec<PathBuf>,
    /// Record while this command runs, until its filesystem is synced; needs root.
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<String>,
}

impl WhoCommand {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        if self.time.is_none() && self.words.is_empty() {
            return Err(UsageError::report(
                "without --for and without a command there is nothing to record",
                "record for some time, `sudo ssdlab who --for 10m`, or while a command runs, \
                 `sudo ssdlab who / -- COMMAND`",
            ));
        }
        // Ctrl-C ends a recording with its table; a command gets it itself.
        let interrupt = if self.words.is_empty() {
            Interrupt::on_signals()
        } else {
            Interrupt::on_termination()
        };
        let interrupt = interrupt.into_diagnostic()?;
        let survey = WatchSurvey::of(self.what.as_deref(), &interrupt)?;
        let mounts = survey.mounts();
        let mut recording = WhoRecording::start(survey)?;
        let status = if self.words.is_empty() {
            self.wait(&mut recording, &interrupt);
            None
        } else {
            let status = self.run_command(&mut recording, &interrupt)?;
            for mount in mounts {
                // One that went away meanwhile has nothing left to write.
                let _ = rustix::fs::syncfs(mount);
            }
            Some(status)
        };
        let output = recording.finish(self.what.is_some())?;
        self.show(&output);
        Ok(if status.is_none_or(|status| status.success()) { Exit::Done } else { Exit::Failed })
    }

    fn wait(&self, recording: &mut WhoRecording, interrupt: &Interrupt) {
        let began = Instant::now();
        let time = self.time.map_or(Duration::MAX, |time| time.0);
        while !interrupt.is_set() && began.elapsed() < time {
            std::thread::sleep(STEP.min(time.saturating_sub(began.elapsed())));
            recording.check_each_minute();
        }
    }

    fn run_command(
        &self,
        recording: &mut WhoRecording,
        interrupt: &Interrupt,
    ) -> Result<std::process::ExitStatus, Report> {
        let mut child = self.spawn()?;
        loop {
            if let Some(status) = child.try_wait().into_diagnostic()? {
                return Ok(status);
            }
            if interrupt.is_set()
                && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
            {
                // It may have ended by itself meanwhile.
                let _ = kill_process(pid, Signal::TERM);
            }
            std::thread::sleep(STEP);
            recording.check_each_minute();
        }
    }

    fn spawn(&self) -> Result<Child, Report> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        if self.json {
            let errors = std::io::stderr().as_fd().try_clone_to_owned().into_diagnostic()?;
            command.stdout(Stdio::from(errors));
        }
        command.spawn().into_diagnostic().wrap_err_with(|| format!("cannot run {}", self.words[0]))
    }

    fn show(&self, output: &WhoOutput) {
        if self.json {
            match output.only() {
                Some(device) => terminal::print_json(device),
                None => terminal::print_json(output),
            }
        } else if self.markdown {
            terminal::print(&output::markdown(output, self.by, self.files, &self.root));
        } else {
            terminal::print(&output::text(output, self.by, self.files));
        }
    }
}

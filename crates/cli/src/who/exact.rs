//! `ssdlab who --for TIME` and `-- COMMAND`: which program, cgroup, file and kind wrote each byte
//! to a block device.
//!
//! It opens no device for writing and makes no filesystem. The room `attribution` records and makes
//! rows, which `output` shows.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic, Report, WrapErr};
use rustix::process::{Pid, Signal, kill_process};
use ssdlab_attribution::{Naming, RecordingProcess, WatchSurvey, WhoOutput, WhoRecording};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::tracefs::Tracefs;

use super::devices::watched_devices;
use super::exposition;
use super::live::LiveView;
use super::output::{self, OutputFormat, RowGrouping};
use crate::exit::Exit;
use crate::output as terminal;

/// The interval at which the end is looked for.
const STEP: Duration = Duration::from_millis(20);

/// How often a file is written anew.
const SAVE_EVERY: Duration = Duration::from_mins(1);

/// What to record, and how to show it.
pub(super) struct ExactRecording<'a> {
    /// A block device or a folder; every disk without it.
    pub target: Option<&'a Path>,
    /// For how long; until the command ends if there is one.
    pub time: Option<Duration>,
    /// The command and its arguments; empty for none.
    pub command: &'a [String],
    /// What rows are.
    pub by: RowGrouping,
    /// Whether files are shown.
    pub has_files: bool,
    /// How often what is known so far is shown.
    pub delay: Option<Duration>,
    /// The form of the output.
    pub format: OutputFormat<'a>,
    /// The folders below which Markdown shows paths.
    pub roots: &'a [PathBuf],
}

impl ExactRecording<'_> {
    /// Records and shows.
    pub fn run(&self) -> Result<Exit, Report> {
        // Ctrl-C ends a recording with its table; a command gets it itself.
        let interrupt = if self.command.is_empty() {
            Interrupt::on_signals()
        } else {
            Interrupt::on_termination()
        };
        let interrupt = interrupt.into_diagnostic()?;
        if let OutputFormat::Prometheus(file) = self.format {
            // Rather now than after hours.
            drop(terminal::begin(file)?);
        }
        let devices = watched_devices(self.target)?;
        let survey = WatchSurvey::of(&devices, Naming::Wanted, &interrupt).into_diagnostic()?;
        let tracefs = Tracefs::open().into_diagnostic()?;
        let instance = tracefs.instance("ssdlab-who").into_diagnostic()?;
        let mut recording =
            WhoRecording::start(survey, instance, RecordingProcess::Watcher).into_diagnostic()?;
        let status = if self.command.is_empty() {
            self.wait(&mut recording, &interrupt)?;
            None
        } else {
            let status = self.run_command(&mut recording, &interrupt)?;
            recording.sync();
            Some(status)
        };
        let output = recording.finish(self.is_named()).into_diagnostic()?;
        self.show(&output)?;
        Ok(if status.is_none_or(|status| status.success()) { Exit::Done } else { Exit::Failed })
    }

    fn is_named(&self) -> bool {
        self.target.is_some()
    }

    fn wait(&self, recording: &mut WhoRecording, interrupt: &Interrupt) -> Result<(), Report> {
        let began = Instant::now();
        let time = self.time.unwrap_or(Duration::MAX);
        let is_text = matches!(self.format, OutputFormat::Text);
        let view = || LiveView::new(self.by, self.is_named(), self.delay, recording);
        let mut view = is_text.then(view);
        let mut saved = began;
        while !interrupt.is_set() && began.elapsed() < time {
            std::thread::sleep(STEP.min(time.saturating_sub(began.elapsed())));
            recording.tend(interrupt);
            if view.as_mut().is_some_and(|view| !view.show(recording)) {
                break;
            }
            if let OutputFormat::Prometheus(file) = self.format
                && saved.elapsed() >= self.delay.unwrap_or(SAVE_EVERY)
            {
                saved = Instant::now();
                save(file, &recording.so_far(self.is_named()))?;
            }
        }
        Ok(())
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
            recording.tend(interrupt);
        }
    }

    fn spawn(&self) -> Result<Child, Report> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        if matches!(self.format, OutputFormat::Json) {
            let errors = std::io::stderr().as_fd().try_clone_to_owned().into_diagnostic()?;
            command.stdout(Stdio::from(errors));
        }
        command
            .spawn()
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot run {}", self.command[0]))
    }

    fn show(&self, found: &WhoOutput) -> Result<(), Report> {
        match (&self.format, found.only()) {
            (OutputFormat::Json, Some(device)) => terminal::print_json(device),
            (OutputFormat::Json, None) => terminal::print_json(found),
            (OutputFormat::Markdown, _) => {
                terminal::print(&output::markdown(found, self.by, self.has_files, self.roots));
            }
            (OutputFormat::Text, _) => {
                terminal::print(&output::text(found, self.by, self.has_files));
            }
            (OutputFormat::Prometheus(file), _) => save(file, found)?,
        }
        Ok(())
    }
}

fn save(file: &Path, found: &WhoOutput) -> Result<(), Report> {
    let text = exposition::recording(found);
    Ok(terminal::save(file, |out| out.write_all(text.as_bytes()))?)
}

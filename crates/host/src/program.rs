//! Runs other programs: reports missing ones, ends them with us, never waits without a limit, and
//! keeps their output for the error message.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open,
    set_parent_process_death_signal,
};
use thiserror::Error;

use super::interrupt::Interrupt;
use super::processes::MARKER_VARIABLE;

mod watched;

pub use watched::{CallWatcher, run_watched};

/// Variables by which git points its hooks at a repository (githooks(5)). Programs that we start do
/// not inherit them: git would work there, whatever folder it is given.
pub const GIT_REPOSITORY: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
];

/// The interval at which a running program's interrupt and limit are polled; its end is noticed at
/// once.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a program may take to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// How long a terminated program may take to clean up.
const GRACE: Duration = Duration::from_secs(5);

/// The maximum output of a program, in bytes, and how much of it is shown when it fails.
const MOST_OUTPUT: u64 = 64 << 20;
const MOST_SHOWN: usize = 2_000;

/// A program that could not be run successfully.
#[derive(Debug, Error, Diagnostic)]
pub enum ProgramError {
    /// It is not installed.
    #[error("`{program}` is not installed")]
    #[diagnostic(help("install the package {package}: apt-get install {package}"))]
    Missing {
        program: String,
        /// The Debian package that carries it.
        package: String,
    },
    /// It could not be started.
    #[error("`{program}` cannot be started: {cause}")]
    Start {
        program: String,
        /// Why.
        cause: io::Error,
    },
    /// It ended with an error.
    #[error("`{command}` {how}{}", said(output))]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        how: String,
        /// The end of what it printed.
        output: String,
    },
    /// It took too long and was ended.
    #[error(
        "`{command}` was still running after {} and was ended",
        humantime::format_duration(*limit)
    )]
    #[diagnostic(help("raise the phase's `limit` if it needs longer"))]
    Limit {
        /// The command line.
        command: String,
        limit: Duration,
    },
    /// It printed too much and was ended.
    #[error("`{command}` printed more than 64 MiB and was ended")]
    #[diagnostic(help("redirect its output to a file or to /dev/null"))]
    Output {
        /// The command line.
        command: String,
    },
    /// The run is to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The output and duration of a program.
#[derive(Debug)]
pub struct ProgramOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Wall-clock time from start to end.
    pub took: Duration,
}

/// The rules a program runs under.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The marker of its run, by which its descendants are found.
    pub marker: &'a str,
    /// The longest it may take.
    pub limit: Duration,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// The search path if `PATH` names no folder.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A `PATH` without its empty and relative entries: they refer to the current folder, which may be
/// untrusted.
fn absolute_only(path: Option<&OsStr>) -> OsString {
    let folders = std::env::split_paths(path.unwrap_or_default());
    let kept = std::env::join_paths(folders.filter(|folder| folder.is_absolute()));
    kept.ok().filter(|kept| !kept.is_empty()).unwrap_or_else(|| USUAL_PATH.into())
}

/// This program's `PATH`, without its empty and relative entries.
pub fn search_path() -> OsString {
    absolute_only(std::env::var_os("PATH").as_deref())
}

/// Finds a program in `PATH` and in the sbin folders.
pub fn find(program: &str, package: &str) -> Result<PathBuf, ProgramError> {
    std::env::split_paths(&search_path())
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| ProgramError::Missing {
            program: program.to_owned(),
            package: package.to_owned(),
        })
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Runs a program, which must succeed. Its input is empty, its output is captured.
pub fn run(command: Command, rules: Rules<'_>) -> Result<ProgramOutput, ProgramError> {
    run_with_input(command, "", rules)
}

/// Runs a program, which must succeed with an input. Its output is captured.
pub fn run_with_input(
    command: Command,
    input: &str,
    rules: Rules<'_>,
) -> Result<ProgramOutput, ProgramError> {
    run_with_complaint(command, input, rules, |finished| {
        let is_silent = finished.stderr.trim().is_empty();
        if is_silent { finished.stdout.clone() } else { finished.stderr.clone() }
    })
}

/// The same; `complaint` is what explains a failure of what the program printed.
pub fn run_with_complaint(
    command: Command,
    input: &str,
    rules: Rules<'_>,
    complaint: impl FnOnce(&ProgramOutput) -> String,
) -> Result<ProgramOutput, ProgramError> {
    let line = command_line(&command);
    let finished = run_on(input, command, rules)?;
    if finished.status.success() {
        return Ok(finished);
    }
    let output = complaint(&finished);
    Err(ProgramError::Failed { command: line, how: how(finished.status), output })
}

/// Runs a program to its end, whatever its exit code.
pub fn run_to_any_end(command: Command, rules: Rules<'_>) -> Result<ProgramOutput, ProgramError> {
    run_on("", command, rules)
}

/// Runs a program, which must succeed, and passes on each line of its standard output as soon as it
/// has printed it. Its input is empty.
pub fn run_aloud(
    mut command: Command,
    rules: Rules<'_>,
    said: &mut dyn FnMut(&str),
) -> Result<(), ProgramError> {
    let line = command_line(&command);
    let start = |cause| ProgramError::Start { program: line.clone(), cause };
    let (mut output, end) = io::pipe().map_err(start)?;
    let mut stderr = scratch().map_err(start)?;
    command.stdin(Stdio::null()).stdout(end).stderr(stderr.try_clone().map_err(start)?);
    let running = Running::start(&mut command, rules)?;
    // Otherwise the pipe would have no end.
    drop(command);
    let mut lines = Lines::default();
    let mut hear = |piece: &[u8]| lines.add(piece, said);
    let (status, _) = running.end(&[], Some((&mut output, &mut hear)))?;
    lines.close(said);
    if status.success() {
        return Ok(());
    }
    let complaint = contents(&mut stderr).map_err(start)?;
    let output = if complaint.trim().is_empty() { lines.last } else { complaint };
    Err(ProgramError::Failed { command: line, how: how(status), output })
}

/// A command line of the user's, for sh(1), in the root folder.
pub fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir("/");
    command
}

/// Has a command run in a folder of another root, both of which it then cannot leave.
pub fn run_inside(command: &mut Command, root: &Path, folder: &Path) {
    let (root, folder) = (root.to_owned(), folder.to_owned());
    // SAFETY: between fork and exec the closure makes two system calls, with paths that are short
    // enough to be passed on without an allocation.
    unsafe {
        command.pre_exec(move || {
            rustix::process::chroot(&root)?;
            Ok(rustix::process::chdir(&folder)?)
        });
    }
}

/// The lines that a program has printed so far.
#[derive(Default)]
struct Lines {
    /// What has no end yet.
    open: Vec<u8>,
    last: String,
}

impl Lines {
    fn add(&mut self, piece: &[u8], said: &mut dyn FnMut(&str)) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend(part);
            if part.ends_with(b"\n") {
                self.close(said);
            }
        }
    }

    fn close(&mut self, said: &mut dyn FnMut(&str)) {
        if self.open.is_empty() {
            return;
        }
        self.last = String::from_utf8_lossy(&self.open).trim_end_matches('\n').to_owned();
        self.open.clear();
        said(&self.last);
    }
}

fn run_on(
    input: &str,
    mut command: Command,
    rules: Rules<'_>,
) -> Result<ProgramOutput, ProgramError> {
    let line = command_line(&command);
    let start = |cause| ProgramError::Start { program: line.clone(), cause };
    let (mut stdout, mut stderr) = (scratch().map_err(start)?, scratch().map_err(start)?);
    let mut stdin = scratch().map_err(start)?;
    stdin.write_all(input.as_bytes()).and_then(|()| stdin.rewind()).map_err(start)?;
    command
        .stdin(stdin)
        .stdout(stdout.try_clone().map_err(start)?)
        .stderr(stderr.try_clone().map_err(start)?);
    let running = Running::start(&mut command, rules)?;
    let (status, took) = running.end(&[&stdout, &stderr], None)?;
    let (stdout, stderr) =
        (contents(&mut stdout).map_err(start)?, contents(&mut stderr).map_err(start)?);
    Ok(ProgramOutput { status, stdout, stderr, took })
}

/// The pipe that a program prints into, and who hears each piece at once.
type Pipe<'a> = (&'a mut io::PipeReader, &'a mut dyn FnMut(&[u8]));

/// A program that runs under rules. It and its group are killed if it is dropped before its end.
struct Running<'a> {
    child: Child,
    line: String,
    started: Instant,
    rules: Rules<'a>,
    has_ended: bool,
}

impl<'a> Running<'a> {
    fn start(command: &mut Command, rules: Rules<'a>) -> Result<Self, ProgramError> {
        let line = command_line(command);
        belongs_to_us(command, rules.marker);
        let started = Instant::now();
        match command.spawn() {
            Ok(child) => Ok(Self { child, line, started, rules, has_ended: false }),
            Err(cause) => Err(ProgramError::Start { program: line, cause }),
        }
    }

    /// Waits for its end, and returns its status and how long it took; an error if the rules end it
    /// before. It may print no more than `MOST_OUTPUT` into these files and this pipe.
    fn end(
        mut self,
        files: &[&File],
        pipe: Option<Pipe<'_>>,
    ) -> Result<(ExitStatus, Duration), ProgramError> {
        self.watch(files, pipe)?;
        self.has_ended = true;
        let status = self.child.wait().map_err(|cause| self.failed(cause))?;
        Ok((status, self.started.elapsed()))
    }

    fn watch(&self, files: &[&File], mut pipe: Option<Pipe<'_>>) -> Result<(), ProgramError> {
        let failed = |cause| self.failed(cause);
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            .map_err(|errno| failed(errno.into()))?;
        let mut piece = [0; 4096];
        let mut piped_bytes = 0;
        loop {
            let left = self.rules.limit.saturating_sub(self.started.elapsed()).min(POLL_INTERVAL);
            let left = Timespec::try_from(left).expect("a short time");
            let mut watched = vec![PollFd::new(&process, PollFlags::IN)];
            watched.extend(pipe.iter().map(|(output, _)| PollFd::new(output, PollFlags::IN)));
            match poll(&mut watched, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(failed(errno.into())),
            }
            let is_ready: Vec<bool> = watched.iter().map(|fd| !fd.revents().is_empty()).collect();
            if let Some((output, hear)) = pipe.as_mut().filter(|_| is_ready[1]) {
                let length = output.read(&mut piece).map_err(failed)?;
                piped_bytes += length as u64;
                hear(&piece[..length]);
                if length == 0 {
                    pipe = None;
                }
            } else if is_ready[0] {
                return Ok(());
            }
            if self.rules.interrupt.is_set() {
                return Err(ProgramError::Interrupted);
            }
            let command = || self.line.clone();
            if self.started.elapsed() >= self.rules.limit {
                return Err(ProgramError::Limit { command: command(), limit: self.rules.limit });
            }
            let is_large = |file: &&File| file.metadata().is_ok_and(|of| of.len() > MOST_OUTPUT);
            if piped_bytes > MOST_OUTPUT || files.iter().any(is_large) {
                return Err(ProgramError::Output { command: command() });
            }
        }
    }

    fn failed(&self, cause: io::Error) -> ProgramError {
        ProgramError::Start { program: self.line.clone(), cause }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            // The group may be gone already.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its end, whatever its exit code, and passes on its standard error line by
/// line. It has no time limit, because the user watches it. On an interrupt it and its descendants
/// are terminated, then killed.
pub fn follow(
    mut command: Command,
    marker: &str,
    interrupt: &Interrupt,
    line: &mut dyn FnMut(&str),
) -> Result<ExitStatus, ProgramError> {
    let program = command_line(&command);
    let start = |cause| ProgramError::Start { program: program.clone(), cause };
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    belongs_to_us(&mut command, marker);
    let mut child = command.spawn().map_err(start)?;
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for bytes in stderr.split(b'\n').map_while(Result::ok) {
            if sender.send(bytes).is_err() {
                break;
            }
        }
    });
    loop {
        match lines.recv_timeout(POLL_INTERVAL) {
            Ok(bytes) => line(&String::from_utf8_lossy(&bytes)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return child.wait().map_err(start),
        }
        if interrupt.is_set() {
            end(&mut child).map_err(start)?;
            return Err(ProgramError::Interrupted);
        }
    }
}

/// A program that runs in the background until it is dropped.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    line: String,
    output: File,
}

impl Daemon {
    /// Starts a background program.
    pub fn start(mut command: Command, marker: &str) -> Result<Self, ProgramError> {
        let line = command_line(&command);
        let start = |cause| ProgramError::Start { program: line.clone(), cause };
        let output = scratch().map_err(start)?;
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(start)?)
            .stderr(output.try_clone().map_err(start)?);
        belongs_to_us(&mut command, marker);
        let child = command.spawn().map_err(start)?;
        Ok(Self { child, line, output })
    }

    /// Waits until it is ready, and no longer than the rules allow; an error if it ends instead.
    pub fn wait_for(
        &mut self,
        is_ready: impl Fn() -> bool,
        rules: Rules<'_>,
    ) -> Result<(), ProgramError> {
        let started = Instant::now();
        while !is_ready() {
            let start = |cause| ProgramError::Start { program: self.line.clone(), cause };
            if let Some(status) = self.child.try_wait().map_err(start)? {
                let output = contents(&mut self.output).map_err(start)?;
                let command = self.line.clone();
                return Err(ProgramError::Failed { command, how: how(status), output });
            }
            if rules.interrupt.is_set() {
                return Err(ProgramError::Interrupted);
            }
            if started.elapsed() > rules.limit {
                return Err(ProgramError::Limit { command: self.line.clone(), limit: rules.limit });
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Terminates a child's process group, and kills the rest of it after a grace period.
fn end(child: &mut Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    // The child is not reaped before the last signal, so the group is still its own.
    let _ = kill_process_group(pid, Signal::TERM);
    let grace = Timespec::try_from(GRACE).map_err(io::Error::other)?;
    if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) {
        let _ = poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], Some(&grace));
    }
    let _ = kill_process_group(pid, Signal::KILL);
    child.wait().map(drop)
}

/// Puts a program into its own process group that ends with us, and in no repository of a git hook.
fn belongs_to_us(command: &mut Command, marker: &str) {
    let own = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let path = own.map_or_else(search_path, |own| absolute_only(Some(own)));
    command.env("PATH", path).env(MARKER_VARIABLE, marker).process_group(0);
    // In a guest we are the first process, with which all others end. And only a program that is
    // started without a closure is spared a copy of our memory, which takes a guest longer than
    // most programs.
    if getpid().is_init() {
        return;
    }
    for variable in GIT_REPOSITORY {
        if command.get_envs().all(|(name, _)| name != variable) {
            command.env_remove(variable);
        }
    }
    // SAFETY: between fork and exec the closure makes one system call and touches no memory.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

/// The first line a program prints when asked for its version, e.g. `mke2fs 1.47.0`. Some
/// print it on the error output, some end with an error; only the text counts.
pub fn version(program: &Path, argument: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(argument);
    version_of(command)
}

/// The same of a command that asks for it.
pub(crate) fn version_of(command: Command) -> Option<String> {
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "version", limit: VERSION_LIMIT, interrupt: &interrupt };
    let finished = run_to_any_end(command, rules).ok()?;
    let text = finished.stdout + &finished.stderr;
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// An unnamed file in memory: a program that prints much cannot fill a pipe and hang.
fn scratch() -> io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(File::from(rustix::fs::memfd_create("output", flags)?))
}

fn contents(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether a shell ended so because a program is missing or may not be run (POSIX, "Exit Status for
/// Commands").
pub fn is_missing(how: &str) -> bool {
    ["ended with exit code 126", "ended with exit code 127"].contains(&how)
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended with an unknown status".to_owned(),
    }
}

/// The last lines a program printed, as an addition to a message.
fn said(output: &str) -> String {
    let shown = tail(output);
    if shown.is_empty() { shown } else { format!(": {shown}") }
}

/// The last lines a program printed, as one.
pub fn tail(output: &str) -> String {
    let lines: Vec<_> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(4)..];
    tail.join("; ").chars().filter(|c| !c.is_control()).take(MOST_SHOWN).collect()
}

fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;

//! Runs a program of which each system call is heard.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Lines, ProgramError, Rules, Running, command_line, contents, how, scratch};
use crate::processes;
use crate::ptrace::{CallStop, Watched, WatchedCall};

/// How much a program may print at once: it would wait for ever for a reader of more.
const PIPE_BYTES: usize = 1 << 26;

/// Runs a program like [`super::run_aloud`], and passes on each system call of it and of all it
/// starts: for a caller without other children.
pub fn run_watched(
    mut command: Command,
    rules: Rules<'_>,
    watcher: &mut dyn CallWatcher,
) -> Result<(), ProgramError> {
    let line = command_line(&command);
    let start = |cause| ProgramError::Start { program: line.clone(), cause };
    let (mut output, end) = io::pipe().map_err(start)?;
    // What a program prints is read when its call has returned: all of it has to fit.
    let _ = fcntl_setpipe_size(&end, PIPE_BYTES);
    fcntl_setfl(&output, OFlags::NONBLOCK).map_err(|errno| start(errno.into()))?;
    let mut stderr = scratch().map_err(start)?;
    command.stdin(Stdio::null()).stdout(end).stderr(stderr.try_clone().map_err(start)?);
    Watched::ask(&mut command);
    let mut running = Running::start(&mut command, rules)?;
    drop(command);
    let mut lines = Lines::default();
    let own = Pid::from_child(&running.child);
    let mut programs = Watched::default();
    let status = loop {
        let Some(stop) = programs.go_on().map_err(start)? else {
            return Err(start(io::Error::other("it ended unseen")));
        };
        match stop {
            CallStop::Enters(call) => watcher.enters(&call),
            CallStop::Leaves(call, result) => {
                drain(&mut output, &mut lines, &mut |said| watcher.said(said));
                watcher.leaves(&call, result);
            }
            CallStop::Ended(process, status) if process == own.as_raw_nonzero().get() => {
                break ExitStatus::from_raw(status);
            }
            CallStop::Ended(..) => {}
        }
        if running.started.elapsed() >= rules.limit {
            return Err(ProgramError::Limit { command: line, limit: rules.limit });
        }
    };
    // It was waited for; whoever it has left behind ends with it.
    running.has_ended = true;
    let _ = kill_process_group(own, Signal::KILL);
    processes::kill_marked(rules.marker);
    while programs.go_on().map_err(start)?.is_some() {}
    drain(&mut output, &mut lines, &mut |said| watcher.said(said));
    lines.close(&mut |said| watcher.said(said));
    if status.success() {
        return Ok(());
    }
    let complaint = contents(&mut stderr).map_err(start)?;
    let output = if complaint.trim().is_empty() { lines.last } else { complaint };
    Err(ProgramError::Failed { command: line, how: how(status), output })
}

/// Who hears of a program's system calls.
pub trait CallWatcher {
    /// It is about to make one.
    fn enters(&mut self, call: &WatchedCall);
    /// It has made one, which returned this.
    fn leaves(&mut self, call: &WatchedCall, result: i64);
    /// It has printed a line.
    fn said(&mut self, line: &str);
}

/// Reads what is in a pipe.
fn drain(output: &mut io::PipeReader, lines: &mut Lines, said: &mut dyn FnMut(&str)) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = output.read(&mut piece) {
        lines.add(&piece[..length], said);
    }
}

//! Processes started by this program, including those that outlived their parent.
//!
//! Every program is started with a marker in its environment, which its children inherit; so
//! a run's processes are found wherever they have moved to, without a race between starting
//! one and writing down that it was started.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::process::{Pid, Signal, kill_process, pidfd_send_signal};

/// The environment variable that carries the marker.
pub const MARKER_VARIABLE: &str = "SSDLAB_RUN";

/// How many consecutive scans must find no process: during exec(2) a process has no environment,
/// and so no marker.
const LOOKS: u32 = 3;

/// Kills every process that carries the marker and waits (up to five seconds) for its end.
pub fn kill_marked(marker: &str) {
    let started = Instant::now();
    let mut looks = 0;
    while looks < LOOKS && started.elapsed() < Duration::from_secs(5) {
        let left = marked(marker);
        looks = if left.is_empty() { looks + 1 } else { 0 };
        for process in left {
            // It may have ended by itself meanwhile.
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
        sleep(Duration::from_millis(2));
    }
}

/// Descriptors, because a process ID may have been reused by the time it is killed. They are those
/// of folders in `/proc`, which `pidfd_send_signal` takes, too: in a PID namespace that sees the
/// `/proc` of another the numbers there mean nothing.
fn marked(marker: &str) -> Vec<OwnedFd> {
    let wanted = format!("{MARKER_VARIABLE}={marker}");
    let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = own();
    pids()
        .filter(|pid| Some(*pid) != own)
        .filter_map(|pid| {
            let path = format!("/proc/{}", pid.as_raw_nonzero());
            let process = open(path, folder, Mode::empty()).ok()?;
            // A zombie's environment is empty: it counts as ended.
            let file = OFlags::RDONLY | OFlags::CLOEXEC;
            let mut environment = Vec::new();
            let opened = openat(&process, "environ", file, Mode::empty()).ok()?;
            fs::File::from(opened).read_to_end(&mut environment).ok()?;
            let mut entries = environment.split(|byte| *byte == 0);
            entries.any(|entry| entry == wanted.as_bytes()).then_some(process)
        })
        .collect()
}

/// Sends SIGTERM to the descendants of a child, once each: those in `asked` already got it. In a
/// PID namespace that sees the `/proc` of another they are not found.
pub fn ask_descendants_to_end(parent: &Child, asked: &mut BTreeSet<i32>) {
    if own().is_some_and(|own| own != rustix::process::getpid()) {
        return;
    }
    let mut parents = vec![parent.id().to_string()];
    while let Some(parent) = parents.pop() {
        for child in children(&parent) {
            parents.push(child.to_string());
            if let Some(pid) = Pid::from_raw(child)
                && asked.insert(child)
            {
                // It may have ended by itself meanwhile.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
    }
}

/// The children of a process, started by any of its threads.
fn children(parent: &str) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    let words = lists.iter().flat_map(|list| list.split_whitespace());
    words.filter_map(|child| child.parse().ok()).collect()
}

/// The processes with a working directory or an open file below `folder`, for messages.
pub fn holding(folder: &Path) -> Vec<String> {
    let below = |link: &Path| fs::read_link(link).is_ok_and(|target| target.starts_with(folder));
    pids()
        .filter_map(|pid| {
            let process = Path::new("/proc").join(pid.as_raw_nonzero().to_string());
            let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
            let holds = below(&process.join("cwd"))
                || below(&process.join("root"))
                || descriptors.into_iter().any(|entry| below(&entry.path()));
            let pid = pid.as_raw_pid().unsigned_abs();
            holds.then(|| format!("{} (process {pid})", command(pid)))
        })
        .collect()
}

/// The name of a process's command, as the kernel keeps it (15 bytes at most), for messages.
pub fn command(pid: u32) -> String {
    shown_command(&fs::read(format!("/proc/{pid}/comm")).unwrap_or_default())
}

/// The contents of a `comm` as they may be shown.
pub fn shown_command(comm: &[u8]) -> String {
    // A process can choose its name freely.
    let is_shown = |letter: &char| !letter.is_control();
    String::from_utf8_lossy(comm).trim_end().chars().filter(is_shown).collect()
}

/// `PF_KTHREAD` in `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Whether a process is a thread of the kernel, by its folder in `/proc`; `None` if it has ended.
/// The flags are the seventh word in `stat` after the command, which is in brackets.
pub(crate) fn is_kernel_thread(process: &Path) -> Option<bool> {
    let stat = fs::read(process.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let flags = stat.rsplit_once(')')?.1.split_whitespace().nth(6)?.parse::<u64>().ok()?;
    Some(flags & KERNEL_THREAD != 0)
}

/// The PID namespace that all others are within (Linux, `PROC_PID_INIT_INO` in
/// `include/linux/proc_ns.h`).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

fn is_in_first_namespace(process: &str) -> bool {
    let namespace = fs::read_link(format!("/proc/{process}/ns/pid"));
    namespace.is_ok_and(|namespace| namespace == Path::new(FIRST_NAMESPACE))
}

/// Whether the numbers of threads that this process sees are those of the kernel's events: in a PID
/// namespace of its own they are others.
pub fn has_numbers_of_kernel() -> bool {
    is_in_first_namespace("self")
}

/// Whether `/proc` shows all processes of the machine: in a PID namespace of its own, as most
/// containers have, it shows only those in it.
pub fn sees_all() -> bool {
    // A process in a namespace of its own may see the `/proc` of the first.
    has_numbers_of_kernel()
        || pids().any(|pid| is_in_first_namespace(&pid.as_raw_nonzero().to_string()))
}

/// The number of this process in `/proc`, which may be that of another namespace.
pub(crate) fn own() -> Option<Pid> {
    let link = fs::read_link("/proc/self").ok()?;
    link.to_str()?.parse().ok().and_then(Pid::from_raw)
}

/// The numbers of all processes.
pub(crate) fn pids() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(Pid::from_raw)
}

/// Whether this process is root outside of every user namespace, whose root may read no more than
/// its user.
pub fn is_root_of_machine() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let is_first = map.split_whitespace().eq(["0", "0", "4294967295"]);
    rustix::process::geteuid().is_root() && is_first
}

#[cfg(test)]
mod tests;

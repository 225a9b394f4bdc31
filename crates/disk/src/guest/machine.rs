//! Starts the lab kernel, serves its disks and its clock, and ends it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crate::{Disk, DiskError, Fingerprint, GuestOptions, GuestProcess};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_send_signal,
    set_parent_process_death_signal, waitid,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use ssdlab_flash::Nanos;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::processes::MARKER_VARIABLE;
use ssdlab_plan::HostModel;
use thiserror::Error;

use super::Root;
use super::confinement::{Confinement, GuestFiles};
use super::in_place::Namespace;

/// The boot time of every guest: 2020-01-01T00:00:00Z.
const EPOCH: Nanos = Nanos(1_577_836_800_000_000_000);

/// The interval at which interrupts are polled while the guest works.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How much of a console's end is kept, in bytes.
const CONSOLE_BYTES: usize = 16 << 10;

/// The status with which the lab kernel ends when the guest reboots (`kernel/ssdlab.h`).
const REBOOTED: i32 = 3;

/// The time controller's socket and the disks', in the machine's folder.
const CALENDAR: &str = "calendar";

/// A guest to be started.
#[derive(Debug)]
pub struct GuestMachine<'a> {
    pub kernel: &'a Path,
    pub root: &'a Root,
    /// An empty folder of this guest's own.
    pub folder: &'a Path,
    /// The folder of the file that backs its memory: see [`room`].
    pub memory: &'a Path,
    /// The computer it models.
    pub host: &'a HostModel,
    /// The seed of the guest's randomness.
    pub seed: u64,
    /// The limit of its time.
    pub limit: Nanos,
    /// How long it may compute, in processor time, without issuing a request.
    pub timeout: Duration,
    /// The marker in the environment of the guest's processes on this machine.
    pub marker: &'a str,
}

/// A guest that has powered off.
#[derive(Debug)]
pub struct GuestExit {
    /// The fingerprint of all requests to its disks.
    pub fingerprint: Fingerprint,
    /// The end of its console output.
    pub console: String,
}

/// Why a guest failed.
#[derive(Debug, Error)]
pub enum MachineError {
    /// The machine could not do a step.
    #[error("cannot {step}: {cause}")]
    Step { step: &'static str, cause: io::Error },
    /// No place for the guest's memory.
    #[error(
        "no folder that is writable and on a filesystem without noexec has room for a guest's \
         memory of {bytes} bytes; tried {tried}: free some space, or set TMPDIR to such a folder"
    )]
    NoMemory {
        /// The size of the memory.
        bytes: u64,
        /// The folders that were tried.
        tried: String,
    },
    /// The guest went wrong.
    #[error("{cause}{}", said(console))]
    Guest {
        /// What went wrong.
        cause: Box<DiskError>,
        /// The end of its console output.
        console: String,
    },
    /// The kernel ended with an error.
    #[error("the guest ended unexpectedly, {how}{}", said(console))]
    Died {
        how: String,
        /// The end of its console output.
        console: String,
    },
    /// The run is to stop.
    #[error("interrupted")]
    Interrupted,
}

impl MachineError {
    /// Whether the guest's kernel is to blame, which on another computer would do the same.
    pub fn is_of_guest(&self) -> bool {
        match self {
            Self::Died { .. } => true,
            Self::Guest { cause, .. } => cause.is_of_guest(),
            Self::Step { .. } | Self::NoMemory { .. } | Self::Interrupted => false,
        }
    }
}

fn said(console: &str) -> String {
    let text = console.trim();
    if text.is_empty() {
        "; its console is empty".to_owned()
    } else {
        format!("; its console:\n{text}")
    }
}

fn step(step: &'static str) -> impl FnOnce(io::Error) -> MachineError {
    move |cause| MachineError::Step { step, cause }
}

impl GuestMachine<'_> {
    /// The socket of a disk, for [`Disk::new`]. Disks are named in the order in which the guest
    /// finds them.
    pub fn listener(&self, name: &str) -> Result<UnixListener, MachineError> {
        // The path of a socket must be short, even if the folder's is long.
        let folder = File::open(self.folder).map_err(step("open the guest's folder"))?;
        let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
        UnixListener::bind(path).map_err(step("make a socket for the guest"))
    }

    /// Runs the guest to its end.
    pub fn run(
        &self,
        disks: &mut [Disk<'_>],
        interrupt: &Interrupt,
    ) -> Result<GuestExit, MachineError> {
        let calendar = self.listener(CALENDAR)?;
        let (console, console_end) = io::pipe().map_err(step("make a pipe for the console"))?;
        let names: Vec<String> = disks.iter().map(|disk| disk.name().to_owned()).collect();
        let memory = tempfile::tempfile_in(self.memory).map_err(step("make the guest's memory"))?;
        let command = self.command(&names, console_end, &memory)?;
        let needs = GuestFiles {
            kernel: self.kernel,
            root: self.root.folder(),
            sockets: self.folder,
            memory,
        };
        let confinement = Confinement::new(needs).map_err(step("confine the lab kernel"))?;
        let namespace = Namespace::new(self.root.in_place());
        let _processor = KeptProcessor::current();
        let mut guest = Guest::start(command, namespace, confinement)?;
        let process =
            GuestProcess::new(&guest.child, self.timeout).map_err(step("watch the guest"))?;
        let kernel = process.as_fd().try_clone_to_owned().map_err(step("watch the guest"))?;
        let options =
            GuestOptions { epoch: EPOCH, limit: Some(self.limit), process: Some(process) };
        let (served, console) = thread::scope(|scope| {
            let attendant = scope.spawn(|| attend(console, &kernel, interrupt));
            let served = crate::run(calendar, disks, options);
            if served.is_err() {
                guest.kill();
            }
            let status = guest.wait();
            // The console ends with the last of the guest's processes.
            let console = attendant.join().unwrap_or_default();
            (served.map(|outcome| (outcome, status)), console)
        });
        if interrupt.is_set() {
            return Err(MachineError::Interrupted);
        }
        let (outcome, status) = served.map_err(|cause| MachineError::Guest {
            cause: Box::new(cause),
            console: console.clone(),
        })?;
        let status = status.map_err(step("wait for the guest"))?;
        if status.code() == Some(REBOOTED) {
            let how = "by a reboot, which programs in a guest must not do".to_owned();
            return Err(MachineError::Died { how, console });
        }
        if !status.success() {
            return Err(MachineError::Died { how: status.to_string(), console });
        }
        Ok(GuestExit { fingerprint: outcome.fingerprint, console })
    }

    /// The kernel's command line. Paths are relative, so that it does not depend on the locations
    /// of guest and kernel: its length affects the guest's memory layout, and a different kernel
    /// path gave jfs a different fingerprint.
    fn command(
        &self,
        disks: &[String],
        console: io::PipeWriter,
        memory: &File,
    ) -> Result<Command, MachineError> {
        let HostModel { costs, memory_bytes, .. } = self.host;
        let (root, kernel) = (self.folder.join("root"), self.folder.join("linux"));
        symlink(self.root.folder(), root).map_err(step("name the root"))?;
        symlink(self.kernel, kernel).map_err(step("name the kernel"))?;
        let mut command = Command::new("./linux");
        command
            .arg(format!("time-travel=ext:{CALENDAR}"))
            .arg(format!("mem={}M", memory_bytes >> 20))
            .args([
                "root=none",
                "rootfstype=hostfs",
                "hostfs=.",
                "rootflags=root",
                "ro",
                "init=/init",
            ])
            .args(["con=null", "con0=null,fd:1", "quiet"])
            .args(disks.iter().map(|disk| format!("virtio_uml.device={disk}:2")))
            .arg(format!("ssdlab.seed={}", self.seed))
            .arg(format!("ssdlab.cpu={costs}"))
            .args(Root::environment())
            .args(["--", "guest"])
            .current_dir(self.folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SSDLAB_MEMORY", memory.as_raw_fd().to_string())
            .env(MARKER_VARIABLE, self.marker)
            .stdin(Stdio::null())
            .stderr(console.try_clone().map_err(step("share the console"))?)
            .stdout(console);
        Ok(command)
    }
}

/// A folder for the files that back guests' memory, of this many bytes in total. They grow with
/// use, and the kernel runs programs from there.
pub fn room(bytes: u64) -> Result<PathBuf, MachineError> {
    let set = std::env::var_os("TMPDIR").map(PathBuf::from);
    let folders = [Some("/dev/shm".into()), set, Some("/tmp".into()), Some("/var/tmp".into())];
    // A minimal root may have a /dev/shm that only root can write to.
    let has_room = |folder: &PathBuf| {
        access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
            && statvfs(folder).is_ok_and(|space| {
                space.f_bavail.saturating_mul(space.f_frsize) >= bytes
                    && !space.f_flag.contains(StatVfsMountFlags::NOEXEC)
            })
    };
    let mut tried = Vec::new();
    for folder in folders.into_iter().flatten() {
        if has_room(&folder) {
            return Ok(folder);
        }
        tried.push(folder.display().to_string());
    }
    Err(MachineError::NoMemory { bytes, tried: tried.join(", ") })
}

/// Pins this thread, and the guests it starts, to the n-th allowed processor, so that several
/// threads do not share one.
pub fn pin(nth: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    let Some(cpu) = allowed.get(nth % allowed.len().max(1)) else { return };
    keep_to(*cpu);
}

/// Keeps this thread to one processor. If that is not allowed, the run only takes longer.
fn keep_to(cpu: usize) {
    let mut one = CpuSet::new();
    one.set(cpu);
    let _ = sched_setaffinity(None, &one);
}

/// This thread, kept to the processor that it runs on, until this is dropped. A guest and its
/// server alternate, thousands of times a second: to wake each other on another processor may take
/// longer than what they do.
struct KeptProcessor(Option<CpuSet>);

impl KeptProcessor {
    fn current() -> Self {
        Self(sched_getaffinity(None).ok().inspect(|_| keep_to(sched_getcpu())))
    }
}

impl Drop for KeptProcessor {
    fn drop(&mut self) {
        if let Some(allowed) = &self.0 {
            let _ = sched_setaffinity(None, allowed);
        }
    }
}

/// A guest's processes: a group of their own, which ends with this thread at the latest.
struct Guest {
    child: Child,
    has_ended: bool,
}

impl Guest {
    fn start(
        mut command: Command,
        namespace: Namespace,
        mut confined: Confinement,
    ) -> Result<Self, MachineError> {
        command.process_group(0);
        // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                namespace.enter()?;
                set_parent_process_death_signal(Some(Signal::KILL))?;
                confined.enter()
            });
        }
        let child = command.spawn().map_err(step("start the lab kernel"))?;
        Ok(Self { child, has_ended: false })
    }

    fn kill(&self) {
        // It may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// Waits for the kernel, then ends processes that it may have left. Until the kernel is reaped,
    /// its process ID cannot be reused.
    fn wait(&mut self) -> io::Result<ExitStatus> {
        let kernel = WaitId::Pid(Pid::from_child(&self.child));
        waitid(kernel, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        self.kill();
        self.has_ended = true;
        self.child.wait()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// Drains the console, so that it never blocks the guest, and kills the guest when the run is to
/// stop. Returns the end of the console output.
fn attend(mut console: io::PipeReader, kernel: &OwnedFd, interrupt: &Interrupt) -> String {
    let glance = Timespec::try_from(POLL_INTERVAL).expect("a short time");
    let mut kept = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let mut watched = [PollFd::new(&console, PollFlags::IN)];
        match poll(&mut watched, Some(&glance)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
            Ok(_) => match console.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(length) => kept.extend(&piece[..length]),
            },
        }
        if kept.len() > 2 * CONSOLE_BYTES {
            kept.drain(..kept.len() - CONSOLE_BYTES);
        }
        if interrupt.is_set() {
            let _ = pidfd_send_signal(kernel, Signal::KILL);
        }
    }
    let text = String::from_utf8_lossy(&kept[kept.len().saturating_sub(CONSOLE_BYTES)..]);
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests;

//! `ssdlab serve`: serves a simulated drive in real time to other software.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Report, WrapErr};
use ssdlab_disk::serve::{Departure, FuseDisk, FuseState, ServeError, VhostUserDisk};
use ssdlab_disk::{DiskShape, Flash};
use ssdlab_flash::{Condition, Preparation, Specification};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::memory;
use ssdlab_host::undo::{self as undo, Change};
use ssdlab_lab::LabError;
use ssdlab_plan::Bytes;
use ssdlab_report as report;

use super::exit::{Exit, UsageError};
use super::{drive, output};

/// How long requests may remain unanswered past their due time before they fail.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval at which signals and the state of the disk are polled.
const STEP: Duration = Duration::from_millis(50);

/// Arguments of `ssdlab serve`.
#[derive(Debug, Args)]
pub struct ServeCommand {
    /// A drive file, or the name of a shipped drive (`ssdlab drive list`).
    #[arg(long, value_name = "FILE|NAME")]
    drive: String,
    /// Override the drive's capacity; spare space scales with it, caches do not.
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// The state the drive is brought into first, as for `ssdlab simulate`. It reads as zeros in
    /// any state.
    #[arg(long, value_name = "STATE", default_value = "purged")]
    condition: Condition,
    /// The seed of all randomness.
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    #[command(flatten)]
    way: Way,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Way {
    /// Serve a virtio disk to a virtual machine over vhost-user, at this socket.
    #[arg(long, value_name = "SOCKET")]
    vhost_user: Option<PathBuf>,
    /// Serve a file named `disk` in this empty folder through FUSE, for a loop device. Needs root.
    #[arg(long, value_name = "DIR")]
    fuse: Option<PathBuf>,
}

impl ServeCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let folder = self.way.fuse.as_deref().map(mount_point).transpose()?;
        let socket = self.way.vhost_user.as_deref().map(printable).transpose()?;
        let specification = drive::load(&self.drive, self.capacity)?;
        check_memory(&specification, memory::available_bytes())?;
        let preparation = Preparation::whole(specification.clone(), self.condition, self.seed);
        let (drive, _) = preparation.prepare(&mut ssdlab_flash::unwatched).map_err(|error| {
            UsageError::report(
                format!("{}: {error}", specification.name),
                "choose another --condition",
            )
        })?;
        let backend = Box::new(Flash::new(drive));
        // Not earlier: until there is something to undo, a signal simply ends the program.
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        match (folder, socket) {
            (Some(folder), _) => as_file(backend, &specification, &folder, &interrupt),
            (_, Some(socket)) => over_vhost_user(backend, &specification, socket, &interrupt),
            (None, None) => unreachable!("clap asks for one of them"),
        }
    }
}

/// Refuses a drive whose full contents would not fit in memory: its users would lose data.
fn check_memory(drive: &Specification, available_bytes: u64) -> Result<(), Report> {
    let needed_bytes = Flash::most_bytes(drive);
    if needed_bytes <= available_bytes {
        return Ok(());
    }
    let reason = format!(
        "a full {} takes {} of memory, but only {} are available; choose a smaller --capacity",
        described(drive),
        Bytes(needed_bytes),
        Bytes(available_bytes),
    );
    Err(LabError::Unavailable { reason }.into())
}

/// The folder for `--fuse`, as the kernel will call it.
fn mount_point(named: &Path) -> Result<PathBuf, Report> {
    let folder = named.canonicalize().map_err(|cause| {
        let message = format!("{}: {cause}", named.display());
        UsageError::report(message, "--fuse takes an existing empty folder")
    })?;
    printable(&folder)?;
    Ok(folder)
}

/// Refuses a name that cannot be printed unchanged: the suggested commands would name another file.
fn printable(path: &Path) -> Result<&Path, Report> {
    let is_plain = |text: &str| !text.contains(char::is_control);
    if path.to_str().is_some_and(is_plain) {
        return Ok(path);
    }
    Err(UsageError::report(
        format!("{}: the name is not UTF-8, or has control characters", path.display()),
        "choose a name that can be typed: the commands for its users contain it",
    ))
}

fn as_file(
    backend: Box<Flash>,
    drive: &Specification,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<Exit, Report> {
    if !rustix::process::geteuid().is_root() {
        let reason = "mounting a filesystem needs root; run it with sudo".to_owned();
        return Err(LabError::Unavailable { reason }.into());
    }
    // From then on the journal's entries may be undone at any time.
    FuseDisk::check(folder).map_err(|error| explained(&error))?;
    let mut journal = undo::start().into_diagnostic().wrap_err("cannot start the undo journal")?;
    journal
        .will(Change::Served { target: folder.to_owned() })
        .into_diagnostic()
        .wrap_err("cannot write the undo journal")?;
    let source = Change::source(journal.marker());
    let disk = FuseDisk::mount(backend, &DiskShape::of(drive), folder, &source, ANSWER_TIMEOUT)
        .map_err(|error| explained(&error))?;
    let file = disk.file().display().to_string();
    output::print(&format!(
        "serving {} as {file}; stop with Ctrl-C\nfor a block device: losetup --find --show \
         --direct-io=on {}\n",
        described(drive),
        output::quoted(&file),
    ));
    if !disk.is_guarded() {
        output::tell(
            "warning: the kernel refused to exempt this server from waiting for its own disk when \
             memory is short; start it in a different memory cgroup from the programs that write \
             to the disk (docs/how-to/serve.md)",
        );
    }
    let in_use = format!(
        "{file} is in use and stays served until it is released (`losetup --list` shows its loop \
         devices); press Ctrl-C again to stop now, with errors for its users"
    );
    let state = || match disk.state() {
        FuseState::Serving => None,
        FuseState::Unmounted => Some(End::Free),
        FuseState::Stuck => Some(End::Stuck),
    };
    let end =
        wait(interrupt, &in_use, state, || disk.unmount()).map_err(|error| explained(&error))?;
    if end == End::Abandoned {
        disk.abandon().map_err(|error| explained(&error))?;
    }
    output::print(&report::serving(&disk.summary(), drive.timing.is_some()));
    journal.finish()?;
    match end {
        End::Free => Ok(Exit::Done),
        End::Abandoned => Ok(Exit::Interrupted),
        End::Stuck => Err(Report::msg(format!(
            "no request was answered for {} s; users of {file} got errors. Unmount and detach \
             whatever is stacked on it, and start again",
            ANSWER_TIMEOUT.as_secs()
        ))),
    }
}

/// How serving ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The disk was no longer in use.
    Free,
    /// It was in use, and a second signal arrived.
    Abandoned,
    /// It stopped answering.
    Stuck,
}

/// Waits for a signal or an end, and releases the disk. A disk in use stays served, with a message,
/// until it is released or another signal arrives.
fn wait(
    interrupt: &Interrupt,
    in_use: &str,
    ended: impl Fn() -> Option<End>,
    free: impl Fn() -> Result<bool, ServeError>,
) -> Result<End, ServeError> {
    let mut again: Option<Interrupt> = None;
    loop {
        if let Some(end) = ended() {
            return Ok(end);
        }
        if again.as_ref().is_some_and(Interrupt::is_set) {
            return Ok(End::Abandoned);
        }
        if interrupt.is_set() {
            if free()? {
                return Ok(End::Free);
            }
            if again.is_none() {
                // Before announcing it, as the user may press Ctrl-C at once.
                again = Interrupt::on_signals().ok();
                output::tell(in_use);
            }
        }
        sleep(STEP);
    }
}

fn over_vhost_user(
    backend: Box<Flash>,
    drive: &Specification,
    socket: &Path,
    interrupt: &Interrupt,
) -> Result<Exit, Report> {
    let disk = VhostUserDisk::listen(backend, DiskShape::of(drive), socket)
        .map_err(|error| explained(&error))?;
    output::print(&format!(
        "serving {} at {}; stop with Ctrl-C\n{}",
        described(drive),
        output::quoted(&socket.display().to_string()),
        for_qemu(&socket.display().to_string()),
    ));
    let in_use = format!(
        "{} is in use and stays served until the virtual machine ends; press Ctrl-C again to stop \
         now, with errors for its users",
        socket.display()
    );
    let ended = || {
        for departure in disk.departures() {
            output::tell(&warning(&departure));
        }
        disk.has_ended().then_some(End::Free)
    };
    let end = wait(interrupt, &in_use, ended, || Ok(disk.release()))
        .map_err(|error| explained(&error))?;
    let (summary, error) = disk.close();
    output::print(&report::serving(&summary, drive.timing.is_some()));
    match (error, end) {
        (Some(error), _) => Err(Report::msg(format!("{}: {error}", socket.display()))),
        (None, End::Abandoned) => Ok(Exit::Interrupted),
        (None, End::Free | End::Stuck) => Ok(Exit::Done),
    }
}

/// The QEMU options for the disk. QEMU's default queue length, 128, is shorter than the drive's
/// longest request may be (VIRTIO 1.2, 2.7.5.3.1).
fn for_qemu(socket: &str) -> String {
    // QEMU escapes a comma in a value by doubling it.
    let chardev = output::quoted(&format!("socket,id=drive,path={}", socket.replace(',', ",,")));
    format!(
        "for QEMU: -m 2G -object memory-backend-memfd,id=ram,size=2G,share=on -machine \
         memory-backend=ram -chardev {chardev} -device \
         vhost-user-blk-pci,chardev=drive,num-queues=1,queue-size=256\n\
         -m and size= are both the machine's memory and must be equal; the drive has one queue, of \
         at most 1024 entries\n"
    )
}

fn warning(departure: &Departure) -> String {
    let way_out = match departure {
        Departure::Unused => "if QEMU refused it, add num-queues=1",
        Departure::Disconnected(_) => "the drive stays served; restart the machine to use it again",
    };
    format!("warning: {departure}; {way_out}")
}

fn described(drive: &Specification) -> String {
    format!("{} ({} bytes)", drive.name, drive.capacity_bytes())
}

/// An error with its exit code and a remedy.
fn explained(error: &ServeError) -> Report {
    let help = match error {
        ServeError::InUse(_) => "stop that server, or choose another socket",
        ServeError::Locked { .. } => "end that program, or choose a socket in another folder",
        ServeError::NotASocket(_) => "choose another name for the socket",
        ServeError::Mounted(_) => {
            "stop the server that uses it, or run `ssdlab restore` if it was killed; or make an \
             empty folder for --fuse"
        }
        ServeError::NotEmpty(_) => "make an empty folder for --fuse",
        ServeError::Shape(_) => "choose another --capacity",
        ServeError::Step { cause, .. } if cause.kind() == std::io::ErrorKind::NotADirectory => {
            "--fuse takes a folder"
        }
        ServeError::Listen { .. } => {
            "--vhost-user takes a path of at most 107 bytes in a writable folder"
        }
        ServeError::Unanswered { .. } => {
            "remove it if nobody uses it, or choose another name for the socket"
        }
        ServeError::Step { .. } => {
            return LabError::Unavailable { reason: error.to_string() }.into();
        }
    };
    UsageError::report(error.to_string(), help)
}

#[cfg(test)]
mod tests;

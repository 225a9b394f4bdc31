//! Tests that change the machine: loop devices, filesystems, signals. They need root: a test that
//! cannot run is reported as ignored, with its reason.

mod ageing;
#[path = "../common/mod.rs"]
mod common;
mod directory;
#[path = "../common/every_workload.rs"]
mod every_workload;
mod failures;
mod in_mid_run;
#[path = "../common/lab_kernel.rs"]
mod lab_kernel;
mod labs;
mod ledger;
mod live;
mod probing;
#[path = "../common/program.rs"]
mod program;
mod reading;
mod recording;
mod safety;
mod serving;
mod settings;
mod stopping;
mod support;
mod undoing;
mod unsafe_targets;
mod who;
mod workloads;

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::panic::UnwindSafe;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Arguments;
use rustix::fs::{Mode, OFlags};
use ssdlab_host::lock;

/// A test and what it needs beyond root.
struct Case {
    name: &'static str,
    needs: Needs,
    run: Box<dyn FnOnce() + Send + UnwindSafe>,
}

impl Case {
    fn new(
        name: &'static str,
        needs: Needs,
        run: impl FnOnce() + Send + UnwindSafe + 'static,
    ) -> Self {
        Self { name, needs, run: Box::new(run) }
    }
}

/// What a test needs.
enum Needs {
    /// Only an ordinary user.
    Nothing,
    /// Root, to make filesystems on loop devices.
    Root,
    /// Root, and a root filesystem on a disk.
    RootOnDisk,
    /// Root, and a kernel with FUSE.
    Fuse,
    /// Root, a kernel with FUSE, and strace.
    FuseAndStrace,
    /// Root, a kernel with FUSE, and zfs-fuse that is not running: two cannot run at once.
    OwnZfs,
    /// Direct I/O in the source folder: not every temporary folder supports it.
    DirectIo,
    /// Root, and this program.
    RootAnd(&'static str),
    /// Root, and a lab kernel.
    LabKernel,
    /// Root, and a file of the kernel.
    RootAndFile(&'static str),
    /// strace, and permission to use it.
    Strace,
    /// Root, and strace.
    RootAndStrace,
}

fn case(name: &'static str, run: fn()) -> Case {
    Case::new(name, Needs::Root, run)
}

impl Needs {
    fn root(&self) -> bool {
        !matches!(self, Self::Nothing | Self::DirectIo | Self::Strace)
    }
}

fn main() {
    let mut arguments = Arguments::from_args();
    // Loop devices, mounts and the clock are shared: one test at a time.
    arguments.test_threads = Some(1);
    let is_root = support::is_root_of_machine();
    let _lock = (is_root && !arguments.list).then(suite_lock);
    let cases = [
        labs::cases(),
        ledger::cases(),
        reading::cases(),
        recording::cases(),
        settings::cases(),
        ageing::cases(),
        safety::cases(),
        unsafe_targets::cases(),
        directory::cases(),
        failures::cases(),
        in_mid_run::cases(),
        stopping::cases(),
        undoing::cases(),
        workloads::cases(),
        serving::cases(),
        probing::cases(),
        who::cases(),
        live::cases(),
    ];
    let can_trace = Command::new("strace").arg("true").output().is_ok_and(|o| o.status.success());
    let has_fuse = Path::new("/dev/fuse").exists();
    let trials = cases.into_iter().flatten().map(|case| {
        let reason = match &case.needs {
            needs if !is_root && needs.root() => {
                Some("needs root that may mount and set up loop devices".to_owned())
            }
            Needs::RootAnd(program) if !is_installed(program) => Some(format!("needs {program}")),
            Needs::LabKernel => lab_kernel::kernel().as_ref().err().cloned(),
            Needs::RootAndFile(file) if !Path::new(file).exists() => Some(format!("needs {file}")),
            Needs::Fuse | Needs::FuseAndStrace | Needs::OwnZfs if !has_fuse => {
                Some("needs FUSE".to_owned())
            }
            Needs::OwnZfs => lacks_own_zfs(),
            Needs::RootOnDisk if !safety::root_is_on_a_disk() => {
                Some("needs a root filesystem on a disk".to_owned())
            }
            Needs::DirectIo if !takes_direct_io() => Some("needs direct I/O".to_owned()),
            Needs::Strace | Needs::RootAndStrace | Needs::FuseAndStrace if !can_trace => {
                Some("needs strace".to_owned())
            }
            _ => None,
        };
        let run = case.run;
        common::trial(case.name, run)
            .with_kind(reason.clone().unwrap_or_default())
            .with_ignored_flag(reason.is_some())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Waits until no other checkout runs this suite: the mount namespaces of one keep the mounts of
/// the other alive, and their pools have the same names.
fn suite_lock() -> File {
    let path = Path::new("/run/ssdlab-tests.lock");
    let file = File::options().create(true).append(true).mode(0o600).open(path).unwrap();
    if file.try_lock().is_err() {
        let holder = lock::holder(path).map_or("others".to_owned(), |holder| holder.to_string());
        eprintln!("waiting for {holder}, which runs these tests");
        file.lock().unwrap();
    }
    file
}

/// Where files are opened with direct I/O.
const DIRECT_IO: &str = env!("CARGO_MANIFEST_DIR");

fn takes_direct_io() -> bool {
    let file = tempfile::NamedTempFile::new_in(DIRECT_IO).unwrap();
    rustix::fs::open(file.path(), OFlags::RDONLY | OFlags::DIRECT, Mode::empty()).is_ok()
}

/// Why no zfs-fuse can be started here.
fn lacks_own_zfs() -> Option<String> {
    if !is_installed("zfs-fuse") {
        return Some("needs zfs-fuse".to_owned());
    }
    let pool = ssdlab_filesystem::find("zfs").and_then(|zfs| zfs.pool).expect("zfs has pools");
    let is_running = UnixStream::connect(pool.daemon.socket).is_ok();
    is_running.then(|| "needs zfs-fuse to be stopped: systemctl stop zfs-fuse".to_owned())
}

fn is_installed(program: &str) -> bool {
    common::shell(&format!("command -v {program}")).status.success()
}

//! Failing guests are ended and reported, and a killed run leaves nothing behind.
//!
//! This test program is the guests' first process, and fails as its job says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::geteuid;
use rustix::system::{RebootCommand, reboot};
use serde::{Deserialize, Serialize};
use ssdlab_disk::guest::{
    self as guest, GuestChannel, GuestExit, GuestMachine, HostChannel, MachineError, Root,
};
use ssdlab_disk::{Disk, DiskShape, Memory};
use ssdlab_flash::Nanos;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_plan::HOSTS;

use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 9] = [
    ("a_guest_that_panics_is_reported_with_its_console", panics),
    ("a_guest_that_computes_for_ever_is_ended", computes),
    ("a_guest_that_waits_for_ever_is_ended", waits),
    ("a_guest_that_powers_off_has_ended_well", powers_off),
    ("a_guest_that_reboots_is_ended_and_reported", reboots),
    ("a_guest_cannot_mount_the_files_of_its_host", reaches),
    ("the_process_of_a_guest_has_no_privileges_and_gains_none", confined),
    ("an_interrupt_ends_a_guest", interrupted),
    ("a_killed_run_leaves_no_process_and_nothing_after_restore", killed),
];

/// What a guest does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Job {
    Panic,
    Compute,
    Wait,
    PowerOff,
    Reboot,
    Reach,
}

/// The life of a guest.
pub fn in_guest() -> ! {
    guest::prepare().unwrap();
    println!("the guest is up");
    match GuestChannel::open(Path::new("/dev/vdb")).unwrap().job().unwrap() {
        Job::Panic => panic!("as told"),
        Job::Compute => loop {
            std::hint::spin_loop();
        },
        Job::Wait => loop {
            sleep(Duration::from_hours(1));
        },
        Job::PowerOff => panic!("{}", guest::shut_down()),
        Job::Reboot => panic!("{:?}", reboot(RebootCommand::Restart)),
        Job::Reach => {
            let another = mount("none", "/tmp", "hostfs", MountFlags::empty(), Some(c"/../.."));
            assert_eq!(another, Err(Errno::PERM));
            assert_eq!(mount_remount("/", MountFlags::empty(), c""), Err(Errno::ROFS));
            panic!("{}", guest::shut_down())
        }
    }
}

/// Runs a guest with a job; it has an hour of virtual time. It may be silent for a minute of
/// processor time or, if silence is its job, for somewhat longer than it takes to get there.
fn run(job: Job, interrupt: &Interrupt) -> Result<GuestExit, MachineError> {
    let place = tempfile::tempdir().unwrap();
    let [root, folder] = ["root", "guest"].map(|name| place.path().join(name));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&folder).unwrap();
    let marker = format!("test-{}", std::process::id());
    let rules =
        Rules { marker: &marker, limit: Duration::from_mins(1), interrupt: &Interrupt::default() };
    let root = Root::make(&root, rules).unwrap();
    let machine = GuestMachine {
        kernel: Path::new(kernel().as_ref().unwrap()),
        root: &root,
        folder: &folder,
        memory: &guest::room(HOSTS[0].memory_bytes).unwrap(),
        host: &HOSTS[0],
        seed: 1,
        limit: Nanos(3_600_000_000_000),
        timeout: Duration::from_secs(if job == Job::Compute { 10 } else { 60 }),
        marker: &marker,
    };
    let disk = |name: &str| machine.listener(name).unwrap();
    let memory = Box::new(Memory::new(1 << 20));
    let channel = Box::new(HostChannel::new(&job, |_, ()| ()));
    let mut disks = [
        Disk::new("drive", disk("drive"), memory, DiskShape::default()).unwrap(),
        Disk::new("channel", disk("channel"), channel, DiskShape::default()).unwrap(),
    ];
    let ended = machine.run(&mut disks, interrupt);
    assert_eq!(below(place.path()), Vec::<String>::new());
    ended
}

/// The processes that work below a folder: a guest's programs have no environment to identify them.
fn below(folder: &Path) -> Vec<String> {
    let is_below = |process: &fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|place| place.starts_with(folder))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten().filter(is_below);
    processes.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

fn panics() {
    let error = run(Job::Panic, &Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("the guest is up") && error.contains("as told"), "{error}");
    assert!(error.contains("Attempted to kill init"), "{error}");
}

fn computes() {
    let error = run(Job::Compute, &Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("endless loop") && error.contains("the guest is up"), "{error}");
}

fn waits() {
    let error = run(Job::Wait, &Interrupt::default()).unwrap_err().to_string();
    assert!(error.contains("still running at 3600000000000 ns"), "{error}");
}

fn powers_off() {
    let ended = run(Job::PowerOff, &Interrupt::default()).unwrap();
    assert!(ended.console.contains("the guest is up"), "{}", ended.console);
}

fn reboots() {
    let began = Instant::now();
    let error = run(Job::Reboot, &Interrupt::default()).unwrap_err();
    let says = error.to_string();
    assert!(error.is_of_guest(), "{says}");
    assert!(says.contains("by a reboot") && says.contains("the guest is up"), "{says}");
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
}

fn reaches() {
    run(Job::Reach, &Interrupt::default()).unwrap();
}

/// The `/proc/PID/status` of a guest of this test program.
fn status_of_a_guest() -> Option<BTreeMap<String, String>> {
    let statuses = fs::read_dir("/proc").unwrap().flatten().filter_map(|process| {
        let status = fs::read_to_string(process.path().join("status")).ok()?;
        let fields = status.lines().filter_map(|line| line.split_once(":\t"));
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.trim().to_owned());
        Some(fields.map(owned).collect::<BTreeMap<_, _>>())
    });
    let this = std::process::id().to_string();
    // A lab kernel starts itself again, as /proc/self/exe.
    let is_guest = |status: &BTreeMap<String, String>| {
        status.get("PPid") == Some(&this) && ["linux", "exe"].contains(&&*status["Name"])
    };
    let mut guests = statuses.filter(is_guest);
    guests.next()
}

/// The confinement has tests of its own, in which it is entered; here, whether a guest enters it.
fn confined() {
    let interrupt = Interrupt::default();
    let (status, ended) = thread::scope(|scope| {
        let guest = scope.spawn(|| run(Job::Compute, &interrupt));
        let status = loop {
            match status_of_a_guest() {
                None if !guest.is_finished() => sleep(Duration::from_millis(1)),
                status => break status,
            }
        };
        interrupt.set();
        (status, guest.join().unwrap())
    });
    let status = status.unwrap_or_else(|| panic!("the guest was never seen: {ended:?}"));
    assert_eq!(status["NoNewPrivs"], "1", "{status:?}");
    // CAP_DAC_READ_SEARCH.
    let keeps = |set: &str| u64::from_str_radix(&status[set], 16).unwrap() & !(1 << 2);
    assert_eq!(["CapInh", "CapPrm", "CapEff", "CapAmb"].map(keeps), [0; 4], "{status:?}");
    // Only root could gain what is left in it.
    assert!(keeps("CapBnd") == 0 || !geteuid().is_root(), "{status:?}");
}

fn interrupted() {
    let interrupt = Interrupt::default();
    interrupt.set();
    let ended = run(Job::Compute, &interrupt);
    assert!(matches!(ended, Err(MachineError::Interrupted)), "{ended:?}");
}

fn killed() {
    let place = Place::new();
    for delay_ms in [50, 200, 400, 600, 1000] {
        let mut command = place.command(&[
            "run",
            "discard",
            "--capacity",
            "5GB",
            "--scale",
            "0.1",
            "--set",
            "prefill=0 %",
        ]);
        command.args(["--set", "stale=0 %", "--kernel"]).arg(kernel().as_ref().unwrap());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        // The guests end with the run, by themselves. Only a child with which a starting kernel
        // tries out ptrace(2) stays, stopped (Linux, arch/um/os-Linux/start_up.c).
        let is_stopped = |process: &String| {
            fs::read_to_string(format!("/proc/{process}/status"))
                .is_ok_and(|status| status.contains("\nState:\tT "))
        };
        let started = Instant::now();
        while !below(&place.state()).iter().all(is_stopped) {
            let found = below(&place.state());
            assert!(started.elapsed() < Duration::from_mins(1), "after {delay_ms} ms: {found:?}");
            sleep(Duration::from_millis(20));
        }
        assert!(place.command(&["restore"]).output().unwrap().status.success());
        assert_eq!(below(&place.state()), [""; 0], "after {delay_ms} ms");
        assert!(place.journals().is_empty(), "after {delay_ms} ms: {:?}", place.journals());
    }
}

//! A served drive under a kernel filesystem: it works, it ends, and a killed server hangs no
//! process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{Place, sh, shown, wait_for};
use super::{Case, Needs};

pub fn cases() -> Vec<Case> {
    let case = |name, run: fn()| Case::new(name, Needs::Fuse, run);
    vec![
        case("a_filesystem_on_a_served_drive_works_and_leaves_nothing", filesystem),
        case("a_served_drive_in_use_goes_on_until_it_is_free", in_use),
        case("a_killed_server_hangs_nobody_and_restore_unmounts", killed),
        case("a_second_server_on_a_folder_is_refused_and_leaves_the_first", second),
        case("restore_leaves_the_server_that_came_after_a_killed_one", successor),
        Case::new("a_server_never_waits_for_itself", Needs::FuseAndStrace, alone),
    ]
}

/// A served drive, a loop device over it with a filesystem, and the mount point.
struct Served {
    place: Place,
    server: Child,
    file: String,
    device: String,
    mounted: String,
}

impl Served {
    fn new() -> Self {
        Self::at(Place::new())
    }

    fn at(place: Place) -> Self {
        let folder = place.path("served");
        fs::create_dir(&folder).unwrap();
        let file = folder.join("disk");
        let server = start(serve(&place, &folder), &folder);
        let file = file.display().to_string();
        let device = sh(&format!("losetup --find --show --direct-io=on {file}"));
        let mounted = place.path("ext4").display().to_string();
        fs::create_dir(&mounted).unwrap();
        sh(&format!("mkfs.ext4 -q {device}; mount {device} {mounted}"));
        Self { place, server, file, device, mounted }
    }

    /// An attribute of the device in sysfs.
    fn attribute(&self, name: &str) -> Option<String> {
        let device = self.device.strip_prefix("/dev/").unwrap();
        let value = fs::read_to_string(format!("/sys/block/{device}/{name}")).ok()?;
        Some(value.trim().to_owned())
    }

    /// Sends the server a signal.
    fn signal(&self, signal: &str) {
        sh(&format!("kill -{signal} {}", self.server.id()));
    }

    /// Waits until the server says that it continues.
    fn is_served_on(&mut self) {
        let mut said = String::new();
        let mut errors = BufReader::new(self.server.stderr.as_mut().unwrap());
        while !said.contains("is in use and stays served") {
            assert!(errors.read_line(&mut said).unwrap() > 0, "{said}");
        }
    }
}

impl Drop for Served {
    /// Cleans up after a failed assertion, newest first, what still exists and is ours.
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--quiet", &self.mounted]).status();
        if self.attribute("loop/backing_file").as_ref() == Some(&self.file) {
            let _ = Command::new("losetup").args(["--detach", &self.device]).status();
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = self.place.ssdlab(&["restore"]).output();
    }
}

/// The command that serves a drive in a folder.
fn serve(place: &Place, folder: &Path) -> Command {
    let mut serve = place.ssdlab(&["serve", "--drive", "x25m-g2", "--capacity", "3 GB", "--fuse"]);
    serve.arg(folder);
    serve
}

/// Starts a server, and waits until it serves.
fn start(mut command: Command, folder: &Path) -> Child {
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let file = folder.join("disk");
    wait_for(|| file.exists() || has_ended(&server));
    assert!(server.try_wait().unwrap().is_none(), "it cannot serve");
    server
}

/// Whether a child is a zombie.
fn has_ended(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", child.id()));
    status.is_ok_and(|status| status.contains(") Z "))
}

fn filesystem() {
    let mut served = Served::new();
    let attribute = |name| served.attribute(name).unwrap();
    assert_eq!(attribute("queue/discard_granularity"), "4096");
    assert_eq!(attribute("queue/write_cache"), "write back");
    assert_eq!(attribute("loop/dio"), "1");
    let Served { device: node, mounted, place, .. } = &served;
    let data = place.path("data").display().to_string();
    sh(&format!("head -c 20M /dev/urandom >{data}; cp {data} {mounted}/a; cp {data} {mounted}/b"));
    // Read from the drive, not from the cache.
    sh(&format!("umount {mounted}; mount {node} {mounted}; cmp {data} {mounted}/a"));
    sh(&format!("rm {mounted}/a; fstrim {mounted}; cmp {data} {mounted}/b; umount {mounted}"));
    sh(&format!("fsck.ext4 -f -n {node}; losetup -d {node}; rm {data}"));
    served.signal("INT");
    assert_eq!(served.server.wait().unwrap().code(), Some(0));
    let said = std::io::read_to_string(served.server.stdout.take().unwrap()).unwrap();
    let count = |name: &str| -> u64 {
        let line =
            said.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{said}"));
        line.split('┆').nth(1).unwrap().trim().parse().unwrap()
    };
    assert!(count(" writes ") > 40 && count(" reads ") > 20, "{said}");
    assert!(count(" discards ") > 0 && count(" flushes ") > 0, "{said}");
    assert_eq!(count(" refused "), 0, "{said}");
    assert_eq!(served.place.leftovers(), Vec::<String>::new());
    assert_eq!(fs::read_dir(served.place.path("served")).unwrap().count(), 0);
}

fn in_use() {
    let mut served = Served::new();
    served.signal("TERM");
    served.is_served_on();
    sh(&format!("echo text >{0}/a; sync {0}/a; umount {0}", served.mounted));
    sh(&format!("losetup -d {}", served.device));
    assert_eq!(served.server.wait().unwrap().code(), Some(0));
    assert_eq!(served.place.leftovers(), Vec::<String>::new());

    let mut served = Served::new();
    served.signal("INT");
    served.is_served_on();
    served.signal("INT");
    assert_eq!(served.server.wait().unwrap().code(), Some(130));
    gets_errors(&served);
    assert_eq!(served.place.leftovers(), Vec::<String>::new());
}

fn killed() {
    let mut served = Served::new();
    served.server.kill().unwrap();
    served.server.wait().unwrap();
    gets_errors(&served);
    // A mount without a server is left.
    assert_eq!(served.place.left().len(), 2, "{:?}", served.place.left());
    let restored = served.place.ssdlab(&["restore"]).output().unwrap();
    assert!(restored.status.success(), "{}", shown(&restored));
    assert!(shown(&restored).contains("1 change undone"), "{}", shown(&restored));
    assert_eq!(served.place.leftovers(), Vec::<String>::new());
    assert_eq!(fs::read_dir(served.place.path("served")).unwrap().count(), 0);
}

fn second() {
    let mut served = Served::new();
    let folder = served.place.path("served");
    let refused = serve(&served.place, &folder).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("something is mounted on"), "{}", shown(&refused));
    let restored = served.place.ssdlab(&["restore"]).output().unwrap();
    assert!(shown(&restored).contains("0 changes undone"), "{}", shown(&restored));
    goes_on(&mut served);
}

fn successor() {
    let place = Place::new();
    let folder = place.path("served");
    fs::create_dir(&folder).unwrap();
    let mut first = start(serve(&place, &folder), &folder);
    first.kill().unwrap();
    first.wait().unwrap();
    // A dead server's mount is refused, too, without looking into it.
    let refused = serve(&place, &folder).output().unwrap();
    assert!(shown(&refused).contains("ssdlab restore"), "{}", shown(&refused));
    sh(&format!("umount --lazy {}", folder.display()));
    fs::remove_dir(&folder).unwrap();
    let mut served = Served::at(place);
    let restored = served.place.ssdlab(&["restore"]).output().unwrap();
    assert!(restored.status.success(), "{}", shown(&restored));
    assert!(shown(&restored).contains("1 change undone"), "{}", shown(&restored));
    goes_on(&mut served);
}

/// A server that is killed while it waits for an answer of its own stays for ever.
fn alone() {
    let place = Place::new();
    let [folder, trace] = ["served", "trace"].map(|name| place.path(name));
    fs::create_dir(&folder).unwrap();
    let serve = serve(&place, &folder);
    let mut traced = place.program("strace");
    traced.args(["--follow-forks", "--trace=%%stat,mount", "--trace-path"]).arg(&folder);
    traced.arg("--output").arg(&trace).arg(serve.get_program()).args(serve.get_args());
    let mut server = start(traced, &folder);
    sh(&format!("kill -INT $(pgrep --parent {})", server.id()));
    assert!(server.wait().unwrap().success());
    let trace = fs::read_to_string(trace).unwrap();
    let mut calls = trace.lines().skip_while(|call| !call.contains(" mount("));
    assert!(calls.next().is_some(), "{trace}");
    let calls: Vec<&str> = calls.filter(|call| call.contains("stat")).collect();
    assert!(!calls.is_empty(), "{trace}");
    assert!(calls.iter().all(|call| call.contains("AT_STATX_DONT_SYNC")), "{trace}");
}

/// The drive continues to be served, and ends normally.
fn goes_on(served: &mut Served) {
    assert!(served.server.try_wait().unwrap().is_none());
    sh(&format!("echo text >{0}/a; sync {0}/a; umount {0}", served.mounted));
    sh(&format!("losetup -d {}", served.device));
    served.signal("INT");
    assert_eq!(served.server.wait().unwrap().code(), Some(0));
    assert_eq!(served.place.leftovers(), Vec::<String>::new());
}

/// Writing to a drive that is gone fails soon, and the drive can be released.
fn gets_errors(served: &Served) {
    let started = Instant::now();
    let mounted = &served.mounted;
    let status = sh(&format!(
        "timeout --signal=KILL 30 sh -c 'echo text >{mounted}/a && sync {mounted}/a' && echo 0 || \
         echo $?"
    ));
    assert!(["1", "2"].contains(&status.as_str()), "{status}");
    sh(&format!("umount {mounted}; losetup -d {}", served.device));
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}

//! Runs the program in an isolated folder, with loop devices that are removed when dropped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::common::shell;
pub use super::common::{sh, shown, wait_for};
use crate::program::ssdlab;

/// A folder with room for images, results and run-time files.
pub struct Place {
    folder: TempDir,
    /// The traces of others' runs, some of which have been killed.
    others_traces: Vec<String>,
}

impl Place {
    pub fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("machine-test-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir(folder.path().join("images")).unwrap();
        Self { folder, others_traces: instances() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program.
    pub fn ssdlab(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(ssdlab());
        command.args(arguments);
        command
    }

    /// Any program, with this place's folders, messages in English, and without the ignored signals
    /// that the test has inherited.
    pub fn program(&self, program: &str) -> Command {
        let mut command = Command::new("/usr/bin/env");
        command
            .args(["--default-signal=HUP,INT,TERM", program])
            .env("XDG_STATE_HOME", self.path("run"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        command
    }

    /// Runs a plan in the image lab with `--json`; returns the exit code and the object.
    pub fn run(&self, plan: &str, arguments: &[&str]) -> (i32, Value) {
        let images = self.path("images").display().to_string();
        let mut all = vec!["run", plan, "--json", "--dir", &images];
        // Not the default: what a killed run has left on this machine has the UUIDs of its seed,
        // and mkfs.btrfs refuses a duplicate.
        if !arguments.contains(&"--seed") {
            all.extend(["--seed", "2"]);
        }
        all.extend(arguments);
        let output = self.ssdlab(&all).output().unwrap();
        let code = output.status.code().unwrap();
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
        (code, json)
    }

    /// Writes a plan file and returns its path.
    pub fn plan(&self, text: &str) -> String {
        let path = self.path("plan.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// What a run may leave behind: image files, mounts and loop devices below this place, undo
    /// journals, and traces since this place was made. They are given a minute to go: udev may have
    /// a loop device open that is being detached, and another suite on this machine may have killed
    /// a run and be about to restore it.
    pub fn leftovers(&self) -> Vec<String> {
        let started = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() || started.elapsed() > Duration::from_mins(1) {
                return left;
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// The same as it is now.
    pub fn left(&self) -> Vec<String> {
        let mut left = traces();
        left.retain(|one| !self.others_traces.contains(one));
        for folder in ["images", "run/ssdlab/undo"] {
            let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path().display().to_string()));
        }
        let here = self.folder.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        left.extend(mounts.lines().filter(|line| line.contains(&here)).map(str::to_owned));
        let loops = if is_root_of_machine() { sh("losetup --list") } else { String::new() };
        left.extend(loops.lines().filter(|line| line.contains(&here)).map(str::to_owned));
        left
    }
}

/// Whether this is root, and may do here what root of a container often may not: mount, and set up
/// loop devices.
pub fn is_root_of_machine() -> bool {
    static IS: LazyLock<bool> = LazyLock::new(|| {
        let script = "losetup --find; place=$(mktemp -d); \
                      mount -t tracefs tracefs \"$place\" && umount \"$place\"; ended=$?; \
                      rmdir \"$place\"; exit $ended";
        rustix::process::geteuid().is_root() && shell(script).status.success()
    });
    *IS
}

/// The instances in tracefs of runs that have ended.
fn traces() -> Vec<String> {
    let is_dead = |name: &String| {
        let pid = name.split('-').nth(1).unwrap_or_default();
        !Path::new("/proc").join(pid).exists()
    };
    instances().into_iter().filter(is_dead).collect()
}

/// The instances of runs in tracefs, which is mounted for this, as it may not be. None where nobody
/// could have made one.
fn instances() -> Vec<String> {
    if !is_root_of_machine() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().display().to_string();
    let script = format!(
        "mount -t tracefs tracefs {target}; ls {target}/instances | grep ^ssdlab- || true; \
         umount {target}"
    );
    sh(&script).lines().map(str::to_owned).collect()
}

/// A loop device over a sparse file; detached when dropped.
pub struct Loop {
    pub device: String,
    pub backing: String,
}

impl Loop {
    pub fn new(place: &Place, name: &str, megabytes: u32) -> Self {
        let backing = place.path(name).display().to_string();
        sh(&format!("truncate -s {megabytes}M {backing}"));
        Self::over(&backing)
    }

    /// A loop device over an existing file or device.
    pub fn over(backing: &str) -> Self {
        let device = sh(&format!("losetup --partscan --find --show {backing}"));
        Self { device, backing: backing.to_owned() }
    }

    /// Puts another file behind the device; udev may have it open, which delays detaching it.
    pub fn change(&self, backing: &str) {
        let node = &self.device;
        sh(&format!(
            "losetup --detach {node}; \
             timeout 60 sh -c 'while losetup {node} 2> /dev/null; do sleep 0.01; done'; \
             losetup {node} {backing}"
        ));
    }

    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // The next file behind the device would be measured with the same queue.
        let _ = fs::write(format!("/sys/block/{}/queue/scheduler", self.name()), "none");
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

/// A process that holds something open, ended when dropped.
pub struct Process(Child);

impl Process {
    /// Runs a script in a shell, which then becomes `sleep`.
    pub fn holding(script: &str) -> Self {
        let child = Command::new("sh").args(["-ec", &format!("{script}\nexec sleep 600")]).spawn();
        let process = Self(child.unwrap());
        let name = format!("/proc/{}/comm", process.0.id());
        wait_for(|| fs::read_to_string(&name).unwrap() == "sleep\n");
        process
    }

    pub fn named(&self) -> String {
        format!("sleep (pid {})", self.0.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A mount that is removed when dropped; read-only, so that the kernel's lazy initialisation does
/// not change what a test compares.
pub struct Mounted(PathBuf);

impl Mounted {
    pub fn new(device: &str, place: &Place) -> Self {
        let target = place.path("mounted");
        fs::create_dir_all(&target).unwrap();
        sh(&format!("mount -o ro {device} {}", target.display()));
        Self(target)
    }

    /// An overlay over empty layers, and the folder of the upper one.
    pub fn overlay(place: &Place) -> (Self, PathBuf) {
        let [lower, upper, work, target] =
            ["lower", "upper", "work", "mounted"].map(|name| place.path(name));
        for folder in [&lower, &upper, &work, &target] {
            fs::create_dir_all(folder).unwrap();
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        sh(&format!("mount -t overlay -o {options} overlay {}", target.display()));
        (Self(target), upper)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// What a program said, in one line: long lines are wrapped for people.
pub fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The schedulers of idle loop devices: other runs may change those of devices in use.
pub fn idle_schedulers() -> BTreeMap<String, String> {
    // It is idle if it still is after its scheduler has been read; finding one makes one if needed.
    let script = r"losetup --find >/dev/null; for disk in /sys/block/loop*; do
        scheduler=$(sed 's/.*\[\(.*\)\].*/\1/' $disk/queue/scheduler)
        [ -e $disk/loop ] || echo ${disk##*/} $scheduler
    done";
    let split = |line: &str| line.split_once(' ').map(|(disk, is)| (disk.into(), is.into()));
    sh(script).lines().filter_map(split).collect()
}

/// The phases of the first trial of a treatment.
pub fn phases(treatment: &Value) -> &Vec<Value> {
    treatment["trials"][0]["phases"].as_array().unwrap()
}

/// A number of a phase, by the phase's name.
pub fn number(treatment: &Value, phase: &str, metric: &str) -> u64 {
    let found = phases(treatment).iter().find(|candidate| candidate["name"] == phase);
    found.unwrap_or_else(|| panic!("no phase {phase}"))[metric].as_u64().unwrap()
}

/// The treatment with this level.
pub fn treatment<'a>(json: &'a Value, factor: &str, level: &str) -> &'a Value {
    let all = json["treatments"].as_array().unwrap();
    all.iter().find(|candidate| candidate["levels"][factor] == level).unwrap()
}

/// Writes a file; returns its path.
pub fn file(path: &Path, text: &str) -> String {
    fs::write(path, text).unwrap();
    path.display().to_string()
}

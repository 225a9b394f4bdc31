//! Bonnie's tests against bonnie++, alternating, on the same mounted filesystem: in memory, where
//! the harness is the bottleneck, and on ext4 over a simulated drive served in real time, where the
//! device is, with less memory than the size of the file. The latter needs root.
//!
//! A test that is too fast for bonnie++ has no number on its side.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use ssdlab_workload::printed::bonnie::{self, BonnieRate, BonnieTestResult};

const ROUNDS: usize = 5;

/// Sizes in a plan, and the same as arguments of bonnie++.
type Sizes = (&'static str, &'static str);

/// Sizes at which nearly every test takes the half second that bonnie++ requires.
const IN_MEMORY: Sizes = (
    r#"{ size = "5 GiB", char_size = "2 MiB", seeks = 500_000, files = "512" }"#,
    "-s 5120:8192:500000:5 -f2 -n 512:0:0:1",
);
const ON_DISK: Sizes = (
    r#"{ size = "256 MiB", char_size = "3 MiB", seeks = 32768, files = "64" }"#,
    "-s 256:8192:32768:5 -f3 -n 64:0:0:1",
);

/// The memory of both programs on the disk.
const MEMORY_BYTES: u64 = 128 << 20;

/// The drive under the disk.
const DRIVE: [&str; 4] = ["--drive", "x25m-g1", "--capacity", "4 GB"];

/// Keeps the cache between tests, as bonnie++ does.
const OURS: &str = "do = \"bonnie\", cold = false";

/// Disables bonnie++'s check that the file is twice the memory.
const THEIRS: &str = "-q -r 0 -z 1";

const TESTS: [(&str, &str); 12] = [
    ("seq_output_char", "bytes"),
    ("seq_output_block", "bytes"),
    ("rewrite", "bytes"),
    ("seq_input_char", "bytes"),
    ("seq_input_block", "bytes"),
    ("random_seek", "ops"),
    ("seq_create", "ops"),
    ("seq_stat", "ops"),
    ("seq_delete", "ops"),
    ("random_create", "ops"),
    ("random_stat", "ops"),
    ("random_delete", "ops"),
];

fn main() {
    println!("in memory (/dev/shm), {}", IN_MEMORY.0);
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    compare(memory.path(), IN_MEMORY, None);
    drop(memory);
    if !rustix::process::geteuid().is_root() {
        println!("on a disk: ignored: it needs root");
        return;
    }
    let Some(group) = Group::make() else {
        println!("on a disk: ignored: memory cannot be limited here (no memory cgroup)");
        return;
    };
    let memory = MEMORY_BYTES >> 20;
    println!("on ext4 over a {}, with {memory} MiB of memory, {}", DRIVE[1], ON_DISK.0);
    let disk = Disk::mount();
    compare(&disk.folder.path().join("mnt"), ON_DISK, Some(&group));
}

/// Prints a line for every test.
fn compare(place: &Path, (sizes, arguments): Sizes, group: Option<&Group>) {
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..ROUNDS {
        for phase in run(place, sizes, group)["phases"].as_array().unwrap() {
            let name = phase["name"].as_str().unwrap().to_owned();
            let values: &mut Vec<(f64, f64)> = ours.entry(name).or_default();
            let rate = |unit: &str| phase[format!("{unit}_per_second")].as_f64().unwrap_or(0.0);
            values.push((rate("bytes"), rate("ops")));
        }
        for tested in run_theirs(place, arguments, group) {
            if let Some(BonnieRate::Bytes(rate) | BonnieRate::Operations(rate)) = tested.rate {
                theirs.entry(tested.test.name()).or_insert_with(Vec::new).push(rate);
            }
        }
    }
    println!("{:18} {:>14} {:>14} {:>7}", "", "ssdlab", "bonnie++", "ratio");
    for (test, unit) in TESTS {
        let rate = |(bytes, ops): &(f64, f64)| if unit == "bytes" { *bytes } else { *ops };
        let ours = median(ours[test].iter().map(rate).collect());
        let Some(theirs) = theirs.remove(test).map(median) else {
            println!("{test:18} {:>14} {:>14}", shown(ours, unit), "too fast");
            continue;
        };
        let ratio = ours / theirs;
        println!("{test:18} {:>14} {:>14} {ratio:7.2}", shown(ours, unit), shown(theirs, unit));
    }
}

/// Touches as much memory as a run uses: a virtual machine may have returned free memory to its
/// host, and is slow to get it back.
fn touch(place: &Path) {
    let mut file = File::create(place.join("touched")).unwrap();
    let some = vec![1; 1 << 20];
    for _ in 0..6 << 10 {
        file.write_all(&some).unwrap();
    }
    fs::remove_file(place.join("touched")).unwrap();
}

fn shown(rate: f64, unit: &str) -> String {
    if unit == "bytes" { format!("{:.1} MB/s", rate / 1e6) } else { format!("{rate:.0} /s") }
}

/// The record of one trial in a directory.
fn run(place: &Path, sizes: &str, group: Option<&Group>) -> Value {
    if group.is_none() {
        touch(place);
    }
    let own = tempfile::tempdir_in("/var/tmp").unwrap();
    let plan = own.path().join("plan.toml");
    let text = format!(
        "name = \"bench\"\nquestion = \"?\"\n[workload]\nbonnie = {sizes}\nphases = [{{ \
         {OURS} }}]\n"
    );
    fs::write(&plan, text).unwrap();
    let mut command = limited(env!("CARGO_BIN_EXE_ssdlab"), group);
    command
        .env("XDG_DATA_HOME", own.path().join("data"))
        .env("XDG_STATE_HOME", own.path().join("run"))
        .arg("run")
        .arg(&plan)
        .args(["--lab", "directory", "--runs", "1", "--json", "--dir"])
        .arg(place)
        .arg("--results")
        .arg(own.path().join("results"))
        .stderr(Stdio::null());
    assert!(command.output().unwrap().status.success(), "in {}", place.display());
    let run = fs::read_dir(own.path().join("results")).unwrap().next().unwrap().unwrap().path();
    serde_json::from_str(&fs::read_to_string(run.join("records.jsonl")).unwrap()).unwrap()
}

/// What bonnie++ prints.
fn run_theirs(place: &Path, arguments: &str, group: Option<&Group>) -> Vec<BonnieTestResult> {
    if group.is_none() {
        touch(place);
    }
    let folder = tempfile::tempdir_in(place).unwrap();
    let words = THEIRS.split(' ').chain(arguments.split(' '));
    let mut command = limited("bonnie++", group);
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "0", "-g", "0"]);
    }
    let output = command.args(words).current_dir(&folder).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    bonnie::line(printed.lines().rfind(|line| bonnie::is_line(line)).unwrap()).unwrap().tests
}

/// A program in a memory cgroup.
fn limited(program: &str, group: Option<&Group>) -> Command {
    let Some(group) = group else { return Command::new(program) };
    let mut command = Command::new("sh");
    let procs = group.0.join("cgroup.procs");
    command.args(["-c", "echo $$ > \"$0\"; exec \"$@\""]).arg(procs).arg(program);
    command
}

/// A memory cgroup, version 1 or 2, removed when dropped.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        let name = format!("ssdlab-bench-{}", std::process::id());
        for (root, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let group = Self(Path::new(root).join(&name));
            if fs::create_dir(&group.0).is_err() {
                continue;
            }
            if fs::write(group.0.join(limit), MEMORY_BYTES.to_string()).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// ext4 on a loop device over a simulated drive, removed when dropped.
struct Disk {
    folder: tempfile::TempDir,
    server: Child,
}

impl Disk {
    fn mount() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::create_dir(folder.path().join("drive")).unwrap();
        let mut serve = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
        serve.arg("serve").args(DRIVE).arg("--fuse").arg(folder.path().join("drive"));
        serve.env("XDG_STATE_HOME", folder.path().join("run"));
        let server = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let disk = Self { folder, server };
        disk.shell(
            "while [ ! -e drive/disk ]; do sleep 0.1; done
             mkdir mnt
             losetup --find --show --direct-io=on drive/disk > loop
             mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 $(cat loop)
             mount $(cat loop) mnt",
        );
        disk
    }

    fn shell(&self, script: &str) {
        let mut command = Command::new("sh");
        let status = command.args(["-ec", script]).current_dir(self.folder.path()).status();
        assert!(status.unwrap().success(), "{script}");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.shell("umount mnt; losetup --detach $(cat loop)");
        // The kernel releases a detached device's file some time later.
        sleep(Duration::from_secs(1));
        kill_process(Pid::from_child(&self.server), Signal::INT).unwrap();
        self.server.wait().unwrap();
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

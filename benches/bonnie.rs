//! Bonnie's tests against bonnie++, alternating, on the same mounted filesystem: in memory, where
//! the harness is the limit, and on ext4 over a loop device, where the device is, with less memory
//! than the file is large. The latter needs root.
//!
//! A test that bonnie++ finds too fast has no number of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const ROUNDS: usize = 5;

/// A size at which nearly every test takes bonnie++ the half second that it wants.
const IN_MEMORY: &str =
    r#"{ size = "5 GiB", char_size = "3 MiB", seeks = 500_000, files = "512" }"#;
const ON_DISK: &str = r#"{ size = "1 GiB", char_size = "3 MiB", seeks = 8192, files = "64" }"#;

/// The memory that both have on the disk, and what makes room for it.
const MEMORY_BYTES: u64 = 256 << 20;
const IMAGE: &str = "6G";

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
    println!("in memory (/dev/shm), {IN_MEMORY}");
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    // A virtual machine is slow to give memory that nobody has used before.
    fs::write(memory.path().join("touched"), vec![1; 6 << 30]).unwrap();
    fs::remove_file(memory.path().join("touched")).unwrap();
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
    println!("on ext4 over a loop device, with {} MiB of memory, {ON_DISK}", MEMORY_BYTES >> 20);
    let disk = Disk::mount();
    compare(&disk.folder.path().join("mnt"), ON_DISK, Some(&group));
}

/// Prints a line for every test.
fn compare(place: &Path, sizes: &str, group: Option<&Group>) {
    let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..ROUNDS {
        for phase in run(place, sizes, "bonnie", group)["phases"].as_array().unwrap() {
            let name = phase["name"].as_str().unwrap().to_owned();
            let values: &mut Vec<(f64, f64)> = ours.entry(name).or_default();
            let rate = |unit: &str| phase[format!("{unit}_per_second")].as_f64().unwrap_or(0.0);
            values.push((rate("bytes"), rate("ops")));
        }
        let reported = &run(place, sizes, "bonnie++", group)["phases"][0]["reported"];
        for (test, unit) in TESTS {
            if let Some(rate) = reported[format!("bonnie++.{test}.{unit}_per_second")].as_f64() {
                theirs.entry(test).or_insert_with(Vec::new).push(rate);
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

fn shown(rate: f64, unit: &str) -> String {
    if unit == "bytes" { format!("{:.1} MB/s", rate / 1e6) } else { format!("{rate:.0} /s") }
}

/// The record of one trial in a directory.
fn run(place: &Path, sizes: &str, verb: &str, group: Option<&Group>) -> Value {
    let own = tempfile::tempdir_in("/var/tmp").unwrap();
    let plan = own.path().join("plan.toml");
    let text = format!(
        "name = \"bench\"\nquestion = \"?\"\n[workload]\nbonnie = {sizes}\nphases = [{{ do = \
         \"{verb}\" }}]\n"
    );
    fs::write(&plan, text).unwrap();
    let ssdlab = env!("CARGO_BIN_EXE_ssdlab");
    let mut command = match group {
        Some(group) => {
            let mut command = Command::new("sh");
            let procs = group.0.join("cgroup.procs");
            command.args(["-c", "echo $$ > \"$0\"; exec \"$@\""]).arg(procs).arg(ssdlab);
            command
        }
        None => Command::new(ssdlab),
    };
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
    assert!(command.output().unwrap().status.success(), "{verb} in {}", place.display());
    let run = fs::read_dir(own.path().join("results")).unwrap().next().unwrap().unwrap().path();
    serde_json::from_str(&fs::read_to_string(run.join("records.jsonl")).unwrap()).unwrap()
}

/// A memory cgroup, version 1 or 2, that goes when it is dropped.
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

/// ext4 on a loop device, which goes when it is dropped.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn mount() -> Self {
        let disk = Self { folder: tempfile::tempdir_in("/var/tmp").unwrap() };
        disk.shell(&format!(
            "truncate -s {IMAGE} disk.img; mkdir mnt
             losetup --find --show --direct-io=on disk.img > loop
             mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 $(cat loop)
             mount $(cat loop) mnt"
        ));
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
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

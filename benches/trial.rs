//! A tree trial against the equivalent shell script, alternating, on the same image: `tar xf`,
//! `sync -f`, `rm -rf`, `sync -f`. Needs root.
//!
//! ssdlab's side is the whole trial except mkfs, mount and unmount: its preparation, its waits for
//! quiet and its records count. The archive is decoded in memory on both sides.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

const ROUNDS: u64 = 7;

const PLAN: &str = r#"
name = "bench"
question = "How long does a tree trial take?"
[target]
size = "4 GiB"
[factors]
filesystem = "ext4"
[workload]
tree = { archive = "tree.tar" }
phases = [
    { do = "unpack" },
    { do = "sync", name = "sync_unpacked" },
    { do = "delete" },
    { do = "sync", name = "sync_deleted" },
]
"#;

fn main() {
    if !rustix::process::geteuid().is_root() {
        println!("trial bench: ignored: it needs root");
        return;
    }
    let disk = tempfile::tempdir_in("/var/tmp").unwrap();
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    make_archive(disk.path(), memory.path());
    let (mut ours, mut shells, mut outside) = (Vec::new(), Vec::new(), Vec::new());
    println!("round   ssdlab    shell   ssdlab outside its phases");
    for round in 0..ROUNDS {
        let record = trial(disk.path(), memory.path(), round);
        let (total, beyond) = (total_ms(&record), outside_ms(&record));
        let shell = shell(disk.path(), memory.path());
        println!("{round:5} {total:6.0} ms {shell:5.0} ms {beyond:8.1} ms");
        ours.push(total);
        shells.push(shell);
        outside.push(beyond);
    }
    let (ours, shells) = (median(&mut ours), median(&mut shells));
    println!("median {ours:5.0} ms {shells:5.0} ms {:8.1} ms", median(&mut outside));
    println!("total time, ssdlab / shell: {:.3}", ours / shells);
}

/// A synthetic kernel tree, unpacked by a trial in a directory and packed by tar.
fn make_archive(disk: &Path, memory: &Path) {
    let plan = disk.join("archive.toml");
    let archive = memory.join("tree.tar").display().to_string();
    fs::write(
        &plan,
        format!(
            "name = \"a\"\nquestion = \"?\"\n[workload]\ntree = {{}}\nphases = [{{ do = \
             \"unpack\" }}, {{ do = \"command\", run = \"tar cf {archive} .\" }}]\n"
        ),
    )
    .unwrap();
    let arguments = ["--lab", "directory", "--runs", "1", "--dir"];
    let mut command = ssdlab(disk);
    command.arg("run").arg(&plan).args(arguments).arg(memory);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    fs::write(memory.join("plan.toml"), PLAN).unwrap();
}

fn ssdlab(disk: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command
        .env("XDG_DATA_HOME", disk.join("data"))
        .env("XDG_STATE_HOME", disk.join("run"))
        .stderr(Stdio::null());
    command
}

/// One trial; returns its record.
fn trial(disk: &Path, memory: &Path, seed: u64) -> Value {
    let results = disk.join(format!("results-{seed}"));
    let output = ssdlab(disk)
        .arg("run")
        .arg(memory.join("plan.toml"))
        .args(["--runs", "1", "--seed", &seed.to_string(), "--json", "--dir"])
        .arg(disk)
        .arg("--results")
        .arg(&results)
        .output()
        .unwrap();
    assert!(output.status.success());
    let run = fs::read_dir(results).unwrap().next().unwrap().unwrap().path();
    serde_json::from_str(&fs::read_to_string(run.join("records.jsonl")).unwrap()).unwrap()
}

fn total_ms(record: &Value) -> f64 {
    let applied = |name: &str| record["applied"][name].as_str().unwrap().parse::<f64>().unwrap();
    let unmount = record["teardown"]["time_ns"].as_f64().unwrap();
    (record["took_ns"].as_f64().unwrap() - applied("mkfs_ns") - applied("mount_ns") - unmount) / 1e6
}

fn outside_ms(record: &Value) -> f64 {
    let phases = record["phases"].as_array().unwrap();
    let inside: f64 = phases.iter().map(|phase| phase["settled_ns"].as_f64().unwrap()).sum();
    total_ms(record) - inside / 1e6
}

/// The equivalent shell script, on an image made like ssdlab's.
fn shell(disk: &Path, memory: &Path) -> f64 {
    let (disk, memory) = (disk.display(), memory.display());
    let run = |script: &str| {
        let status = Command::new("sh").args(["-ec", script]).status().unwrap();
        assert!(status.success(), "{script}");
    };
    run(&format!(
        "rm -f {disk}/shell.img; truncate -s 4G {disk}/shell.img; mkdir -p {disk}/mnt
         losetup --find --show --direct-io=on {disk}/shell.img > {disk}/loop
         mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 $(cat {disk}/loop)
         mount $(cat {disk}/loop) {disk}/mnt"
    ));
    let started = Instant::now();
    run(&format!(
        "mkdir {disk}/mnt/tree; cd {disk}/mnt/tree
         tar xf {memory}/tree.tar; sync -f .; rm -rf linux; sync -f ."
    ));
    let took = started.elapsed().as_secs_f64() * 1e3;
    run(&format!("umount {disk}/mnt; losetup --detach $(cat {disk}/loop); rm {disk}/shell.img"));
    took
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

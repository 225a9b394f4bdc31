//! Plans on two nodes of a real Slurm. `tests/shares.rs` has what needs none.
//!
//! The tests need root, Slurm and a lab kernel; without them they are ignored, with that reason.

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use libtest_mimic::Arguments;
use serde_json::Value;
use tempfile::TempDir;

use self::common::{sh, shown, wait_for};

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");
const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fleet");

/// Trials of a few seconds.
const PLAN: &str = r#"
    name = "small"
    question = "Is it the same on other machines?"
    [target]
    lab = "virtual"
    [factors]
    discard = ["off", "on"]
    drive = "vertex-le"
    [baseline]
    discard = "off"
    [virtual]
    capacity = "5 GB"
    [workload]
    tree = { files = 1000, size = "15 MB" }
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
"#;

/// Each trial logs on this machine when it begins and ends; none ends before a file is there.
const SLOW: &str = r#"
    name = "slow"
    question = "Does one trial run at a time?"
    [target]
    lab = "image"
    size = "64 MiB"
    [factors]
    mkfs = ["", "-I 256"]
    [baseline]
    mkfs = ""
    [workload]
    [[workload.phases]]
    do = "command"
    run = ["sh", "-c",
        "echo begin$NOT_EXPORTED $$ >>LOG; until [ -e GO ]; do sleep .1; done; echo end $$ >>LOG"]
"#;

const CASES: [(&str, fn()); 3] = [
    ("what_slurm_refuses_is_said", refusing),
    (
        "a_run_comes_to_the_analysis_of_one_machine_although_it_is_interrupted_and_a_task_killed",
        killing,
    ),
    ("trials_on_a_wall_clock_take_turns_and_a_killed_one_is_undone", turns),
];

fn main() {
    let mut arguments = Arguments::from_args();
    // Two processors make two nodes.
    arguments.test_threads = Some(1);
    let lacks = lacks();
    let trials = CASES.into_iter().map(|(name, run)| {
        common::trial(name, run)
            .with_kind(lacks.unwrap_or_default())
            .with_ignored_flag(lacks.is_some())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Why these tests cannot run here; `None` if they can.
fn lacks() -> Option<&'static str> {
    let has = |program: &str| {
        let of = |folder: PathBuf| folder.join(program).exists();
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).chain(["/usr/sbin".into()]).any(of)
    };
    let kernel = || Command::new(SSDLAB).args(["kernel", "info"]).output();
    if !rustix::process::geteuid().is_root() {
        Some("needs root, as Slurm's daemons do")
    } else if !["slurmctld", "slurmd", "munged"].iter().all(|program| has(program)) {
        Some("needs slurm-wlm and munge")
    } else if !kernel().is_ok_and(|info| info.status.success()) {
        Some("needs a lab kernel: `ssdlab kernel build`")
    } else {
        None
    }
}

/// Two nodes, which end with the test, and a place to run the program in.
struct Cluster(TempDir);

impl Cluster {
    fn start() -> Self {
        // Sockets have short names.
        let cluster =
            Self(tempfile::Builder::new().prefix("fleet-").tempdir_in("/var/tmp").unwrap());
        let output = cluster.fleet("start");
        assert!(output.status.success(), "{}", shown(&output));
        cluster
    }

    fn fleet(&self, what: &str) -> Output {
        Command::new(FLEET).arg(what).arg(self.path("slurm")).stdin(Stdio::null()).output().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program, with results and journals here, and the lab kernel of the test's user.
    fn ssdlab(&self, arguments: &[&str]) -> Command {
        // Default signals, whatever this test has inherited.
        let mut command = Command::new("/usr/bin/env");
        command
            .args(["--default-signal=HUP,INT,TERM", SSDLAB])
            .args(arguments)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("SLURM_CONF", self.path("slurm/slurm.conf"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program, which must succeed; returns the object that it prints, without the run's
    /// name.
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.ssdlab(arguments).arg("--json").output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let mut json: Value = serde_json::from_slice(&output.stdout).unwrap();
        json.as_object_mut().unwrap().remove("run");
        json
    }

    /// Starts the program; its standard error goes to a file here.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let errors = fs::File::create(self.path("errors")).unwrap();
        let mut command = self.ssdlab(arguments);
        // Tasks do not inherit it.
        command.env("NOT_EXPORTED", "-and-more");
        command.stdout(Stdio::null()).stderr(errors).spawn().unwrap()
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.path("errors")).unwrap()
    }

    fn plan(&self, text: &str) -> String {
        let path = self.path("plan.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The folders of runs.
    fn runs(&self) -> Vec<PathBuf> {
        entries(&self.path("data/ssdlab"))
    }

    /// The records of the only run.
    fn records(&self) -> Vec<Value> {
        lines(&self.runs()[0].join("records.jsonl"))
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The number of records in the files of attempts.
    fn recorded(&self) -> usize {
        let runs = self.runs();
        let files = runs.iter().flat_map(|run| entries(&run.join("attempts")));
        let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        files.map(|path| lines(&path).len()).sum()
    }

    /// The processes that perform shares on a node.
    fn tasks(&self, node: &str) -> Vec<String> {
        let sign = format!("SLURMD_NODENAME={node}\0");
        let here = self.0.path().display().to_string();
        let is_task = |process: &PathBuf| {
            let text = |name: &str| {
                String::from_utf8_lossy(&fs::read(process.join(name)).unwrap_or_default())
                    .into_owned()
            };
            let line = text("cmdline");
            line.contains("\0--share\0") && line.contains(&here) && text("environ").contains(&sign)
        };
        let tasks = entries(Path::new("/proc")).into_iter().filter(is_task);
        tasks.map(|process| process.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.fleet("stop");
    }
}

/// The entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The lines of a file; empty if there is no file.
fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn signal(process: &str, signal: &str) {
    assert!(Command::new("kill").args([signal, process]).status().unwrap().success());
}

fn refusing() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    let refused = |arguments: &[&str], path: Option<&str>, words: &str| {
        let mut command = cluster.ssdlab(&["run", &plan]);
        command.args(arguments);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {}", shown(&output));
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(says.contains(words), "{arguments:?}: {says}");
    };
    // The kernel's own programs are found, Slurm's are not.
    refused(&["--on", "slurm"], Some("/usr/sbin"), "`sbatch`");
    assert_eq!(cluster.runs().len(), 0);
    refused(&["--on", "slurm:moon"], None, "Invalid partition");
    refused(&["--on", "slurm", "--set", "node_feature=ssd=moon"], None, "Invalid feature");
}

fn killing() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    let words = ["run", &plan, "--runs", "8", "--on", "slurm:all", "--shares", "4"];
    let mut run = cluster.spawn(&words);
    wait_for(|| !cluster.tasks("node1").is_empty() && !cluster.tasks("node2").is_empty());
    // The shares continue without the run.
    signal(&run.id().to_string(), "-INT");
    assert_eq!(run.wait().unwrap().code(), Some(130), "{}", cluster.errors());
    wait_for(|| cluster.recorded() >= 2);
    for task in cluster.tasks("node1") {
        signal(&task, "-KILL");
    }
    // Waits for the other shares, and completes the killed one.
    let name = cluster.runs()[0].display().to_string();
    let fleet = cluster.json(&["run", "--resume", &name, "--on", "slurm"]);
    let records = cluster.records();
    let trials: BTreeSet<String> = records.iter().map(|one| one["trial"].to_string()).collect();
    let nodes: BTreeSet<&str> =
        records.iter().map(|one| one["attempt"]["node"].as_str().unwrap()).collect();
    assert_eq!((records.len(), trials.len(), cluster.recorded()), (16, 16, 16));
    assert_eq!(nodes.into_iter().collect::<Vec<_>>(), ["node1", "node2"]);
    assert!(fleet["treatments"][0]["trials"][7]["fingerprint"].is_string());
    let elsewhere = cluster.path("alone").display().to_string();
    assert_eq!(fleet, cluster.json(&["run", &plan, "--runs", "8", "--results", &elsewhere]));
    assert_eq!(entries(&cluster.path("state/ssdlab/undo")).len(), 0);
}

fn turns() {
    let cluster = Cluster::start();
    let (log, images) = (cluster.path("log"), cluster.path("images"));
    fs::create_dir(&images).unwrap();
    let path = |name: &str| cluster.path(name).display().to_string();
    let plan = cluster.plan(&SLOW.replace("LOG", &path("log")).replace("GO", &path("go")));
    let words = ["run", &plan, "--runs", "4", "--dir", &path("images"), "--on", "slurm"];
    let mut run = cluster.spawn(&words);
    wait_for(|| !lines(&log).is_empty());
    // One measures; the other waits for its turn, and may be a parent of programs, too.
    let measures = lines(&log)[0].replace("begin ", "");
    let task = sh(&format!("ps -o ppid= -p {measures}")).trim().to_owned();
    assert!(["node1", "node2"].iter().any(|node| cluster.tasks(node).contains(&task)), "{task}");
    signal(&task, "-KILL");
    wait_for(|| lines(&log).len() > 1);
    fs::write(cluster.path("go"), "").unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1), "{}", cluster.errors());
    assert!(cluster.errors().contains("2 trials have no record"), "{}", cluster.errors());
    let name = cluster.runs()[0].display().to_string();
    let json = cluster.json(&["run", "--resume", &name, "--on", "slurm"]);
    // Both nodes are this machine. The killed trial was the first.
    let said = lines(&log);
    let killed = said[0].strip_prefix("begin ").unwrap();
    let others: Vec<&String> = said.iter().filter(|line| !line.ends_with(killed)).collect();
    assert_eq!(others.len(), 16, "{said:?}");
    for pair in others.chunks(2) {
        assert_eq!(pair[0].replace("begin ", "end "), *pair[1], "{said:?}");
    }
    // The treatments of a block share a node and an attempt.
    let records = cluster.records();
    assert_eq!(records.len(), 8);
    for record in &records {
        let block = &record["trial"]["block"];
        let mut others = records.iter().filter(|other| other["trial"]["block"] == *block);
        assert!(others.all(|other| other["attempt"] == record["attempt"]));
    }
    let hosts: BTreeSet<&str> =
        records.iter().map(|one| one["attempt"]["node"].as_str().unwrap()).collect();
    assert_eq!(hosts.into_iter().collect::<Vec<_>>(), ["node1", "node2"]);
    assert_eq!(json["by_host"][0]["hosts"].as_array().unwrap().len(), 2, "{json}");
    // The killed trial has left nothing.
    let folder = path("images");
    assert_eq!(sh(&format!("grep -c {folder} /proc/mounts || true")), "0");
    assert_eq!(sh("losetup --list --noheadings --output BACK-FILE").matches(&folder).count(), 0);
    assert_eq!((entries(&images).len(), entries(&cluster.path("state/ssdlab/undo")).len()), (0, 0));
}

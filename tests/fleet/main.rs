//! Plans on two nodes of a real Slurm: failures on the way lose no record and count none twice.
//!
//! The tests need root, Slurm and a lab kernel; without them they are ignored, with that reason.

mod cluster;
#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::Arguments;
use serde_json::{Value, json};

use self::cluster::{Cluster, entries, lines};
use self::common::{sh, shown, wait_for};

/// Each of its trials takes about a second.
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
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
    [[claims]]
    id = "slower"
    says = "Deleting takes longer with discard"
    phases = ["delete"]
    compare = { discard = "on" }
    at_least = 1.1
"#;

/// The same with trials of a few seconds, for events in the middle of a run.
fn longer() -> String {
    PLAN.replace("files = 300, size = \"5 MB\"", "files = 2000, size = \"30 MB\"")
}

/// Each trial logs on this machine when it begins and ends.
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
    run = ["sh", "-c", "echo begin$NOT_EXPORTED >>LOG; sleep SECONDS; echo end >>LOG"]
"#;

const CASES: [(&str, fn()); 12] = [
    ("two_nodes_come_to_the_analysis_of_one_machine", same_analysis),
    ("what_slurm_lacks_is_said_and_nothing_is_submitted", lacking),
    ("what_no_node_can_run_is_left_out", unavailable),
    ("a_node_that_dies_loses_no_record_and_the_run_is_completed", dying_node),
    ("a_controller_that_restarts_is_waited_for", restarting_controller),
    ("a_full_shared_folder_is_waited_for", full_folder),
    ("a_run_whose_submitter_is_gone_is_taken_up", gone_submitter),
    ("a_trial_that_two_attempts_recorded_counts_once", doubles),
    ("records_are_fetched_from_nodes_that_do_not_see_the_folder", rsync),
    ("trials_on_a_wall_clock_take_turns_on_a_machine", turns),
    ("what_is_interrupted_is_not_taken_for_failed", interrupting),
    ("what_is_cancelled_is_undone_on_its_node", cancelling),
];

fn main() {
    let mut arguments = Arguments::from_args();
    // Two processors make two nodes.
    arguments.test_threads = Some(1);
    let lacks = cluster::lacks();
    let trials = CASES.into_iter().map(|(name, run)| {
        common::trial(name, run)
            .with_kind(lacks.unwrap_or_default())
            .with_ignored_flag(lacks.is_some())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// The result of a run, without its name.
fn found(mut json: Value) -> Value {
    json.as_object_mut().unwrap().remove("run");
    json
}

fn status(cluster: &Cluster) -> Value {
    cluster.json(&["status", &cluster.run().display().to_string()], 0)
}

/// Resumes the only run.
fn resume(cluster: &Cluster, code: i32) -> Value {
    let run = cluster.run().display().to_string();
    cluster.json(&["run", "--resume", &run, "--on", "slurm"], code)
}

/// The number of recorded trials, none of which may be recorded twice.
fn recorded(cluster: &Cluster) -> usize {
    let text = fs::read_to_string(cluster.run().join("records.jsonl")).unwrap_or_default();
    // The last line may still be being written.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let records = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let trials: Vec<String> = records.map(|record| record["trial"].to_string()).collect();
    assert_eq!(trials.iter().collect::<BTreeSet<_>>().len(), trials.len(), "{trials:?}");
    trials.len()
}

/// The result of the same plan on this machine alone.
fn alone(cluster: &Cluster, plan: &str, runs: &str) -> Value {
    let elsewhere = cluster.path("alone").display().to_string();
    found(cluster.json(&["run", plan, "--runs", runs, "--results", &elsewhere], 0))
}

fn same_analysis() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    let fleet = cluster.json(&["run", &plan, "--runs", "4", "--on", "slurm:all"], 0);
    let nodes: BTreeSet<String> = lines(&cluster.run().join("records.jsonl"))
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["attempt"]["node"].to_string())
        .collect();
    assert_eq!(nodes.len(), 2, "{nodes:?}");
    let fleet = found(fleet);
    assert!(fleet["treatments"][0]["trials"][3]["fingerprint"].is_string());
    assert_eq!(fleet, alone(&cluster, &plan, "4"));
    // Of each trial the requests, and the functions that the kernel executed.
    assert_eq!(entries(&cluster.run().join("requests")).len(), 16);
    assert_eq!(entries(&cluster.path("state/ssdlab/undo")).len(), 0);
    let status = status(&cluster);
    assert_eq!(status["not_undone"], json!([]));
    assert_eq!((&status["recorded"], &status["expected"]), (&json!(8), &json!(8)));
    assert_eq!((&status["queue"], &status["unmerged"]), (&json!([]), &json!(0)));

    // An element whose submission has changed runs nothing.
    let run = cluster.run();
    let submission = &cluster.attempts("json")[0];
    let text = fs::read_to_string(submission).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["kernel"] = json!("0123456789abcdef");
    fs::write(submission, other.to_string()).unwrap();
    let name = submission.file_stem().unwrap().to_str().unwrap();
    let mut element = cluster.ssdlab(&["node", "--submission", name, "--run"]);
    element.arg(&run).env("SLURM_ARRAY_JOB_ID", "900").env("SLURM_ARRAY_TASK_ID", "0");
    let refused = element.env("SLURMD_NODENAME", "node1").output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{}", shown(&refused));
    let says = String::from_utf8_lossy(&refused.stderr).replace('\n', " ");
    assert!(says.contains("the lab kernel") && says.contains("0123456789abcdef"), "{says}");
    assert_eq!(fs::read_to_string(run.join("attempts/900_0.jsonl")).unwrap(), "");
    assert!(!run.join("attempts/900_0.node").exists());
}

fn lacking() {
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
    refused(&["--on", "slurm:moon"], None, "no partition `moon`");
    refused(&["--on", "slurm:one", "--set", "node_feature=ssd=vertex-le"], None, "ssd=vertex-le");
    refused(&["--on", "slurm", "--set", "node_feature=ssd=x25m,ssd=moon"], None, "ssd=moon");
    // The kernel's own programs are found, Slurm's are not.
    refused(&["--on", "slurm"], Some("/usr/sbin"), "`sbatch`");
    cluster.fleet("kill", &["slurmctld"]);
    refused(&["--on", "slurm"], None, "does not answer");
    cluster.fleet("restart", &["slurmctld"]);
    assert_eq!(cluster.runs().len(), 0);
    assert_eq!(cluster.queue(), "");
}

fn unavailable() {
    let cluster = Cluster::start();
    // No lab kernel has it.
    let text = PLAN.replace("[factors]", "[factors]\n    filesystem = [\"ext4\", \"reiser4\"]");
    let plan = cluster.plan(
        &text
            .replace("\n    [[claims]]", "\n    [[claims]]\n    where = { filesystem = \"ext4\" }"),
    );
    let outcome = |json: Value| -> Vec<(String, usize)> {
        let treatments = json["treatments"].as_array().unwrap().clone();
        let of = |one: &Value| {
            let ok =
                one["trials"].as_array().unwrap().iter().filter(|trial| trial["status"] == "ok");
            (one["status"].as_str().unwrap().to_owned(), ok.count())
        };
        treatments.iter().map(of).collect()
    };
    let fleet = outcome(cluster.json(&["run", &plan, "--runs", "2", "--on", "slurm"], 0));
    assert_eq!(fleet, outcome(alone(&cluster, &plan, "2")));
    assert!(fleet.contains(&("unavailable".to_owned(), 0)), "{fleet:?}");
    assert!(fleet.contains(&("ok".to_owned(), 2)), "{fleet:?}");
    // Nothing is left to do.
    resume(&cluster, 0);
    assert_eq!(cluster.attempts("json").len(), 1);
}

fn dying_node() {
    let cluster = Cluster::start();
    let plan = cluster.plan(&longer());
    let mut run = cluster.spawn(&["run", &plan, "--runs", "8", "--on", "slurm"]);
    wait_for(|| !cluster.elements("node1").is_empty() && !cluster.elements("node2").is_empty());
    wait_for(|| recorded(&cluster) >= 2);
    // An element that has only just started has nothing to undo yet.
    let has_entered = |path: &PathBuf| lines(path).iter().any(|line| line == "node1");
    wait_for(|| cluster.attempts("node").iter().any(has_entered));
    // Its daemon, so that nothing notifies the controller, and its trial.
    cluster.fleet("kill", &["node1"]);
    cluster.signal_elements("node1", "KILL");
    // The other node's trials are all recorded before the run gives up on those.
    assert_eq!(run.wait().unwrap().code(), Some(1), "{}", cluster.errors());
    assert!(cluster.errors().contains("trials have no record"), "{}", cluster.errors());
    let before = recorded(&cluster);
    assert!((8..16).contains(&before), "{before}");
    assert_eq!(status(&cluster)["not_undone"], json!(["node1"]));
    cluster.fleet("restart", &["node1"]);
    let fleet = resume(&cluster, 0);
    assert_eq!(recorded(&cluster), 16);
    assert_eq!(found(fleet), alone(&cluster, &plan, "8"));
}

fn restarting_controller() {
    let cluster = Cluster::start();
    let plan = cluster.plan(&longer());
    let mut run = cluster.spawn(&["run", &plan, "--runs", "8", "--on", "slurm"]);
    wait_for(|| !cluster.runs().is_empty() && recorded(&cluster) >= 2);
    // However slow that is, the elements must not finish meanwhile.
    let signal = |signal| {
        for node in ["node1", "node2"] {
            cluster.signal_elements(node, signal);
        }
    };
    signal("STOP");
    cluster.fleet("restart", &["slurmctld"]);
    signal("CONT");
    wait_for(|| recorded(&cluster) >= 5);
    assert!(run.try_wait().unwrap().is_none(), "{}", cluster.errors());
    assert_eq!(cluster.attempts("json").len(), 1);
    // A killed controller may forget running jobs, kill them, and start them again.
    signal("STOP");
    cluster.fleet("kill", &["slurmctld"]);
    wait_for(|| cluster.errors().contains("does not answer"));
    signal("CONT");
    cluster.fleet("restart", &["slurmctld"]);
    let code = run.wait().unwrap().code();
    assert!([Some(0), Some(1)].contains(&code), "{}", cluster.errors());
    let fleet = resume(&cluster, 0);
    assert_eq!(recorded(&cluster), 16);
    assert_eq!(found(fleet), alone(&cluster, &plan, "8"));
}

fn full_folder() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    let shared = Shared::new(&cluster);
    let mut run = cluster.spawn(&["run", &plan, "--runs", "6", "--on", "slurm"]);
    wait_for(|| !cluster.runs().is_empty() && cluster.attempts("node").len() == 2);
    let hog = shared.fill();
    // Trials end and find no space: ssdlab still runs, but no program of theirs.
    let waits = |node: &str| {
        let is_idle = |pid: &String| sh(&format!("pgrep --parent {pid} || true")).is_empty();
        cluster.elements(node).iter().any(is_idle)
    };
    let both_wait = || waits("node1") && waits("node2");
    let for_long = || {
        (0..20).all(|_| {
            sleep(Duration::from_millis(100));
            both_wait()
        })
    };
    wait_for(for_long);
    fs::remove_file(hog).unwrap();
    let code = run.wait().unwrap().code();
    // The merging program may have found no space itself; it says so, and the run can be resumed.
    if code != Some(0) {
        assert_eq!(code, Some(1), "{}", cluster.errors());
        assert!(cluster.errors().contains("No space left"), "{}", cluster.errors());
    }
    let fleet = resume(&cluster, 0);
    assert_eq!(recorded(&cluster), 12);
    assert_eq!(found(fleet), alone(&cluster, &plan, "6"));
    // Nothing was submitted again.
    assert_eq!(cluster.attempts("json").len(), 1, "{}", cluster.errors());
}

/// A small filesystem for the results.
struct Shared(String);

impl Shared {
    fn new(cluster: &Cluster) -> Self {
        let path = cluster.path("data").display().to_string();
        sh(&format!("mkdir {path}; mount -t tmpfs -o size=64m tmpfs {path}"));
        Self(path)
    }

    /// Fills it up; returns the file that does.
    fn fill(&self) -> String {
        let hog = format!("{}/hog", self.0);
        let _ = Command::new("dd").args(["if=/dev/zero", "bs=4k", &format!("of={hog}")]).output();
        hog
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy", &self.0]).status();
    }
}

fn gone_submitter() {
    let cluster = Cluster::start();
    let plan = cluster.plan(&longer());
    let mut run = cluster.spawn(&["run", &plan, "--runs", "6", "--on", "slurm"]);
    // However slow the submitter is, its elements must not finish before it is gone.
    let nodes = ["node1", "node2"];
    for node in nodes {
        cluster.signal_elements(node, "STOP");
    }
    // The terminal is closed.
    let id = run.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    run.wait().unwrap();
    assert!(!cluster.queue().is_empty());
    // This machine must not repeat the nodes' work.
    let name = cluster.run().display().to_string();
    let output = cluster.output(&["run", "--resume", &name]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    for node in nodes {
        cluster.signal_elements(node, "CONT");
    }
    let fleet = resume(&cluster, 0);
    assert_eq!(recorded(&cluster), 12);
    assert_eq!(cluster.attempts("json").len(), 1);
    assert_eq!(found(fleet), alone(&cluster, &plan, "6"));
}

fn doubles() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    let fleet = found(cluster.json(&["run", &plan, "--runs", "2", "--on", "slurm"], 0));
    // The orphan of a requeued job has finished, too.
    let attempt = &cluster.attempts("jsonl")[0];
    let id = attempt.file_stem().unwrap().to_str().unwrap();
    let orphan = fs::read_to_string(attempt).unwrap().replace(&format!("\"{id}\""), "\"0_0\"");
    fs::write(attempt.with_file_name("0_0.jsonl"), orphan).unwrap();
    let run = cluster.run().display().to_string();
    let output = cluster.output(&["run", "--resume", &run, "--on", "slurm", "--json"]);
    assert!(output.status.success(), "{}", shown(&output));
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(says.contains("attempt 0_0 has recorded it too"), "{says}");
    assert!(says.contains(&format!("that of {id} counts")), "{says}");
    assert_eq!(recorded(&cluster), 4);
    assert_eq!(found(serde_json::from_slice(&output.stdout).unwrap()), fleet);
}

fn rsync() {
    let cluster = Cluster::start();
    let plan = cluster.plan(PLAN);
    // The nodes' own home, and a replacement for ssh to them.
    let home = cluster.path("home");
    fs::create_dir(&home).unwrap();
    let shell = cluster.path("shell");
    // Files that are not regular have been planted there.
    let planted = format!(
        "for of in {}/ssdlab/fleet/*/attempts; do [ ! -d $of ] || [ -e $of/pipe.out ] ||\n\
         {{ ln -s /etc/passwd $of/link.out; mkfifo $of/pipe.out; touch $of/plain.out; }}; done",
        cluster.path("state").display()
    );
    let text = format!("#!/bin/sh\nshift\n{planted}\ncd \"$HOME\"\nexec sh -c \"$*\"\n");
    fs::write(&shell, text).unwrap();
    sh(&format!("chmod +x {}", shell.display()));
    let run = |arguments: &[&str], code: i32| -> Value {
        let mut command = cluster.ssdlab(&["run", "--on", "slurm", "--collect", "rsync", "--json"]);
        command.args(arguments).env("XDG_CACHE_HOME", cluster::caches());
        let output = command.env("HOME", &home).env("RSYNC_RSH", &shell).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", shown(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let fleet = run(&[&plan, "--runs", "3"], 0);
    assert_eq!(recorded(&cluster), 6);
    assert_eq!(found(fleet), alone(&cluster, &plan, "3"));
    assert_eq!(entries(&cluster.run().join("requests")).len(), 12);
    let attempts = cluster.run().join("attempts").display().to_string();
    let copied = sh(&format!("find {attempts} -name 'p*.out' -o -name 'l*.out'"));
    assert_eq!(copied, format!("{attempts}/plain.out"));
    // Nothing of what nodes wrote stays there.
    let left = sh(&format!("find {} -name '*_*' -type f", cluster.path("state").display()));
    assert_eq!(left, "");
}

/// A slow plan, and the log in which its trials say when they begin and end.
struct Slow {
    plan: String,
    log: PathBuf,
    images: PathBuf,
    /// The folder of images, as an argument.
    folder: String,
}

impl Slow {
    fn new(cluster: &Cluster, seconds: &str) -> Self {
        let (log, images) = (cluster.path("log"), cluster.path("images"));
        fs::create_dir(&images).unwrap();
        let text = SLOW.replace("LOG", &log.display().to_string()).replace("SECONDS", seconds);
        let folder = images.display().to_string();
        Self { plan: cluster.plan(&text), log, images, folder }
    }
}

fn turns() {
    let cluster = Cluster::start();
    let Slow { plan, log, folder, .. } = Slow::new(&cluster, "0.5");
    let mut run = cluster.ssdlab(&["run", &plan, "--runs", "4", "--dir", &folder, "--on", "slurm"]);
    // Jobs do not inherit the submitter's environment.
    let output = run.arg("--json").env("NOT_EXPORTED", "-and-more").output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["treatments"][0]["trials"].as_array().unwrap().len(), 4);
    // Both nodes are this machine.
    let said = lines(&log).join(" ");
    assert_eq!(said, ["begin end"; 8].join(" "));
    let records = lines(&cluster.run().join("records.jsonl"));
    let records: Vec<Value> =
        records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The treatments of a block share a node and an element.
    for record in &records {
        let block = &record["trial"]["block"];
        let mut others = records.iter().filter(|other| other["trial"]["block"] == *block);
        assert!(others.all(|other| other["attempt"] == record["attempt"]));
    }
}

/// Whatever ends a job ends its programs, too.
fn interrupting() {
    let cluster = Cluster::start();
    let Slow { plan, log, images, folder } = Slow::new(&cluster, "100");
    let arguments = ["run", &plan, "--runs", "1", "--dir", &folder, "--on", "slurm:one"];
    let mut run = cluster.spawn(&arguments);
    wait_for(|| !lines(&log).is_empty());
    let id = run.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130), "{}", cluster.errors());
    assert_eq!(cluster.queue(), "");
    assert_eq!(recorded(&cluster), 0, "{}", cluster.errors());
    assert_eq!(status(&cluster)["not_undone"], json!([]));
    assert_eq!(entries(&images).len(), 0);
    // It resumes in its own partition, not in the other.
    let name = cluster.run().display().to_string();
    let mut run = cluster.spawn(&["run", "--resume", &name, "--on", "slurm"]);
    // The shell of the first may see its `sleep` die, and say that it is at its end.
    wait_for(|| lines(&log).iter().filter(|line| *line == "begin").count() > 1);
    assert_eq!(cluster.elements("node2").len(), 0);
    let output = cluster.output(&["cancel", &name]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(run.wait().unwrap().code(), Some(1), "{}", cluster.errors());
    assert_eq!(recorded(&cluster), 0, "{}", cluster.errors());
}

fn cancelling() {
    let cluster = Cluster::start();
    let Slow { plan, log, images, folder } = Slow::new(&cluster, "100");
    let mut run = cluster.spawn(&["run", &plan, "--runs", "2", "--dir", &folder, "--on", "slurm"]);
    let mounted = || sh(&format!("grep -c {folder} /proc/mounts || true"));
    wait_for(|| !lines(&log).is_empty());
    // The measuring element cannot undo anything; the other waits for its turn.
    for node in ["node1", "node2"] {
        let is_measuring = |pid: &String| !sh(&format!("pgrep --parent {pid} || true")).is_empty();
        if cluster.elements(node).iter().any(is_measuring) {
            cluster.signal_elements(node, "KILL");
        }
    }
    let name = cluster.run().display().to_string();
    let output = cluster.output(&["cancel", &name]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("remaining changes undone"), "{}", shown(&output));
    assert_eq!(run.wait().unwrap().code(), Some(1), "{}", cluster.errors());
    assert_eq!(status(&cluster)["not_undone"], json!([]));
    assert_eq!(mounted(), "0");
    assert_eq!(entries(&images).len(), 0);
    assert_eq!(entries(&cluster.path("state/ssdlab/undo")).len(), 0);
    assert_eq!(sh("losetup --list --noheadings --output BACK-FILE").matches(&folder).count(), 0);
    assert_eq!(cluster.queue(), "");
}

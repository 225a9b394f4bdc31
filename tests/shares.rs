//! A run in shares, performed by hand: each trial counts once, and a killed share is resumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

/// Each trial logs that it begins; the second waits for a file.
const PLAN: &str = r#"
name = "shared"
question = "Who performs it?"
[workload]
phases = [{ do = "command", run = ["sh", "-c",
    "echo begun >>LOG; until [ $(wc -l <LOG) != 2 ] || [ -e GO ]; do sleep 0.05; done"] }]
"#;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let path = |name: &str| place.path(name).display().to_string();
        let plan = PLAN.replace("LOG", &path("log")).replace("GO", &path("go"));
        fs::write(place.path("plan.toml"), plan).unwrap();
        fs::create_dir(place.path("work")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(self.0.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("TMPDIR", self.0.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program, which must end with this exit code.
    fn ends(&self, code: i32, words: &[&str]) -> Output {
        let output = self.command(env!("CARGO_BIN_EXE_ssdlab"), words).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", errors(&output));
        output
    }

    /// The object that it prints.
    fn json(&self, code: i32, words: &[&str]) -> Value {
        serde_json::from_slice(&self.ends(code, words).stdout).unwrap()
    }

    /// Divides the plan; returns the run's folder, and the commands for its shares.
    fn divide(&self, runs: &str, shares: &str) -> (PathBuf, Vec<String>) {
        let words = ["run", "plan.toml", "--lab", "directory", "--dir", "work", "--runs", runs];
        let output = self.ends(0, &[&words, &["--shares", shares][..]].concat());
        let said = errors(&output);
        let commands = said.lines().filter(|line| line.contains("--share ")).map(str::to_owned);
        (only(&self.path("data/ssdlab")), commands.collect())
    }

    /// Starts a share on a machine.
    fn start(&self, command: &str, node: &str) -> Child {
        let mut child = self.command("sh", &["-c", &format!("exec {command}")]);
        child.env("SLURMD_NODENAME", node).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn perform(&self, command: &str, node: &str) {
        let output = self.start(command, node).wait_with_output().unwrap();
        assert!(output.status.success(), "{command}: {}", errors(&output));
    }

    /// The number of trials that were begun.
    fn begun(&self) -> usize {
        lines(&self.path("log")).len()
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The only entry of a folder.
fn only(folder: &Path) -> PathBuf {
    let mut entries = fs::read_dir(folder).unwrap();
    let first = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    first
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The machines of the records of a run, none of whose trials may have two.
fn machines(run: &Path) -> Vec<String> {
    let records: Vec<Value> = lines(&run.join("records.jsonl"))
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut blocks: Vec<u64> =
        records.iter().map(|one| one["trial"]["block"].as_u64().unwrap()).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), records.len());
    let mut machines: Vec<String> = records
        .iter()
        .map(|one| one["attempt"]["node"].as_str().unwrap_or("-").to_owned())
        .collect();
    machines.sort_unstable();
    machines
}

#[test]
fn shares_by_hand_make_one_run_although_one_is_killed() {
    let place = Place::new();
    let (run, shares) = place.divide("6", "3");
    assert_eq!(shares.len(), 3, "{shares:?}");
    let name = run.display().to_string();
    let mut killed = place.start(&shares[0], "a");
    while place.begun() < 2 {
        sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    fs::write(place.path("go"), "").unwrap();
    place.ends(0, &["restore"]);
    // What is recorded is reported, and nothing is written.
    let so_far = place.json(0, &["report", &name, "--json"]);
    assert_eq!(so_far["treatments"][0]["trials"].as_array().unwrap().len(), 1);
    assert_eq!((so_far["status"].as_str(), machines(&run).len()), (Some("partial"), 0));

    // A record of another attempt at the first trial.
    let record = fs::read_to_string(run.join("attempts/3_1.jsonl")).unwrap();
    let (first, id) = (record.lines().next().unwrap(), "\"id\":\"3_1\"");
    assert!(first.contains(id), "{first}");
    let again = format!("{}\n", first.replace(id, "\"id\":\"4_1\""));
    fs::write(run.join("attempts/4_1.jsonl"), again).unwrap();

    place.perform(&shares[1], "b");
    // Merging too early names what is missing.
    let merge = ["run", "--resume", &name, "--shares", "3"];
    let early = errors(&place.ends(130, &merge));
    assert!(early.contains("--share 1/3") && !early.contains("--share 2/3"), "{early}");
    assert!(early.contains("4_1.jsonl: 1 of its trials were recorded elsewhere"), "{early}");
    let both = [("a", 0), ("c", 2)].map(|(node, share)| place.start(&shares[share], node));
    for share in both {
        let output = share.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
    }
    let whole = place.json(0, &[&merge, &["--json"][..]].concat());
    assert_eq!(whole["treatments"][0]["trials"].as_array().unwrap().len(), 6);
    assert_eq!(whole["status"], "complete", "{whole}");
    assert_eq!(machines(&run), ["a", "a", "b", "b", "c", "c"]);
    assert_eq!(place.begun(), 7, "only the killed trial ran twice");

    // Nothing is left to do for anybody.
    place.perform(&shares[0], "d");
    place.ends(0, &["run", "--resume", &name]);
    assert_eq!((place.begun(), machines(&run).len()), (7, 6));
}

#[test]
fn one_machine_completes_what_shares_have_begun() {
    let place = Place::new();
    fs::write(place.path("go"), "").unwrap();
    let (run, shares) = place.divide("5", "2");
    place.perform(&shares[1], "b");
    let name = run.display().to_string();
    place.ends(0, &["run", "--resume", &name]);
    assert_eq!(machines(&run), ["-", "-", "-", "b", "b"]);
    assert_eq!(place.begun(), 5);
    for words in [
        &["run", "--resume", &name, "--share", "3/2"][..],
        &["run", "--resume", &name, "--share", "1/2", "--json"],
        &["run", "plan.toml", "--share", "1/2"],
        &["run", "--resume", &name, "--shares", "2", "--watch"],
        &["run", "plan.toml", "--lab", "device", "--device", "/dev/null", "--shares", "2"],
    ] {
        place.ends(2, words);
    }
}

#[test]
fn a_machine_with_another_ssdlab_performs_nothing() {
    let place = Place::new();
    let (run, shares) = place.divide("2", "2");
    let common = run.join("attempts/shares.json");
    let text = fs::read_to_string(&common).unwrap();
    fs::write(&common, text.replace("\"program\":\"", "\"program\":\"9.")).unwrap();
    let output = place.start(&shares[0], "a").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    let said = errors(&output).replace('│', " ");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("ssdlab differs"), "{said}");
    assert_eq!(place.begun(), 0);
}

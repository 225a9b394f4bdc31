//! `ssdlab compare` and `ssdlab history` on folders in any state.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use ssdlab_plan::LabKind;
use ssdlab_results::{Ending, RunFolder};
use tempfile::TempDir;

use super::{PLAN, records, schedule};

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn results(&self) -> PathBuf {
        self.0.path().join("data/ssdlab")
    }

    /// Stores a run; returns its folder.
    fn run(&self, id: &str, kernel: &str, started_s: u64) -> PathBuf {
        let schedule = schedule(LabKind::Virtual, |_| {});
        let mut run = RunFolder::create(&self.results(), id, PLAN, &schedule).unwrap();
        for mut record in records(&schedule, kernel, 20) {
            record.started_s = started_s;
            run.push(&record).unwrap();
        }
        run.ended(Ending::AllBlocks).unwrap();
        run.folder().to_owned()
    }

    fn ssdlab(&self, arguments: &[&str]) -> Output {
        // A command that would wait forever is ended, and fails.
        Command::new("timeout")
            .args(["60", env!("CARGO_BIN_EXE_ssdlab")])
            .args(arguments)
            .current_dir(self.0.path())
            .env("XDG_DATA_HOME", self.0.path().join("data"))
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .env("TMPDIR", self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The output of a command that must end with this code.
    #[track_caller]
    fn ends(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.ssdlab(arguments);
        let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
        (out, err)
    }
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn runs_are_compared_by_name_or_folder() {
    let place = Place::new();
    let before = place.run("before", "6.1.0", 1);
    place.run("after", "6.12.0", 2);
    let (text, _) = place.ends(0, &["compare", before.to_str().unwrap(), "after"]);
    assert!(text.contains("6.12.0") && text.contains("run 2: after"), "{text}");
    let (json, _) = place.ends(0, &["compare", "before", "after", "--json"]);
    let comparison: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(comparison["differences"][0]["values"][1], "6.12.0");
    let (schema, _) = place.ends(0, &["schema", "comparison"]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let keys =
        |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&comparison), keys(&schema["properties"]));
    let metric = ["compare", "before", "after", "--metric", "written_bytes"];
    let (markdown, _) = place.ends(0, &[&metric[..], &["--format", "markdown"]].concat());
    assert!(markdown.contains("\n| treatment | phase | run 1 | run 2 |\n"), "{markdown}");
}

#[test]
fn what_cannot_be_compared_ends_with_2_and_says_why() {
    let place = Place::new();
    place.run("one", "6.1.0", 1);
    let newer = place.run("newer", "6.1.0", 1);
    replace(&newer.join("schedule.json"), "\"schema\": 1", "\"schema\": 99");
    let cases: [(&[&str], &str); 6] = [
        (&["compare", "one"], "required"),
        (&["compare", "one", "one"], "is named twice"),
        (&["compare", "one", "nowhere"], "there is no run"),
        (&["compare", "one", "newer"], "schema 99"),
        (&["compare", "one", "newer", "--metric", "speed"], "no metric `speed`"),
        (&["compare", "one", "one", "--results", "elsewhere"], "is named twice"),
    ];
    for (arguments, message) in cases {
        let (out, err) = place.ends(2, arguments);
        assert!(out.is_empty() && err.contains(message), "{arguments:?}: {err}");
    }
}

/// A line truncated by a crash is skipped with a warning; a changed line is an error.
#[test]
fn a_cut_record_is_left_out_and_a_broken_one_is_an_error() {
    let place = Place::new();
    place.run("one", "6.1.0", 1);
    let path = place.run("cut", "6.1.0", 1).join("records.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let (out, err) = place.ends(0, &["compare", "one", "cut"]);
    assert!(
        err.contains("last line was truncated") && out.contains("11 of 11 trials"),
        "{out}{err}"
    );
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&whole).unwrap();
    let (_, err) = place.ends(1, &["compare", "one", "cut"]);
    assert!(err.contains("line 12 is not a record"), "{err}");
}

/// Concatenated records are not more trials, and a run with missing records is not complete.
#[test]
fn records_that_are_not_the_run_s_are_left_out_with_a_word() {
    let place = Place::new();
    let path = place.run("one", "6.1.0", 1).join("records.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let trials = || {
        let (json, err) = place.ends(0, &["report", "one", "--json"]);
        let analysis: Value = serde_json::from_str(&json).unwrap();
        let treatments = analysis["treatments"].as_array().unwrap().clone();
        let count = |treatment: &Value| treatment["trials"].as_array().unwrap().len();
        let trials = treatments.iter().map(count).sum::<usize>();
        (trials, analysis["status"].as_str().unwrap().to_owned(), err)
    };
    assert_eq!(trials(), (12, "complete".to_owned(), String::new()));
    let foreign = whole.replace("\"discard\":\"on\"", "\"discard\":\"fstrim\"");
    fs::write(&path, format!("{whole}{whole}{foreign}")).unwrap();
    let (count, status, err) = trials();
    assert_eq!((count, status.as_str()), (12, "complete"));
    assert!(err.contains("18 records of trials that were recorded earlier"), "{err}");
    assert!(err.contains("6 records of treatments that this run does not have"), "{err}");
    let some: Vec<&str> = whole.lines().take(2).collect();
    fs::write(&path, some.join("\n") + "\n").unwrap();
    let (count, status, err) = trials();
    assert_eq!((count, status.as_str()), (2, "partial"));
    assert!(err.contains("its records end earlier"), "{err}");
}

/// A changed schedule does not end the report of other runs, whatever it contains.
#[test]
fn one_broken_run_does_not_hide_the_others() {
    let place = Place::new();
    place.run("one", "6.1.0", 1);
    let bound = place.run("bound", "6.1.0", 1).join("schedule.json");
    replace(&bound, "\"at_least\": 2.0", "\"at_least\": 0.0");
    let steering = place.run("steering", "6.1.0", 1).join("schedule.json");
    replace(&steering, "\"lab\": \"virtual\"", "\"lab\": \"\\u001b]0;x\\u0007\"");
    let (out, _) = place.ends(0, &["history"]);
    assert!(out.contains("1 holds") && out.contains("was changed: a "), "{out}");
    let (_, err) = place.ends(1, &["report", "steering"]);
    assert!(err.contains("is not a schedule") && !err.contains('\u{1b}'), "{err:?}");
}

#[test]
fn a_history_keeps_every_run_and_counts_what_is_none() {
    let place = Place::new();
    let (out, err) = place.ends(0, &["history"]);
    assert!(out.is_empty() && err.contains("no runs yet; `ssdlab run discard` makes one"), "{err}");
    place.ends(2, &["history", "--results", "nowhere"]);
    place.run("late", "6.1.0", 2_000_000_000);
    place.run("early", "6.1.0", 1_000_000_000);
    let broken = place.run("broken", "6.1.0", 1);
    replace(&broken.join("records.jsonl"), "\"schema\":1", "\"schema\":99");
    fs::write(place.results().join("notes.txt"), "mine").unwrap();
    fs::create_dir(place.results().join("folder")).unwrap();
    fs::write(place.results().join("early/notes.txt"), "mine").unwrap();
    let (out, err) = place.ends(0, &["history"]);
    assert!(err.contains("2 entries are not runs"), "{err}");
    let at = |run: &str| out.find(run).unwrap_or_else(|| panic!("{run}: {out}"));
    assert!(at("early") < at("broken") && at("broken") < at("late"), "{out}");
    assert!(out.contains("has schema 99") && out.contains("1 holds"), "{out}");

    let (json, _) = place.ends(0, &["history", "--json"]);
    let history: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(history["runs"].as_array().unwrap().len(), 3);
    assert_eq!(history["runs"][0]["run"], "early");
    assert_eq!(history["runs"][0]["holds"], 1);
    let count = |filter: &[&str]| {
        let (json, _) = place.ends(0, &[&["history", "--json"], filter].concat());
        let history: Value = serde_json::from_str(&json).unwrap();
        history["runs"].as_array().unwrap().len()
    };
    assert_eq!(count(&["--plan", "delete"]), 2);
    assert_eq!(count(&["--plan", "other"]), 0);
    assert_eq!(count(&["--drive", "sata"]), 2);
    assert_eq!(count(&["--verdict", "holds", "--lab", "virtual"]), 2);
    assert_eq!(count(&["--verdict", "refuted"]), 0);
    assert_eq!(count(&["--lab", "image"]), 0);
}

/// Others may have put it there: nothing waits for it, and the message names it.
#[test]
fn what_is_no_file_in_a_run_is_named_and_not_waited_for() {
    let commands: [&[&str]; 6] = [
        &["report", "run"],
        &["method", "run"],
        &["compare", "run", "other"],
        &["run", "--resume", "run"],
        &["trace", "run"],
        &["history"],
    ];
    for name in ["schedule.json", "records.jsonl", "plan.toml", "ending.json"] {
        for (kind, is_fifo) in [("a FIFO", true), ("a symbolic link", false)] {
            let place = Place::new();
            place.run("other", "6.1.0", 1);
            let folder = place.run("run", "6.1.0", 1);
            let path = folder.join(name);
            fs::remove_file(&path).unwrap();
            if is_fifo {
                rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
            } else {
                std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            }
            for words in commands {
                let output = place.ssdlab(words);
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8(said).unwrap();
                let is_history = words == ["history"];
                assert_eq!(output.status.success(), is_history, "{words:?}: {said}");
                assert!(said.contains(name) && said.contains(kind), "{name}, {words:?}: {said}");
            }
        }
    }
}

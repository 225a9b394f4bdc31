//! What the runs in a results folder do to the next one, and how they are named.

use std::fs;

use serde_json::Value;

use super::{HEAD, Place};

/// Runs a plan with one claim in the directory `work`; returns the claim's judgement, and what was
/// said.
fn run_claim(place: &Place, runs: &str, text: &str) -> (Value, String) {
    fs::create_dir_all(place.0.path().join("work")).unwrap();
    fs::write(place.0.path().join("plan.toml"), text).unwrap();
    let arguments = ["--lab", "directory", "--dir", "work", "--runs", runs, "--json"];
    let output = place.ssdlab(&[&["run", "plan.toml"], &arguments[..]].concat());
    let says = String::from_utf8(output.stderr).unwrap();
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {says}"));
    (json["claims"][0].clone(), says)
}

/// A plan that claims an effect of an option that has none.
fn claiming(at_least: &str, says: &str) -> String {
    format!(
        "{HEAD}[factors]\nfilesystem = \"any\"\nmount = [\"defaults\", \"rw\"]\n\
         [baseline]\nmount = \"defaults\"\n\
         [workload]\ntree = {{ files = 10, size = \"100 kB\" }}\n\
         phases = [{{ do = \"unpack\", sync = true }}]\n\
         [[claims]]\nid = \"c\"\nsays = \"{says}\"\nphases = [\"unpack\"]\n\
         compare = {{ mount = \"rw\" }}\nat_least = {at_least}\n"
    )
}

#[test]
fn a_claim_that_the_first_run_does_not_make_is_exploratory() {
    let place = Place::new();
    let run = |text: String| {
        let (claim, says) = run_claim(&place, "1", &text);
        (claim["exploratory"].clone(), says)
    };
    let (first, _) = run(claiming("2", "twice"));
    let (reworded, _) = run(claiming("2", "at least twice"));
    let (moved, says) = run(claiming("1.5", "at least 1.5 times"));
    assert_eq!((first, reworded), (Value::Null, Value::Null));
    assert!(moved.as_str().is_some_and(|known| known.starts_with("made or changed after p-")));
    assert!(says.contains("does not make them: c;"), "{says}");
    // A plan with another name is another question.
    let (renamed, _) = run(claiming("1.5", "at least 1.5 times").replacen("\"p\"", "\"q\"", 1));
    assert_eq!(renamed, Value::Null);
}

/// Each run that leaves a claim open spends a part of the error; one that decides it ends the row.
#[test]
fn earlier_runs_that_left_a_claim_open_are_counted() {
    let place = Place::new();
    // Gives the trials of the last run these times.
    let set_ms = |times: [u64; 6]| {
        let folder = place.0.path().join("data/ssdlab");
        let runs = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let path = runs.max().unwrap().join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let mut records: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let done = records.iter_mut().filter(|record| record["status"] == "ok");
        for (record, ms) in done.zip(times) {
            record["phases"][0]["time_ns"] = (ms * 1_000_000).into();
        }
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    };
    // An amount, as the directory lab has nothing to compare.
    let plan = format!(
        "{HEAD}[factors]\nfilesystem = \"any\"\n[workload]\n\
         tree = {{ files = 10, size = \"100 kB\" }}\n\
         phases = [{{ do = \"unpack\", sync = true }}]\n\
         [[claims]]\nid = \"c\"\nsays = \"?\"\nphases = [\"unpack\"]\n\
         compare = {{ filesystem = \"any\" }}\nat_least = \"100 ms\"\n"
    );
    let left_open = || {
        let (claim, says) = run_claim(&place, "6", &plan);
        assert!(claim["id"] == "c", "{claim}: {says}");
        claim["left_open"].as_u64()
    };
    assert_eq!(left_open(), None);
    set_ms([50, 300, 60, 250, 55, 280]);
    assert_eq!(left_open(), Some(1));
    set_ms([50, 300, 60, 250, 55, 280]);
    assert_eq!(left_open(), Some(2));
    set_ms([1000, 1001, 1002, 1003, 1004, 1005]);
    assert_eq!(left_open(), None);
}

#[test]
fn a_folder_of_runs_is_told_from_a_run() {
    let place = Place::new();
    run_claim(&place, "1", &claiming("2", "twice"));
    let output = place.ssdlab(&["report", "data/ssdlab"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("it is a folder of runs"), "{message}");
}

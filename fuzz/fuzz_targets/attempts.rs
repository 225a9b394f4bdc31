//! What other machines leave in a run's folder: the records of an attempt.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ssdlab_plan::{self as plan, Overrides, Schedule};
use ssdlab_results::{ATTEMPTS, RunFolder};
use tempfile::TempDir;

static SCHEDULE: LazyLock<Schedule> = LazyLock::new(|| {
    let text = include_str!("../seeds/attempts.toml");
    plan::schedule("p.toml", text, &Overrides::default(), Path::new("/")).expect("a sound plan")
});

/// A run's folder. It stays in the temporary folder, which is whoever's that runs the fuzzer.
static RUN: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a temporary folder");
    let run = RunFolder::create(place.path(), "run", "", &SCHEDULE).expect("a folder of our own");
    let folder = run.folder().to_owned();
    fs::create_dir(folder.join(ATTEMPTS)).expect("a folder of our own");
    (place, folder)
});

fuzz_target!(|bytes: &[u8]| {
    let folder = &RUN.1;
    let attempts = folder.join(ATTEMPTS);
    fs::write(attempts.join("1_1.jsonl"), bytes).expect("a file of our own");
    // The same lines are not this attempt's.
    fs::write(attempts.join("1_2.jsonl"), bytes).expect("a file of our own");
    let (run, contents) = RunFolder::append(folder).expect("a run of our own");
    let found = run.unmerged(&SCHEDULE, &contents.records).expect("files of our own");
    let ids = found.records.iter().map(|record| record.attempt.as_ref().expect("it has one").id);
    assert!(ids.clone().all(|id| ["1_1", "1_2"].contains(&id.to_string().as_str())));
    let mut trials: Vec<u32> = found.records.iter().map(|record| record.trial.position).collect();
    trials.sort_unstable();
    trials.dedup();
    assert_eq!(trials.len(), found.records.len(), "a trial counts once");
    let again = run.unmerged(&SCHEDULE, &found.records).expect("files of our own");
    assert!(again.records.is_empty());
});

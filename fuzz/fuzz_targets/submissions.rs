//! What nodes and whoever submits leave in a run's folder for each other: a submission, records of
//! an attempt, and a node's marker, with a NUL between them. Nothing of it is executed.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ssdlab_conductor::Submission;
use ssdlab_plan::{self as plan, Overrides, Schedule};
use ssdlab_results::{ATTEMPTS, AttemptId, Attempts, is_path_of_node, node_of};
use tempfile::TempDir;

/// A run's folder. It stays in the temporary folder, which is whoever's that runs the fuzzer.
static RUN: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join(ATTEMPTS)).expect("a folder of our own");
    folder
});

static SCHEDULE: LazyLock<Schedule> = LazyLock::new(|| {
    let text = include_str!("../seeds/submissions.toml");
    plan::schedule("p.toml", text, &Overrides::default(), Path::new("/")).expect("a sound plan")
});

fuzz_target!(|bytes: &[u8]| {
    let run = RUN.path();
    let id = AttemptId::read("1_1").expect("a name of an attempt");
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let write = |path: &Path, part: &[u8]| fs::write(path, part).expect("a file of our own");

    write(&Submission::path(run, "a"), next());
    if let Ok(submission) = Submission::read(run, "a") {
        let _ = submission.limit(&SCHEDULE);
        let _ = submission.expected.differs_from(&Submission::default().expected);
        assert!(submission.staged.iter().all(|folder| is_path_of_node(folder)));
        submission.write(run, "a").expect("what was read can be written");
        assert_eq!(Submission::read(run, "a").expect("what was written can be read"), submission);
    }

    write(&node_of(run, id).with_extension("jsonl"), next());
    let mut attempts = Attempts::new(run, &[]);
    if let Ok(news) = attempts.news(&SCHEDULE) {
        // A record counts once, however often it is read.
        let again = Attempts::new(run, &news.records).news(&SCHEDULE).expect("it was just read");
        assert!(again.records.is_empty());
        assert!(attempts.news(&SCHEDULE).expect("it was just read").records.is_empty());
    }

    write(&node_of(run, id), next());
    for left in attempts.not_undone().unwrap_or_default().left {
        assert_eq!(left.id, id);
        assert!(!left.node.contains('\n') && !left.submission.contains('\n'));
        assert!(is_path_of_node(&left.journal));
    }
});

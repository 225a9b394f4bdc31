//! `ssdlab bisect` in a tree of Linux: it names the commit that was planted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const SOURCE: &str = "/usr/src/linux-source-6.1.tar.xz";

/// How many revisions may be examined, the two ends included.
const MOST_STEPS: usize = 10;

const PLAN: &str = r#"
    name = "commits"
    question = "Does ext4 commit its journal once for each fsync?"
    metric = "commits"
    [factors]
    filesystem = "ext4"
    [virtual.factors]
    drive = "tlc-dramless"
    [workload]
    phases = [{ do = "append", name = "log", append = { records = 50, sync_every = 1 } }]
    [[claims]]
    id = "one-commit"
    says = "a synced record takes one commit"
    metric = "commits"
    phases = ["log"]
    compare = { filesystem = "ext4" }
    at_most = "60"
"#;

/// The folder of the test: `$SSDLAB_BISECT_TEST`, which keeps the tree and the builds for another
/// time, or a new one.
fn folder(new: &Path) -> PathBuf {
    env::var_os("SSDLAB_BISECT_TEST").map_or_else(|| new.to_owned(), PathBuf::from)
}

#[test]
#[ignore = "builds the kernels of up to ten revisions, in about ten minutes: make bisect-test"]
fn the_commit_that_costs_ext4_a_commit_more_is_named() {
    let new = tempfile::Builder::new().prefix("bisect-test-").tempdir_in("/var/tmp").unwrap();
    let folder = folder(new.path());
    let tree = folder.join("linux");
    if !tree.exists() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/bisect-tree");
        let made = Command::new(script).arg(SOURCE).arg(&tree).status().unwrap();
        assert!(made.success());
    }
    fs::write(folder.join("plan.toml"), PLAN).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(["bisect", "plan.toml", "one-commit", "--json", "--tree", "linux"])
        .args(["--good", "base", "--bad", "last-comment"])
        .current_dir(&folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &json["outcome"]["found"];
    let subject = "ext4: make sure that fsync() has reached the journal";
    assert_eq!(found["subject"], subject, "{json}");
    let steps = json["steps"].as_array().unwrap();
    assert!(steps.len() <= MOST_STEPS, "{json}");
    // The one that does not build was met, and did no harm.
    let skipped = steps.iter().filter(|step| step["finding"]["skipped"].is_string());
    let skipped: Vec<&str> =
        skipped.map(|step| step["commit"]["subject"].as_str().unwrap()).collect();
    assert_eq!(skipped, ["ext4: rename an argument of ext4_sync_file()"]);
}

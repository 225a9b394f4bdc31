//! `git bisect run ssdlab judge` in a tree of Linux: it names the commit that was planted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ssdlab_host::program::GIT_REPOSITORY;

const SOURCE: &str = "/usr/src/linux-source-6.1.tar.xz";

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

/// Runs a program in the tree, and returns its exit code and its output.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(folder.join("linux"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    for variable in GIT_REPOSITORY {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    eprintln!("{printed}");
    (output.status.code(), printed)
}

#[test]
#[ignore = "builds up to ten kernels, in about ten minutes: make bisect-test"]
fn the_commit_that_costs_ext4_a_commit_more_is_named() {
    let new = tempfile::Builder::new().prefix("bisect-test-").tempdir_in("/var/tmp").unwrap();
    let folder = folder(new.path());
    if !folder.join("linux").exists() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/bisect-tree");
        let made = Command::new(script).arg(SOURCE).arg(folder.join("linux")).status().unwrap();
        assert!(made.success());
    }
    fs::write(folder.join("plan.toml"), PLAN).unwrap();
    let judge = [env!("CARGO_BIN_EXE_ssdlab"), "judge", "../plan.toml", "one-commit"];
    // The ends, as the manual advises, and a revision that does not build.
    for (revision, code) in [("last-comment", 1), ("base", 0), ("broken", 125)] {
        run(&folder, "git", &["checkout", "--quiet", revision]);
        assert_eq!(run(&folder, judge[0], &judge[1..]).0, Some(code), "{revision}");
    }
    run(&folder, "git", &["bisect", "start", "last-comment", "base"]);
    let (code, printed) = run(&folder, "git", &[&["bisect", "run"], &judge[..]].concat());
    let (_, first) = run(&folder, "git", &["log", "--format=%s", "-1", "refs/bisect/bad"]);
    run(&folder, "git", &["bisect", "reset"]);
    assert_eq!(code, Some(0));
    assert_eq!(first, "ext4: make sure that fsync() has reached the journal\n", "{printed}");
}

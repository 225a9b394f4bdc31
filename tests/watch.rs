//! A watched run: what a browser gets, from the first trial to the last.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// No trial ends before the browser has seen one.
const PLAN: &str = r#"
name = "watched"
question = "Is <script>alert(1)</script> shown as it is written?"
[workload]
tree = { files = 20, size = "1 MB" }
phases = [{ do = "unpack" }, { do = "command", run = [
    "sh", "-c", "until [ -e GO ]; do sleep 0.05; done",
], limit = "1 min" }, { do = "delete" }]
"#;

fn ssdlab(folder: &std::path::Path, watch: &str) -> Command {
    let go = folder.join("go").display().to_string();
    fs::write(folder.join("plan.toml"), PLAN.replace("GO", &go)).unwrap();
    fs::create_dir_all(folder.join("work")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command
        .args(["run", "plan.toml", "--lab", "directory", "--dir", "work", "--runs", "2"])
        .args(["--watch", watch])
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder.join("run"))
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

#[test]
fn a_browser_is_told_how_a_run_gets_on_and_that_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = ssdlab(folder.path(), "0").spawn().unwrap();
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let address = line.trim().rsplit_once("http://").unwrap().1.trim_end_matches('/').to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");

    let mut browser = TcpStream::connect(&address).unwrap();
    browser.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(browser, "GET /states HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let lines = BufReader::new(browser).lines().map_while(Result::ok);
    let is_seen = |state: &Value| state["running"].to_string().ends_with(": command\"]");
    let states: Vec<Value> = lines
        .filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap()))
        .filter(|state: &Value| state["question"].is_string())
        .inspect(|state| {
            if is_seen(state) {
                fs::write(folder.path().join("go"), "").unwrap();
            }
        })
        .collect();
    assert!(run.wait().unwrap().success());

    let done: Vec<u64> = states.iter().map(|state| state["done"].as_u64().unwrap()).collect();
    assert!(done.is_sorted(), "{done:?}");
    assert_eq!(done.last(), Some(&2));
    assert!(states.iter().any(is_seen), "{states:?}");
    let last = states.last().unwrap();
    assert_eq!(last["ended"], true);
    assert_eq!(last["question"], "Is <script>alert(1)</script> shown as it is written?");
    let rows = last["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["samples"].as_array().unwrap().len() == 2));
    assert!(states[..states.len() - 1].iter().all(|state| state["ended"] == false));
}

#[test]
fn an_address_that_is_taken_ends_a_run_before_it_begins() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = ssdlab(folder.path(), &address).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&address));
    assert!(!folder.path().join("data").exists());
}

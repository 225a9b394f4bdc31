//! A watched run: its page, from the first trial to the last.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// No trial ends before the page was read.
const PLAN: &str = r#"
name = "watched"
question = "Is <script>alert(1)</script> shown as it is written?"
[workload]
tree = { files = 20, size = "1 MB" }
phases = [{ do = "unpack" }, { do = "command", run = [
    "sh", "-c", "until [ -e GO ]; do sleep 0.05; done",
], limit = "1 min" }, { do = "delete" }]
"#;

/// By this tag a browser loads a page again.
const RELOADS: &str = "http-equiv=\"refresh\"";

fn page_of(folder: &Path) -> Option<String> {
    let run = fs::read_dir(folder.join("data/ssdlab")).ok()?.next()?.ok()?;
    fs::read_to_string(run.path().join("report.html")).ok()
}

#[test]
fn a_page_is_kept_while_a_run_goes_on_and_reloads_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, go) = (folder.path(), folder.path().join("go"));
    fs::write(folder.join("plan.toml"), PLAN.replace("GO", go.to_str().unwrap())).unwrap();
    fs::create_dir(folder.join("work")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(["run", "plan.toml", "--lab", "directory", "--dir", "work", "--runs", "2", "--watch"])
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder.join("run"))
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let first = (0..1200).find_map(|_| {
        sleep(Duration::from_millis(50));
        page_of(folder)
    });
    fs::write(go, "").unwrap();
    let output = run.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("/report.html"), "{told}");

    let (first, last) = (first.unwrap(), page_of(folder).unwrap());
    assert!(first.contains(RELOADS) && !last.contains(RELOADS));
    assert!(first.contains("0 of at least 2 trials have run") && first.contains("it goes on"));
    assert!(last.contains("2 trials a treatment") && !last.contains("Partial"));
    assert!([first, last].iter().all(|page| !page.contains("<script>alert")));
}

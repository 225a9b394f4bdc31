//! What is said after a run was killed: that `ssdlab restore` has something to remove. It is no
//! change to the machine: a run in a directory makes folders only.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::{HEAD, Place};

#[test]
fn run_and_report_name_restore_until_it_has_run() {
    let place = Place::new();
    let at = |name: &str| place.0.path().join(name);
    let wait = "touch BEGUN; until [ -e GO ]; do sleep 0.05; done";
    let wait = ["BEGUN", "GO"].iter().fold(wait.to_owned(), |script, name| {
        script.replace(name, &at(&name.to_lowercase()).display().to_string())
    });
    let phase =
        format!("{{ do = \"command\", run = [\"sh\", \"-c\", \"{wait}\"], limit = \"1 min\" }}");
    fs::write(at("plan.toml"), format!("{HEAD}[workload]\nphases = [{phase}]\n")).unwrap();
    fs::create_dir(at("work")).unwrap();
    let run = ["run", "plan.toml", "--lab", "directory", "--dir", "work", "--runs", "1"];
    let mut killed = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(run)
        .args(["--results", "runs"])
        .current_dir(place.0.path())
        .env("XDG_STATE_HOME", at("run"))
        .env("XDG_DATA_HOME", at("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !at("begun").exists() {
        assert!(killed.try_wait().unwrap().is_none(), "the run ended before its phase began");
        sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    fs::write(at("go"), "").unwrap();

    let runs = fs::read_dir(at("runs")).unwrap();
    let folder = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    let says = |arguments: &[&str]| {
        let arguments = [arguments, &[folder.to_str().unwrap()]].concat();
        String::from_utf8(place.ssdlab(&arguments).stderr).unwrap()
    };
    let told = String::from_utf8(place.ssdlab(&run).stderr).unwrap();
    let left = "a killed run has left temporary folders; `ssdlab restore` removes them";
    assert!(told.contains(left), "{told}");
    for command in [&["report"][..], &["run", "--resume"]] {
        let told = says(command);
        assert!(told.contains(left) && !told.contains("changes"), "{command:?}: {told}");
    }
    assert!(place.ssdlab(&["restore"]).status.success());
    assert!(!says(&["report"]).contains("restore"));
}

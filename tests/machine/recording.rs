//! `ssdlab record`, and the replay of what it has recorded.

use std::fs;
use std::process::Stdio;

use super::support::{Place, phases, sh, shown, wait_for};
use super::{Case, Needs, case};

pub fn cases() -> Vec<Case> {
    let user = |name, run| Case { name, needs: Needs::Strace, run };
    vec![
        case("what_is_recorded_is_replayed", round_trip),
        user("a_log_in_the_recorded_directory_is_refused", place_of_the_log),
        user("a_recorder_that_is_ended_ends_the_program_and_keeps_the_log", ended),
    ]
}

/// The plan that replays a log.
fn plan_of(log: &str) -> String {
    format!(
        r#"
        name = "again"
        question = "Is it done again?"
        [target]
        size = "64 MiB"
        [factors]
        filesystem = "ext4"
        [workload]
        phases = [{{ do = "replay", log = "{log}", sync = true }}]
    "#
    )
}

fn round_trip() {
    let place = Place::new();
    let (work, log) = (place.path("work"), place.path("work.log.gz"));
    sh(&format!("mkdir -p {0}/old; echo before >{0}/old/kept", work.display()));
    let script = "mkdir -p a/b; head -c 100000 /dev/urandom >a/one; cp a/one a/b/two; mv a/b a/c; \
                  ln -s one a/link; ln a/one a/hard; echo more >>a/one; rm old/kept; rmdir old; \
                  truncate -s 5000 a/c/two; cat a/one >/dev/null; sync -f a/one; chmod 600 a/link";
    let dir = work.display().to_string();
    let path = log.display().to_string();
    let recorded =
        place.ssdlab(&["record", "--dir", &dir, "--out", &path, "--", "sh", "-ec", script]);
    let output = { recorded }.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("2 mkdir") && said.contains("200 kB written"), "{said}");

    // `--verify` compares what a trial leaves with what the log says is left.
    let plan = place.plan(&plan_of(&path));
    let (code, json) = place.run(&plan, &["--runs", "1", "--verify"]);
    assert_eq!(code, 0, "{json:#}");
    let treatment = &json["treatments"][0];
    assert_eq!(phases(treatment)[0]["application_bytes"], 200_005);
    // And that is what the program has left.
    let left = sh(&format!("cd {dir} && find . -printf '%P %y %s\\n' | LC_ALL=C sort"));
    let files: Vec<&str> = left.lines().filter(|line| line.contains(" f ")).collect();
    assert_eq!(files, ["a/c/two f 5000", "a/hard f 100005", "a/one f 100005"]);
    assert_eq!(place.leftovers(), [""; 0]);
}

fn place_of_the_log() {
    let place = Place::new();
    let work = place.path("work");
    fs::create_dir(&work).unwrap();
    let (dir, log) = (work.display().to_string(), work.join("x.log").display().to_string());
    let mut record = place.ssdlab(&["record", "--dir", &dir, "--out", &log, "--", "touch", "done"]);
    let output = record.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}

fn ended() {
    let place = Place::new();
    let work = place.path("work");
    fs::create_dir(&work).unwrap();
    let (dir, log) = (work.display().to_string(), place.path("x.log"));
    let path = log.display().to_string();
    let script = "touch begun; while :; do sleep 0.05; done";
    let mut record =
        place.ssdlab(&["record", "--dir", &dir, "--out", &path, "--", "sh", "-c", script]);
    let mut child = record.stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| work.join("begun").exists());
    sh(&format!("kill -TERM {}", child.id()));
    assert!(!child.wait().unwrap().success());
    let kept = fs::read_to_string(log).unwrap();
    assert!(kept.contains("begun") && kept.ends_with("end\n"), "{kept}");
}

//! `ssdlab record`, and the replay of its logs.

use std::fs;
use std::process::Stdio;

use super::support::{Place, phases, sh, shown, wait_for};
use super::{Case, Needs};

pub fn cases() -> Vec<Case> {
    let case = |name, needs, run: fn()| Case::new(name, needs, run);
    vec![
        case("what_is_recorded_is_replayed", Needs::RootAndStrace, round_trip),
        case("a_log_is_written_where_a_report_would_be", Needs::Nothing, place_to_write),
        case("a_log_of_nothing_is_not_written", Needs::Strace, nothing),
        case("a_log_in_the_recorded_directory_is_refused", Needs::Nothing, place_of_the_log),
        case("a_recorder_that_is_ended_ends_the_program_and_keeps_the_log", Needs::Strace, ended),
    ]
}

/// Lists a directory into a file: names, types and modes; for files also sizes and link counts, for
/// links their targets.
const LISTING: &str = r"find . -mindepth 1 \( -type d -printf '%P %y %m\n' \) \
    -o -printf '%P %y %m %s %n %l\n' | LC_ALL=C sort >$1";

/// A plan that replays a log, and then runs a script on the result.
fn plan_of(log: &str, script: &[&str]) -> String {
    format!(
        r#"
        name = "again"
        question = "Is it done again?"
        [target]
        size = "64 MiB"
        [factors]
        filesystem = "ext4"
        [workload]
        phases = [
            {{ do = "replay", log = "{log}", sync = true }},
            {{ do = "command", name = "list", run = {script:?} }},
        ]
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

    let [list, before, after] =
        ["list.sh", "before", "after"].map(|name| place.path(name).display().to_string());
    fs::write(&list, LISTING).unwrap();
    sh(&format!("cd {dir} && sh {list} {before}"));
    let plan = place.plan(&plan_of(&path, &["sh", &list, &after]));
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    let treatment = &json["treatments"][0];
    assert_eq!(phases(treatment)[0]["application_bytes"], 200_005);
    let left = fs::read_to_string(after).unwrap();
    assert_eq!(left, fs::read_to_string(before).unwrap());
    assert!(
        left.contains("a/link l 777 3 1 one") && left.contains("a/hard f 600 100005 2"),
        "{left}"
    );
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
    let script = "touch begun; sleep 600; true";
    let mut record =
        place.ssdlab(&["record", "--dir", &dir, "--out", &path, "--", "sh", "-c", script]);
    let mut child = record.stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| work.join("begun").exists());
    sh(&format!("kill -TERM {}", child.id()));
    assert!(!child.wait().unwrap().success());
    let kept = fs::read_to_string(log).unwrap();
    assert!(kept.contains("begun") && kept.ends_with("end\n"), "{kept}");
}

fn place_to_write() {
    let place = Place::new();
    let work = place.path("work");
    fs::create_dir(&work).unwrap();
    fs::write(place.path("mine"), "mine").unwrap();
    std::os::unix::fs::symlink(place.path("mine"), place.path("link")).unwrap();
    let dir = work.display().to_string();
    for out in [place.path("link"), "/dev/null".into(), place.path("none/x.log")] {
        let out = out.display().to_string();
        let mut record =
            place.ssdlab(&["record", "--dir", &dir, "--out", &out, "--", "touch", "done"]);
        let output = record.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{out}: {}", shown(&output));
        assert!(shown(&output).contains("cannot write"), "{}", shown(&output));
        // The program did not even start.
        assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
    }
    assert_eq!(fs::read(place.path("mine")).unwrap(), b"mine");
}

fn nothing() {
    let place = Place::new();
    let work = place.path("work");
    fs::create_dir(&work).unwrap();
    let dir = work.display().to_string();
    let record = |out: &str, program: &str| {
        let out = place.path(out).display().to_string();
        let words = ["record", "--dir", &dir, "--out", &out, "--", program];
        place.ssdlab(&words).output().unwrap()
    };
    fs::write(place.path("old.log"), "old").unwrap();
    for (out, program) in
        [("old.log", "true"), ("new.log", "true"), ("old.log", "/no/such/program")]
    {
        let output = record(out, program);
        assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    }
    assert_eq!(fs::read(place.path("old.log")).unwrap(), b"old");
    assert!(!place.path("new.log").exists());
}

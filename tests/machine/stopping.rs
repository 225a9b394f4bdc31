//! Signals, kills, and resuming afterwards.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::{Loop, Place, said, sh, shown, wait_for};
use super::{Case, case};
use crate::program::ssdlab;

pub fn cases() -> Vec<Case> {
    vec![
        case("a_signal_ends_a_run_cleanly_and_resume_completes_it", signals),
        case("a_signal_ends_a_hanging_program_too", signal_in_command),
        case("a_limit_on_the_size_of_files_ends_a_run_cleanly", file_size_limit),
        case("an_interrupted_device_is_left_blank", interrupted_device),
        case("a_run_is_not_resumed_on_another_drive", other_drive),
        case("a_run_that_is_being_written_cannot_be_resumed", resume_while_alive),
        case("a_cut_record_is_put_aside_and_its_trial_runs_again", cut_record),
        case("kills_leave_nothing_behind", kills),
    ]
}

const ARGUMENTS: [&str; 6] = ["run", "discard", "--scale", "0.01", "--runs", "4"];

fn records(place: &Place) -> usize {
    let Ok(mut runs) = fs::read_dir(place.path("data/ssdlab")) else { return 0 };
    let Some(Ok(run)) = runs.next() else { return 0 };
    fs::read_to_string(run.path().join("records.jsonl")).map_or(0, |text| text.lines().count())
}

fn run_name(place: &Place) -> String {
    let run = fs::read_dir(place.path("data/ssdlab")).unwrap().next().unwrap().unwrap();
    run.file_name().into_string().unwrap()
}

fn signals() {
    for signal in ["INT", "TERM", "HUP"] {
        let place = Place::new();
        let images = place.path("images").display().to_string();
        let mut child = place
            .ssdlab(&ARGUMENTS)
            .args(["--json", "--dir", &images])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(|| records(&place) >= 2);
        sh(&format!("kill -{signal} {}", child.id()));
        // Read all output first: a full pipe would block the child.
        let json: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{signal}");
        assert_eq!(place.leftovers(), Vec::<String>::new());
        assert_eq!(json["status"], "partial");
        let before = records(&place);
        assert!((2..12).contains(&before));

        let output =
            place.ssdlab(&["run", "--json", "--resume", &run_name(&place)]).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["status"], "complete");
        for treatment in json["treatments"].as_array().unwrap() {
            let blocks: Vec<_> = treatment["trials"]
                .as_array()
                .unwrap()
                .iter()
                .map(|t| t["block"].as_u64().unwrap())
                .collect();
            assert_eq!(blocks, [0, 1, 2, 3]);
        }
        assert_eq!(records(&place), 12);
    }
}

/// The signals that end a program that does not handle them.
const ENDING: [Signal; 9] = [
    Signal::INT,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::XCPU,
    Signal::IO,
];

/// Whether programs that this one starts ignore a signal, as those that a script starts by `&` do
/// SIGQUIT.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

fn signal_in_command() {
    for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
        let place = Place::new();
        let plan = place.plan(
            r#"
            name = "hanging"
            question = "Does it end?"
            [target]
            size = "64 MiB"
            [workload]
            phases = [{ do = "command", run = "sleep 600" }]
        "#,
        );
        let images = place.path("images").display().to_string();
        let mut child = place
            .ssdlab(&["run", &plan, "--dir", &images])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let state = place.path("run").display().to_string();
        wait_for(|| fs::read_to_string("/proc/self/mounts").unwrap().contains(&state));
        sleep(Duration::from_millis(100));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let started = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
        assert!(started.elapsed() < Duration::from_mins(2), "it waited for the command");
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

fn file_size_limit() {
    let place = Place::new();
    let images = place.path("images").display().to_string();
    let mut command = place.program("sh");
    command.args(["-c", "ulimit -f 1024; exec \"$@\"", "sh", ssdlab()]);
    let output = command.args(ARGUMENTS).args(["--dir", &images]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(said(&output).contains("File too large"), "{}", shown(&output));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn interrupted_device() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 128);
    let mut child = place
        .ssdlab(&ARGUMENTS)
        .args(["--device", &device.device])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| records(&place) >= 1);
    sh(&format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(sh(&format!("wipefs --no-act {}", device.device)), "");
    // So resuming needs no --wipe.
    let output = place.ssdlab(&["run", "--resume", &run_name(&place)]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
}

fn other_drive() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 128);
    let output = place.ssdlab(&ARGUMENTS).args(["--device", &device.device]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let path = place.path("data/ssdlab").join(run_name(&place)).join("records.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split_inclusive('\n').take(1).collect::<String>()).unwrap();
    let resume = || place.ssdlab(&["run", "--resume", &run_name(&place)]).output().unwrap();

    // Another drive of another size gets the name of the run's drive.
    let other = place.path("other").display().to_string();
    sh(&format!("truncate -s 192M {other}"));
    device.change(&other);
    let before = sh(&format!("du {other}"));
    let output = resume();
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    let said: String = String::from_utf8_lossy(&output.stderr).replace('│', "");
    let said = said.split_whitespace().collect::<String>();
    for told in [&*device.backing, &other, "134217728bytes", "201326592bytes", "newone"] {
        assert!(said.contains(told), "no {told} in {}", shown(&output));
    }
    assert_eq!(sh(&format!("du {other}")), before);
    assert_eq!(records(&place), 1);

    device.change(&device.backing);
    let output = resume();
    assert!(output.status.success(), "{}", shown(&output));
}

fn resume_while_alive() {
    let place = Place::new();
    let images = place.path("images").display().to_string();
    let mut child = place
        .ssdlab(&ARGUMENTS)
        .args(["--dir", &images])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| records(&place) >= 1);
    // It must not end before the next command.
    sh(&format!("kill -STOP {}", child.id()));
    let output = place.ssdlab(&["run", "--resume", &run_name(&place)]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("is being written"),
        "{}",
        shown(&output)
    );
    let restored = place.ssdlab(&["restore"]).output().unwrap();
    assert!(String::from_utf8_lossy(&restored.stdout).contains("is still active"));
    sh(&format!("kill -CONT {}", child.id()));
    assert!(child.wait().unwrap().success());
}

fn cut_record() {
    let place = Place::new();
    let (code, _) = place.run("discard", &["--scale", "0.005", "--runs", "2"]);
    assert_eq!(code, 0);
    let run = place.path("data/ssdlab").join(run_name(&place));
    let path = run.join("records.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 40]).unwrap();

    // Reading warns and changes nothing.
    let output = place.ssdlab(&["report", &run_name(&place), "--json"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the last line was truncated"));
    assert_eq!(fs::read(&path).unwrap().len(), whole.len() - 40);

    let output = place.ssdlab(&["run", "--resume", &run_name(&place), "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["status"], "complete");
    assert_eq!(records(&place), 6);
    assert!(!fs::read(run.join("records.cut")).unwrap().is_empty());
}

/// `make kill-test` has a hundred.
fn kills() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/kill-test");
    let output = Command::new(script).args([ssdlab(), "20", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
}

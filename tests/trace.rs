//! Traces on the command line: what `ssdlab trace` prints and draws of a file, and its errors.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use ssdlab_plan::Overrides;
use ssdlab_results::{Record, RunFolder};
use tempfile::TempDir;

/// Its times are in microseconds, and it does not say when requests were completed.
const FIO: &str = "fio version 3 iolog\n\
    0 /dev/x add\n\
    0 /dev/x open\n\
    1 /dev/x write 0 65536\n\
    2 /dev/x write 65536 4096\n\
    3 /dev/x read 4096 4096\n\
    4 /dev/x trim 0 32768\n\
    5 /dev/x sync 0 0\n\
    6 /dev/x close\n";

fn place(trace: &str) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("fio.log"), trace).unwrap();
    place
}

fn ssdlab(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn json(folder: &Path, arguments: &str) -> Value {
    let output = ssdlab(folder, &format!("trace --json {arguments}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {message}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a command that must fail; returns the message in one line.
fn wrong(folder: &Path, arguments: &str) -> String {
    let output = ssdlab(folder, arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
    message.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_is_summed_up_kind_by_kind() {
    let place = place(FIO);
    let found = json(place.path(), "fio.log");
    assert_eq!(found["trace"], "fio.log");
    let summary = &found["summary"];
    assert_eq!(summary["requests"], 5);
    assert_eq!(summary["end_bytes"], 69_632);
    assert_eq!(summary["in_flight"], Value::Null);
    let write = &summary["kinds"][1];
    assert_eq!((&write["kind"], &write["sequential"]), (&"write".into(), &1.into()));
    assert_eq!(write["bytes"], 69_632);
    let text = ssdlab(place.path(), "trace fio.log").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("does not say when requests were completed"), "{text}");
}

#[test]
fn a_file_is_drawn() {
    let place = place(FIO);
    let output = ssdlab(place.path(), "trace fio.log --charts drawn");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(place.path().join("drawn/trace.svg")).unwrap();
    for panel in ["read: position", "written: position", "discarded: position"] {
        assert!(svg.contains(panel), "{panel}");
    }
    assert!(!svg.contains(">in flight<") && place.path().join("drawn/trace.png").exists());
}

#[test]
fn of_a_trace_that_is_cut_off_or_corrupt_the_beginning_is_shown() {
    let cut = FIO.replace("\n6 /dev/x close\n", "");
    let corrupt = FIO.replace("read 4096 4096", "read 4096 many");
    for (trace, requests, line) in [(cut, 4, "line 8"), (corrupt, 2, "line 6")] {
        let place = place(&trace);
        let found = json(place.path(), "fio.log");
        assert_eq!(found["summary"]["requests"], requests);
        assert!(found["cut_off"].as_str().unwrap().contains(line), "{found}");
    }
}

#[test]
fn times_that_go_backwards_are_counted() {
    let place = place(&FIO.replace("3 /dev/x read", "1 /dev/x read"));
    assert_eq!(json(place.path(), "fio.log")["clamped"]["requests"], 1);
    let message = ssdlab(place.path(), "trace fio.log").stderr;
    let message = String::from_utf8(message).unwrap();
    assert!(message.contains("go backwards: 1, by 1"), "{message}");
}

/// Case `trace-completions-ignored`: its completions are matched with what they complete.
#[test]
fn case_trace_completions_ignored_latencies_are_shown() {
    let place = place("");
    let trace = "  8,0    1        1     0.000000000   500  Q   W 1000 + 8 [prog]\n\
        \x20 8,0    1        3     0.000002000   500  D   W 1000 + 8 [prog]\n\
        \x20 8,0    1        4     0.001002000     0  C   W 1000 + 8 [0]\n\
        \x20 8,0    1        7     0.010002000   500  D   R 2000 + 8 [prog]\n\
        \x20 8,0    1        8     0.010202000     0  C   R 2000 + 8 [0]\n";
    fs::write(place.path().join("simple.blkparse"), trace).unwrap();
    let found = json(place.path(), "simple.blkparse");
    let kinds = &found["summary"]["kinds"];
    assert_eq!(kinds[0]["latencies"]["max_ns"], 200_000);
    assert_eq!(kinds[1]["latencies"]["max_ns"], 1_000_000);
    let text = String::from_utf8(ssdlab(place.path(), "trace simple.blkparse").stdout).unwrap();
    for absent in ["completion not known", "does not say when"] {
        assert!(!text.contains(absent), "{text}");
    }
}

/// As they are published.
#[test]
fn a_trace_that_is_compressed_with_gzip_is_read() {
    let place = place("");
    let file = fs::File::create(place.path().join("LUN0.csv.gz")).unwrap();
    let mut gzip = GzEncoder::new(file, Compression::fast());
    let line = "1456095145.133076000,0.000806000,R,0,899056122368,131072\n";
    gzip.write_all(line.as_bytes()).unwrap();
    gzip.finish().unwrap();
    let read = &json(place.path(), "LUN0.csv.gz")["summary"]["kinds"][0];
    assert_eq!((&read["bytes"], &read["latencies"]["max_ns"]), (&131_072.into(), &806_000.into()));
}

#[test]
fn what_is_wrong_is_said() {
    let place = place(FIO);
    for (arguments, expected) in [
        ("trace nowhere --results .", "there is no run"),
        ("trace fio.log --trial 3", "omit --trial"),
        ("trace fio.log nowhere.log", "nowhere.log"),
        ("trace fio.log --format msr-cambridge", "fio.log"),
    ] {
        let message = wrong(place.path(), arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
}

#[test]
fn the_functions_of_a_trial_are_shown_although_another_has_none() {
    let plan = "name = \"p\"\nquestion = \"Is it?\"\n[workload]\nphases = [{ do = \"sync\" }]\n";
    let schedule = ssdlab_plan::schedule("p", plan, &Overrides::default(), Path::new("/")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let mut run = RunFolder::create(place.path(), "run", plan, &schedule).unwrap();
    let logs = run.folder().join("requests");
    fs::create_dir(&logs).unwrap();
    for trial in &schedule.trials[..2] {
        run.push(&Record::new(&schedule, *trial, 0)).unwrap();
        fs::write(logs.join(format!("{:04}.requests", trial.position)), "").unwrap();
    }
    let asked = "trace run --results . --functions";
    assert!(wrong(place.path(), asked).contains("a guest that failed"));
    let counted = "{\"phase\":\"sync\",\"functions\":{\"sync_filesystem\":7}}\n";
    fs::write(logs.join("0001.functions"), counted).unwrap();
    let output = ssdlab(place.path(), asked);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("0000.functions cannot be read"), "{told}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("sync_filesystem"));
    // Nobody will ever write into it, and nothing waits for that.
    let fifo = logs.join("0000.functions");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    let told = String::from_utf8(ssdlab(place.path(), asked).stderr).unwrap();
    assert!(told.contains("0000.functions cannot be read: it is a FIFO"), "{told}");
}

//! Other people's results: read as a run, checked for their method, or refused with nothing left
//! behind.
//!
//! The files in `tests/data` are the output of fio 3.33, bonnie++ 2.00a and hyperfine 1.15, except
//! those that were made by hand: those of Phoronix, the CSV after the founding post, and fio's
//! other versions and modes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use ssdlab_advice::{self as advice, Check, CheckOutcome, Criterion};
use ssdlab_report::{Style, method, text};
use ssdlab_results::import::{self as import, ImportSource};
use ssdlab_results::{Ending, PhaseRecord};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Imports files of `tests/data`; returns the report and the method check.
fn imported(files: &[&str]) -> (import::ImportedRun, String) {
    let contents: Vec<Vec<u8>> = files.iter().map(|file| fs::read(data(file)).unwrap()).collect();
    let source = |(name, contents)| ImportSource { name, label: None, contents };
    let sources: Vec<ImportSource<'_>> =
        files.iter().copied().zip(contents.iter().map(Vec::as_slice)).map(source).collect();
    let run = import::import(None, &sources).unwrap();
    let analysis = advice::analyse("run", &run.schedule, &run.records, Ending::AllBlocks);
    let style = Style { is_coloured: false, width: Some(100) };
    let report = text(&run.schedule, &analysis, style);
    let checks = method("run", &analysis.method, style);
    (run, format!("{report}\n{checks}"))
}

fn outcome(run: &import::ImportedRun, criterion: Criterion) -> Check {
    let analysis = advice::analyse("run", &run.schedule, &run.records, Ending::AllBlocks);
    analysis.method.into_iter().find(|check| check.criterion == criterion).unwrap()
}

#[test]
fn fio_s_jobs_are_phases_and_its_files_treatments() {
    let (run, report) = imported(&["fio-end-fsync.json", "fio-buffered.json"]);
    insta::assert_snapshot!(report);
    // The version and the file are in the record; two copies of a job are one phase.
    let record = &run.records[0];
    let from = record.imported.as_ref().unwrap();
    assert_eq!((from.program.as_str(), from.version.as_deref()), ("fio", Some("fio-3.33")));
    assert_eq!(from.file, "fio-end-fsync.json");
    assert_eq!(from.sha256.len(), 64);
    assert_eq!(from.told["randwrite"].options["end_fsync"], "1");
    assert_eq!(record.phases.len(), 2);
    assert!(!values(&record.phases[1]).contains_key("fio.read_clat_p99_ns"));
    assert!(values(&record.phases[0]).contains_key("fio.write_clat_p99_ns"));
    // The buffered one has no sync, and says so.
    assert_eq!(outcome(&run, Criterion::Sync).outcome, CheckOutcome::NotMet);
    let (synced, _) = imported(&["fio-end-fsync.json"]);
    assert_eq!(outcome(&synced, Criterion::Sync).outcome, CheckOutcome::Met);
}

/// The metrics of a phase of the only record of files of `tests/data`.
fn reported(file: &str, phase: usize) -> BTreeMap<String, f64> {
    let (run, _) = imported(&[file]);
    values(&run.records[0].phases[phase])
}

/// What a phase's program reported, by name.
fn values(phase: &PhaseRecord) -> BTreeMap<String, f64> {
    phase.reported.iter().map(|(metric, value)| (metric.to_string(), *value)).collect()
}

/// fio-old-json-throughput-lost: fio 2 has KiB a second and microseconds, fio 3.1 no `bw_bytes`.
#[test]
fn fio_old_json_throughput_lost_is_read_in_its_units() {
    let old = reported("fio-2.10.json", 0);
    for (metric, expected) in [
        ("fio.read_bytes_per_s", 3_047_424.0),
        ("fio.write_bytes_per_s", 3_053_568.0),
        ("bytes_per_second", 6_100_992.0),
        ("ops_per_second", 744.13 + 745.59),
        ("fio.read_clat_mean_ns", 1_316_500.0),
        ("fio.read_clat_p50_ns", 1_304_000.0),
        ("fio.write_clat_p99_ns", 2_224_000.0),
        ("fio.write_clat_p999_ns", 5_024_000.0),
    ] {
        assert!((old[metric] - expected).abs() < 1e-6, "{metric}: {}", old[metric]);
    }
    // Nothing was trimmed.
    assert!(old.keys().all(|metric| !metric.contains("trim")), "{old:?}");
    let newer = reported("fio-3.1.json", 0);
    assert_eq!(newer.get("bytes_per_second"), Some(&3_053_568.0));
    assert_eq!(newer.get("fio.write_clat_p99_ns"), Some(&2_224_000.0));
}

/// fio-client-and-mixed: the sum over clients counts once, and what is mixed is the job's rate.
#[test]
fn fio_client_and_mixed_reports_have_one_rate() {
    let clients = reported("fio-client.json", 0);
    assert_eq!((clients["ops_per_second"], clients["bytes_per_second"]), (6000.0, 24_576_000.0));
    // fio combined the latencies of all clients.
    assert_eq!(clients.get("fio.write_clat_p99_ns"), Some(&2_224_000.0));
    let mixed = reported("fio-mixed.json", 0);
    assert_eq!((mixed["ops_per_second"], mixed["fio.mixed_iops"]), (4163.25, 4163.25));
    let (run, _) = imported(&["fio-mixed-2.6.json"]);
    let record = &run.records[0];
    assert_eq!(values(&record.phases[0]).get("bytes_per_second"), Some(&17_052_672.0));
    // Neither the directions nor the options are known.
    let told = &record.imported.as_ref().unwrap().told[&record.phases[0].name];
    assert_eq!((told.writes, told.syncs, told.is_direct), (None, None, None));
}

/// The same: text before, after and around the object; and clients without a sum over them.
#[test]
fn fio_client_and_mixed_text_around_the_json_is_passed_over() {
    let text = read("fio-client.json");
    let clean = text.split_once('\n').unwrap().1;
    let rate = |text: &str| {
        let source = ImportSource { name: "c.json", label: None, contents: text.as_bytes() };
        let run = import::import(None, &[source]).unwrap();
        values(&run.records[0].phases[0]).get("ops_per_second").copied()
    };
    let around = format!("{text}\n<server01> done\n");
    let indented = clean.replace('\n', "\n  ").replacen('{', "  {", 1);
    let parts = clean.replace("All clients", "randw");
    for text in [clean, &around, &indented] {
        assert_eq!(rate(text), Some(6000.0));
    }
    assert_eq!(rate(&parts), Some(12_000.0));
}

/// Jobs that did nothing are named; successive jobs of one name are phases of their own.
#[test]
fn no_job_of_fio_is_lost() {
    let job = |name: &str, group: u32, ios: u32| {
        format!(
            r#"{{ "jobname": "{name}", "groupid": {group}, "error": 0, "read": {{
                "total_ios": {ios}, "iops": {ios}, "bw_bytes": 4, "runtime": 9 }} }}"#
        )
    };
    let jobs = [job("a", 0, 5), job("a", 1, 7), job("laid out", 2, 0)].join(",");
    let text = format!("{{\"jobs\": [{jobs}]}}");
    let source = ImportSource { name: "f.json", label: None, contents: text.as_bytes() };
    let run = import::import(None, &[source]).unwrap();
    let names: Vec<&str> = run.records[0].phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["a", "a-2"]);
    assert!(run.schedule.notes[0].contains("`laid out` did no I/O"), "{:?}", run.schedule.notes);
}

#[test]
fn bonnie_s_lines_are_trials_and_what_was_too_fast_is_absent() {
    let (run, report) = imported(&["bonnie-2.00.csv"]);
    insta::assert_snapshot!(report);
    assert_eq!(run.records.len(), 6);
    let fast = &run.records[0].phases[0];
    assert_eq!((fast.name.as_str(), fast.reported.len()), ("seq_output_block", 1));
    assert!(values(fast).contains_key("latency.max_ns"));
    // What the file does not say was not measured.
    assert_eq!((fast.time_ns, fast.cpu_ns, fast.is_quiet), (None, None, None));
    assert_eq!(outcome(&run, Criterion::WorkingSet).outcome, CheckOutcome::NotMet);
    assert_eq!(outcome(&run, Criterion::Order).outcome, CheckOutcome::Unknown);
}

/// The founding post's own method: one run of each filesystem, on a machine about which little is
/// known.
#[test]
fn the_check_says_what_was_wrong_with_a_comparison_of_single_runs() {
    let (run, report) = imported(&["bonnie-founding.csv"]);
    insta::assert_snapshot!(report);
    for criterion in [Criterion::Repetitions, Criterion::Order, Criterion::Environment] {
        assert_eq!(outcome(&run, criterion).outcome, CheckOutcome::NotMet, "{criterion}");
    }
    assert_eq!(outcome(&run, Criterion::Variance).outcome, CheckOutcome::Unknown);
    assert_eq!(outcome(&run, Criterion::Sync).outcome, CheckOutcome::Met);
}

#[test]
fn hyperfine_s_commands_are_treatments_and_its_times_trials() {
    let (run, report) = imported(&["hyperfine-1.15.json"]);
    insta::assert_snapshot!(report);
    assert_eq!(run.records.len(), 12);
    let levels = run.schedule.treatments[1].levels.to_string();
    assert_eq!(levels, "scheduler = bfq, label = copy under bfq");
    // All of one command, then all of the next (sharkdp/hyperfine#21).
    assert_eq!(outcome(&run, Criterion::Order).outcome, CheckOutcome::NotMet);
    // The file's time, to the nanosecond.
    let file: Value =
        serde_json::from_slice(&fs::read(data("hyperfine-1.15.json")).unwrap()).unwrap();
    let seconds = file["results"][0]["times"][2].as_f64().unwrap();
    let time_ns = run.records[2].phases[0].time_ns.unwrap();
    assert!((time_ns as f64 / 1e9 - seconds).abs() < 1e-9, "{time_ns}");
}

#[test]
fn phoronix_s_systems_are_treatments_and_its_tests_phases() {
    let (run, report) = imported(&["phoronix-composite.xml"]);
    insta::assert_snapshot!(report);
    let machine = &run.records[0].environment;
    assert_eq!(machine.kernel, "5.4.0-26-generic (x86_64)");
    assert_eq!(machine.memory_bytes, 16 << 30);
    assert_eq!(run.records[0].applied["scheduler"], "none");
    assert_eq!(outcome(&run, Criterion::Environment).outcome, CheckOutcome::Met);
    assert_eq!(outcome(&run, Criterion::Variance).outcome, CheckOutcome::NotMet);
}

/// Case `phoronix-monitor-blocks`: a graph of a sensor is skipped, and the other tests are read.
#[test]
fn case_phoronix_monitor_blocks_other_tests_have_their_means() {
    let (run, _) = imported(&["phoronix-monitor.xml"]);
    let mut found: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for record in &run.records {
        for phase in &record.phases {
            let unit = phase.name.rsplit_once('(').unwrap().1.trim_end_matches(')');
            let key = (record.levels.to_string(), unit.to_owned());
            found.entry(key).or_default().extend(phase.reported.values());
        }
    }
    let found: Vec<_> = found
        .iter()
        .map(|((levels, unit), values)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (levels.as_str(), unit.as_str(), mean, values.len())
        })
        .collect();
    let expected = [
        ("label = ext4", "IOPS", 511_000.0 / 3.0, 3),
        ("label = ext4", "MB/s", 665.0, 3),
        ("label = ext4", "Seconds", 10.5, 1),
        ("label = f2fs", "IOPS", 538_000.0 / 3.0, 3),
        ("label = f2fs", "MB/s", 700.0, 3),
        ("label = f2fs", "Seconds", 9.5, 1),
    ];
    assert_eq!(found, expected);
    let skipped = run.schedule.notes.iter().any(|note| note.contains("SSD Temp Monitor"));
    assert!(skipped, "{:?}", run.schedule.notes);
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn ssdlab(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ssdlab"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("XDG_STATE_HOME", self.0.path().join("state"))
            .env("XDG_DATA_HOME", self.0.path().join("data"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), contents).unwrap();
    }

    /// Imports files that must be refused; returns the message.
    fn refused(&self, files: &[&str]) -> String {
        let output = self.ssdlab(&[&["import"][..], files].concat());
        let message = said(&output);
        assert_eq!(output.status.code(), Some(2), "{files:?}: {message}");
        assert!(output.stdout.is_empty(), "{files:?}");
        assert!(!self.0.path().join("data").exists(), "{files:?} left something behind");
        message
    }
}

/// A message without the line breaks of any terminal width.
fn said(output: &Output) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    message.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn read(name: &str) -> String {
    fs::read_to_string(data(name)).unwrap()
}

#[test]
fn malformed_files_are_refused_with_their_place_and_leave_nothing_behind() {
    let place = Place::new();
    let hyperfine = read("hyperfine-1.15.json");
    let bonnie = read("bonnie-founding.csv");
    let phoronix = read("phoronix-composite.xml");
    let fio = read("fio-end-fsync.json");
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>\
                <PhoronixTestSuite>&b;</PhoronixTestSuite>";
    let many =
        format!("{{\"results\": [{{\"command\": \"a\", \"times\": [1{}]}}]}}", ",1".repeat(20_000));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "it is empty"),
        ("blank", b" \n\n".to_vec(), "it is empty"),
        ("binary", b"\x7fELF\x00\x01\xff".to_vec(), "it is binary"),
        ("prose", b"it was fast\n".to_vec(), "its format is unknown"),
        ("other.json", b"{\"a\": 1}".to_vec(), "neither fio's `jobs` nor hyperfine's `results`"),
        ("terse", b"3;fio-3.33;a;0;0;1024;85333\n".to_vec(), "it is fio's terse output"),
        ("cut.json", fio.as_bytes()[..900].to_vec(), "EOF while parsing"),
        ("twice.json", format!("{fio}\n{fio}").into_bytes(), "it has several reports"),
        ("error.json", fio.replace("\"error\" : 0", "\"error\" : 5").into(), "ended with error 5"),
        ("nan.json", hyperfine.replace("0.008482165", "NaN").into(), "line 14 column"),
        ("huge.json", hyperfine.replace("0.008482165", "1e400").into(), "number out of range"),
        ("minus.json", hyperfine.replace("0.008482165", "-1").into(), "results[0].times[1]: -1"),
        ("none.json", b"{\"results\": []}".to_vec(), "it has no results"),
        (
            "no-times.json",
            b"{\"results\": [{\"command\": \"a\", \"times\": []}]}".to_vec(),
            "results[0]: it has no `times`",
        ),
        ("many.json", many.into(), "it has more than 20000 trials"),
        (
            "same.json",
            hyperfine.replace("bfq", "none").into(),
            "results[1]: an earlier command is also called `copy under none`",
        ),
        ("short.csv", bonnie.replace(",710ms", "").into(), "line 3: 47 values, expected 48"),
        ("word.csv", bonnie.replace("82110", "fast").into(), "line 4: seq_output_block"),
        ("old.csv", bonnie.replace("1.96,1.96,xfs", "1.03,1.03,xfs").into(), "line 5: its format"),
        ("cut.xml", phoronix.as_bytes()[..2000].to_vec(), "its XML cannot be read"),
        ("bomb.xml", bomb.into(), "XML with DTD detected"),
        ("deep.xml", "<a>".repeat(300_000).into(), "its XML cannot be read"),
        ("other.xml", b"<html/>".to_vec(), "its root is `html`, expected `PhoronixTestSuite`"),
        ("bare.xml", b"<PhoronixTestSuite/>".to_vec(), "it has no numeric result"),
        ("inf.xml", phoronix.replace("159000", "inf").into(), "\"inf\" is not a number"),
        (
            "double.xml",
            phoronix
                .replace("<Identifier>XFS</Identifier>", "<Identifier>EXT4</Identifier>")
                .into(),
            "two systems are called `EXT4`",
        ),
    ];
    for (name, contents, expected) in cases {
        place.write(name, contents);
        let message = place.refused(&[name]);
        assert!(message.contains(name) && message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn what_is_no_file_or_too_large_is_refused() {
    let place = Place::new();
    assert!(place.refused(&["nowhere.json"]).contains("No such file"));
    assert!(place.refused(&["."]).contains("it is a folder, not a regular file"));
    assert!(place.refused(&["/dev/zero"]).contains("it is a character device, not a regular"));
    let large = fs::File::create(place.0.path().join("large.json")).unwrap();
    large.set_len(100 << 20).unwrap();
    assert!(place.refused(&["large.json"]).contains("100.0 MiB, expected 64.0 MiB at most"));
    assert!(place.refused(&[]).contains("required arguments"));
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let place = Place::new();
    let path = |name: &str| data(name).display().to_string();
    let (fio, csv) = (path("fio-buffered.json"), path("bonnie-2.00.csv"));
    assert!(place.refused(&[&fio, &csv]).contains("it is from bonnie++, but"));
    assert!(place.refused(&[&fio, &fio]).contains("it has the same contents as"));
    assert!(place.refused(&[&fio, "--name", "a/b"]).contains("cannot be the name"));
}

/// Results with another block size are incomparable; another program version is a difference.
#[test]
fn imports_of_what_was_done_differently_are_not_compared() {
    let place = Place::new();
    let run = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(data("fio-buffered.json")).unwrap();
        assert!(text.contains(from));
        let file = place.0.path().join(format!("{name}.json"));
        fs::write(&file, text.replace(from, to)).unwrap();
        let file = format!("ext4={}", file.display());
        let output = place.ssdlab(&["import", &file, "--name", name, "--results", "here"]);
        assert!(output.status.success(), "{}", said(&output));
        let runs = fs::read_dir(place.0.path().join("here")).unwrap().flatten();
        let mut names = runs.map(|entry| entry.file_name().into_string().unwrap());
        names.find(|run| run.starts_with(&format!("{name}-"))).unwrap()
    };
    let first = run("first", "fio-3.33", "fio-3.33");
    let newer = run("newer", "fio-3.33", "fio-3.41");
    let large = run("large", "\"bs\" : \"4k\"", "\"bs\" : \"1M\"");
    let compare = |other: &str| {
        let metric = ["--metric", "bytes_per_second", "--results", "here"];
        place.ssdlab(&[&["compare", &first, other][..], &metric].concat())
    };
    let output = compare(&newer);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("version") && text.contains("fio-3.41"), "{text}");
    assert!(
        !text.contains("nothing that was recorded differs") && !text.contains("1970"),
        "{text}"
    );
    let output = compare(&large);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("bs 1M against 4k"), "{}", said(&output));
}

#[test]
fn an_import_is_a_run_like_any_other_but_never_runs() {
    let place = Place::new();
    let path = |label: &str, name: &str| format!("{label}={}", data(name).display());
    let files = [path("ext4", "fio-end-fsync.json"), path("ext4", "fio-buffered.json")];
    let output =
        place.ssdlab(&["import", &files[0], &files[1], "--name", "theirs", "--results", "here"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut runs = fs::read_dir(place.0.path().join("here")).unwrap().flatten();
    let run = runs.next().unwrap().path();
    assert!(run.file_name().unwrap().to_str().unwrap().starts_with("theirs-"));
    let run = run.to_str().unwrap();

    let json = |arguments: &[&str]| -> Value {
        let output = place.ssdlab(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let report = json(&["report", run, "--json"]);
    assert_eq!(report["lab"], "imported");
    assert!(report["seed"].is_null());
    // Two files of one label are two trials of one treatment.
    let trials = report["treatments"][0]["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    assert!(trials[0]["seed"].is_null());
    assert_eq!(trials[0]["imported"]["program"], "fio");
    assert!(trials[0]["phases"][0].get("time_ns").is_none());

    let checks = json(&["method", run, "--json"]);
    let few = checks["checks"].as_array().unwrap().iter();
    let few = few.filter(|check| check["criterion"] == "repetitions").collect::<Vec<_>>();
    assert_eq!(few[0]["outcome"], "not_met");
    assert_eq!(few[0]["warnings"][0]["trials"], 2);
    let schema = json(&["schema", "method"]);
    assert!(schema["properties"]["checks"].is_object());

    for (arguments, expected) in [
        (&["run", "--resume", run][..], "was imported"),
        (&["run", "discard", "--lab", "imported"][..], "possible values"),
        (&["check", "discard", "--set", "label=a,b"][..], "no run can vary it"),
    ] {
        let output = place.ssdlab(arguments);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

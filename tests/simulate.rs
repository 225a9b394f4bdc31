//! Simulated drives on the command line: the contract of `ssdlab simulate --json`, drive files,
//! traces, and the errors about invalid ones.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// The drive file of the documentation.
const POINT: &str = r#"
name = "point"
capacity = "256 MiB"          # what the host sees
spare_factor = 0.10           # Sf = (T - U) / T
page = "4 KiB"
pages_per_block = 64
mapping = "page"              # page, block, bast, fast
log_fraction = 0.03           # phi, for bast and fast
collection = "greedy"         # greedy, fifo, random, d-choices
choices = 10                  # for d-choices
timing = "none"
"#;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (name, text) in files {
            fs::write(place.0.path().join(name), text).unwrap();
        }
        place
    }

    fn command(&self, arguments: &str) -> Command {
        self.started_with("--default-signal=HUP,INT,TERM", arguments)
    }

    /// A command that env(1) starts with these signals at their default, or ignored, whatever this
    /// test has inherited.
    fn started_with(&self, signals: &str, arguments: &str) -> Command {
        let mut command = Command::new("/usr/bin/env");
        command.args([signals, env!("CARGO_BIN_EXE_ssdlab")]).args(arguments.split_whitespace());
        // `CLICOLOR_FORCE` would colour messages even without a terminal.
        command.current_dir(self.0.path()).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    fn ssdlab(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn printed(&self, arguments: &str) -> String {
        let output = self.ssdlab(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {message}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.printed(&format!("simulate --json {arguments}"))).unwrap()
    }

    /// The lines of a sweep.
    fn lines(&self, arguments: &str) -> Vec<Value> {
        let printed = self.printed(&format!("simulate --json-lines {arguments}"));
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs a command that must fail; returns the message in one line.
    fn wrong(&self, arguments: &str) -> String {
        let output = self.ssdlab(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        message.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn assert_near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value / expected - 1.0).abs() < tolerance, "{value} instead of {expected}");
}

#[test]
fn the_contract_of_a_simulation() {
    let place = Place::with(&[("point.toml", POINT)]);
    let found =
        place.json("--drive point.toml --pattern uniform --overwrites 3 --warmup 3 --seed 7");
    assert_near(&found["write_amplification"], 4.821, 0.01);
    let pages = 3.0 * 65_536.0;
    assert_near(&found["host_pages"], pages, 1e-9);
    assert_near(&found["flash_pages"], pages * 4.821, 0.01);
    assert_near(&found["erases"], pages * 4.821 / 64.0, 0.02);
    for key in ["host_pages_per_second", "peak_memory_bytes"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{key}");
    }
    let series = found["series"].as_array().unwrap();
    assert!((100..=201).contains(&series.len()), "{} samples", series.len());
}

#[test]
fn equal_seeds_give_equal_outcomes_and_others_do_not() {
    let place = Place::with(&[("point.toml", POINT)]);
    let run = |seed: u32| {
        let mut found =
            place.json(&format!("--drive point.toml --pattern zipf --trim 0.1 --seed {seed}"));
        let object = found.as_object_mut().unwrap();
        // These are measured on this machine.
        object.remove("host_pages_per_second");
        object.remove("peak_memory_bytes");
        found
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn several_drives_are_a_list_in_their_order() {
    let place = Place::with(&[("point.toml", POINT)]);
    let found = place
        .json("--drive point.toml --drive x25m-g1 --drive ideal --capacity 3GB --overwrites 0.1");
    let names: Vec<_> = found.as_array().unwrap().iter().map(|one| &one["drive"]).collect();
    assert_eq!(names, ["point", "x25m-g1", "ideal"]);
}

#[test]
fn every_shipped_drive_is_listed_shown_and_checked() {
    let place = Place::new();
    let listed = place.printed("drive list");
    for name in [
        "eeepc-4g",
        "sd-card",
        "x25m-g1",
        "x25m-g2",
        "vertex-le",
        "sata-tlc",
        "970-pro",
        "tlc-dramless",
        "tlc-gen4",
        "tlc-2023",
        "datacenter",
        "datacenter-gen4",
        "datacenter-gen5",
        "optane",
        "ideal",
    ] {
        assert!(listed.contains(name), "{name}");
        let shown = place.printed(&format!("drive show {name}"));
        fs::write(place.0.path().join("copy.toml"), &shown).unwrap();
        // The output is a drive file of the same drive.
        assert_eq!(
            place.printed("drive check copy.toml"),
            place.printed(&format!("drive check {name}"))
        );
    }
}

#[test]
fn what_a_drive_rests_on_is_shown_and_asked_for() {
    let place = Place::with(&[("own.toml", POINT)]);
    let shown: Value = serde_json::from_str(&place.printed("drive show vertex-le --json")).unwrap();
    assert_eq!(shown["evidence"]["trim.per_mapped_page"]["basis"], "fitted");
    assert_eq!(shown["values"]["timing.planes"], "2");
    let keys = |of: &str| shown[of].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys("values"), keys("evidence"));

    let checked = place.ssdlab("drive check own.toml");
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success() && said.contains("without evidence: capacity"), "{said}");
}

#[test]
fn impossible_drives_are_refused_at_their_place() {
    for (from, to, says) in [
        ("spare_factor = 0.10", "spare_factor = 0.0", "needs both spare space and data"),
        ("spare_factor = 0.10", "spare_factor = 1.0", "needs both spare space and data"),
        ("spare_factor = 0.10", "spare_factor = nan", "needs both spare space and data"),
        ("spare_factor = 0.10", "spare_factor = 0.0001", "less than a block"),
        ("\"256 MiB\"", "\"0 MiB\"", "not a multiple of the page"),
        ("\"256 MiB\"", "4097", "use 4096 bytes"),
        ("\"256 MiB\"", "\"1 EiB\"", "2^32 pages"),
        ("\"4 KiB\"", "\"5 KiB\"", "not a power of two"),
        ("pages_per_block = 64", "pages_per_block = 0", "pages_per_block is 0"),
        ("pages_per_block = 64", "pages_per_block = -1", "found `-1`"),
        ("pages_per_block = 64", "pages_per_blok = 64", "did you mean `pages_per_block`?"),
        ("timing = \"none\"", "[trim]\nper_command = 50", "for example \"50 us\" or \"50 s\""),
        ("timing = \"none\"", "[trim]\nper_command = true", "a text with a unit: \"50 us\""),
        ("mapping = \"page\"", "mapping = \"pages\"", "unknown variant `pages`"),
        (
            "mapping = \"page\"",
            "mapping = \"block\"\nopen_blocks = 4294967295",
            "open_blocks is 4294967295, but the drive has 1138 blocks for data",
        ),
        ("timing = \"none\"", "timing = \"some\"", "expected \"none\" or a table"),
        ("timing = \"none\"", "[timing]\nchannels = 1", "missing field"),
        ("mapping = \"page\"", "mapping = \"bast\"\nopen_blocks = 1\n[x]", "unknown field `x`"),
    ] {
        let text = POINT.replace(from, to);
        assert_ne!(text, POINT, "{from}");
        let message = Place::with(&[("point.toml", &text)]).wrong("drive check point.toml");
        assert!(message.contains(says), "{to}: {message}");
        assert!(message.contains("point.toml:"), "{to}: no place in {message}");
    }
    let many = POINT.replace("greedy", "d-choices").replace("choices = 10", "choices = 4294967295");
    let message = Place::with(&[("point.toml", &many)]).wrong("drive check point.toml");
    assert!(message.contains("choose at most 1138"), "{message}");
    let few = POINT.replace("mapping = \"page\"", "mapping = \"fast\"").replace("0.03", "0.3");
    let message = Place::with(&[("point.toml", &few)]).wrong("simulate --drive point.toml");
    assert!(message.contains("the spare space has"), "{message}");
}

#[test]
fn a_drive_that_is_not_there_names_those_that_are() {
    let message = Place::new().wrong("simulate --drive x25m");
    assert!(message.contains("a file named `x25m`") && message.contains("x25m-g2"), "{message}");
    let message = Place::new().wrong("drive check nowhere/drive.toml");
    assert!(message.contains("nowhere/drive.toml"), "{message}");
}

#[test]
fn wrong_arguments_are_refused() {
    let place = Place::with(&[("point.toml", POINT), ("fio.log", "fio version 2 iolog\n")]);
    for (arguments, says) in [
        ("--overwrites=-1", "not a number"),
        ("--trim 1.5", "not a number from 0 to 1"),
        ("--reads 0.8 --trim 0.8", "are 1.6 of the requests together, but at most 1"),
        ("--fill 0", "leaves nothing"),
        ("--request 5000", "not a multiple of a page"),
        ("--request 1GiB", "exceeds the part"),
        ("--condition old", "purged, filled"),
        ("--queue-depth 0", "not in 1"),
        ("--pattern zipf --trace fio.log", "cannot be used with"),
        ("--trace nowhere.log", "nowhere.log"),
        ("--trace point.toml", "blktrace"),
        ("--seed x", "whole numbers up to 18446744073709551615, or ranges like 1..50"),
        ("--seed 1..", "has a first and a last seed, like 1..50"),
        ("--seed 5..1", "is ascending, like 1..5"),
        ("--seed 1,", "whole numbers"),
        ("--pattern uniform,random", "[possible values: sequential, uniform, zipf, hotcold]"),
        ("--condition filled,old", "purged, filled"),
        ("--seed 0..18446744073709551615 --json-lines", "a sweep has at most 100000"),
        ("--seed 1..501 --pattern zipf,uniform", "--json-lines prints each"),
        ("--json --json-lines", "cannot be used with"),
    ] {
        let message = place.wrong(&format!("simulate --drive point.toml {arguments}"));
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

const FIO: &str = "fio version 2 iolog\n\
    /dev/x add\n\
    /dev/x open\n\
    /dev/x write 0 65536\n\
    /dev/x read 4096 4096\n\
    /dev/x trim 0 32768\n\
    /dev/x sync 0 0\n\
    /dev/x close\n";

#[test]
fn a_trace_is_replayed() {
    let place = Place::with(&[("point.toml", POINT), ("fio.log", FIO)]);
    let found = place.json("--drive point.toml --trace fio.log");
    assert_eq!(found["trace"]["requests"], 4);
    assert_eq!(found["host_written_bytes"], 65_536);
    assert_eq!(found["host_read_bytes"], 4096);
    assert_eq!(found["trimmed_pages"], 8);
    assert_eq!(found["flushes"], 1);
    assert_eq!(found["write_amplification"], 1.0);
}

#[test]
fn a_trace_that_leaves_the_drive_says_which_request_does() {
    let beyond = FIO.replace("write 0 65536", "write 268435456 4096");
    let place = Place::with(&[("point.toml", POINT), ("fio.log", &beyond)]);
    let message = place.wrong("simulate --drive point.toml --trace fio.log");
    assert!(message.contains("request 1 of the trace"), "{message}");
    assert!(message.contains("beyond the drive's end at 268435456"), "{message}");
    assert!(message.contains("--capacity"), "{message}");
}

#[test]
fn a_corrupt_trace_is_refused_with_its_position() {
    let corrupt = FIO.replace("read 4096 4096", "read 4096 many");
    let place = Place::with(&[("point.toml", POINT), ("fio.log", &corrupt)]);
    let message = place.wrong("simulate --drive point.toml --trace fio.log");
    assert!(message.contains("fio.log") && message.contains("line 5"), "{message}");
}

#[test]
fn a_trace_that_is_cut_off_is_replayed_as_far_as_it_goes() {
    let cut = FIO.replace("\n/dev/x close\n", "");
    let place = Place::with(&[("point.toml", POINT), ("fio.log", &cut)]);
    let found = place.json("--drive point.toml --trace fio.log");
    assert_eq!(found["trace"]["requests"], 3);
    assert!(found["trace"]["cut_off"].as_str().unwrap().contains("line 7"), "{found}");
}

#[test]
fn a_trace_whose_times_go_backwards_says_so() {
    let late = "fio version 3 iolog\n2 /dev/x write 0 4096\n1 /dev/x read 0 4096\n";
    let place = Place::with(&[("point.toml", POINT), ("fio.log", late)]);
    let found = place.json("--drive point.toml --trace fio.log");
    assert_eq!(found["trace"]["clamped"]["furthest_ns"], 1000);
    let shown = place.printed("simulate --drive point.toml --trace fio.log");
    assert!(shown.contains("go backwards: 1, by 1"), "{shown}");
}

#[test]
fn a_drive_wears_out_and_says_so() {
    let text = format!("{POINT}\n[wear]\nlevelling = \"static\"\nendurance = 20\n")
        .replace("256 MiB", "16 MiB");
    let place = Place::with(&[("point.toml", &text)]);
    let found = place.json("--drive point.toml --overwrites 100");
    assert_eq!(found["is_worn_out"], true);
    assert!(found["host_pages"].as_u64().unwrap() < 100 * 4096);
    assert!(place.printed("simulate --drive point.toml --overwrites 100").contains("worn out"));
}

#[test]
fn conditions_bring_a_drive_where_they_say() {
    let place = Place::with(&[("point.toml", POINT)]);
    let purged = place.json("--drive point.toml --condition purged --overwrites 0.5");
    assert_eq!(purged["write_amplification"], 1.0);
    let steady = place.json("--drive point.toml --condition steady --overwrites 1");
    assert_eq!(steady["is_steady"], true);
    assert_near(&steady["write_amplification"], 4.821, 0.01);
    let aged = place.json("--drive point.toml --condition aged:500 --overwrites 0.1");
    assert_near(&aged["wear"]["mean"], 500.0, 0.01);
    let half = place.json("--drive point.toml --fill 0.5 --warmup 3");
    assert!(half["write_amplification"].as_f64().unwrap() < 1.3, "{half}");
}

/// 32 simulations.
const SWEEP: &str = "--drive point.toml --drive ideal --pattern zipf,hotcold --condition \
                     purged,filled --seed 1..3,9 --capacity 256MiB --overwrites 0.3";

#[test]
fn a_sweep_is_each_with_each_in_their_order_whatever_threads_do() {
    let place = Place::with(&[("point.toml", POINT)]);
    let sweep = |jobs| place.printed(&format!("simulate {SWEEP} --json-lines --jobs {jobs}"));
    let printed = sweep(1);
    for jobs in [2, 7] {
        assert_eq!(sweep(jobs), printed, "{jobs} at once");
    }
    let mut expected = Vec::new();
    for drive in ["point", "ideal"] {
        for pattern in ["zipf", "hotcold"] {
            for condition in ["purged", "filled"] {
                expected.extend([1, 2, 3, 9].map(|seed| (drive, pattern, condition, seed)));
            }
        }
    }
    let lines: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap();
            (text("drive"), text("pattern"), text("condition"), line["seed"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(found, expected);
    let list = place.json(SWEEP);
    for (one, line) in list.as_array().unwrap().iter().zip(&lines) {
        assert_eq!(one["pattern"], line["pattern"]);
        assert_eq!(one["flash_pages"], line["flash_pages"]);
    }
    let table = place.printed(&format!("simulate {SWEEP}"));
    assert_eq!(table.lines().filter(|line| line.contains("hotcold")).count(), 16, "{table}");
}

#[test]
fn a_line_says_what_a_single_simulation_says() {
    let place = Place::with(&[("point.toml", POINT)]);
    let settings = "--fill 0.9 --overwrites 0.2 --warmup 0.1 --request 8KiB --reads 0.25 --trim \
                    0.05 --hot-writes 0.7 --hot-data 0.1 --skew 1.2 --queue-depth 4";
    let lines = place.lines(&format!(
        "--drive point.toml --pattern uniform,hotcold,zipf --condition overwritten:0.5 --seed 2..3 \
         {settings}"
    ));
    assert_eq!(lines.len(), 6);
    for line in &lines {
        let (pattern, seed) = (line["pattern"].as_str().unwrap(), &line["seed"]);
        let mut single = place.json(&format!(
            "--drive point.toml --pattern {pattern} --condition overwritten:0.5 --seed {seed} \
             {settings}"
        ));
        let object = single.as_object_mut().unwrap();
        for key in ["host_pages_per_second", "peak_memory_bytes", "series"] {
            assert!(object.remove(key).is_some(), "{key}");
        }
        assert!(object["wear"].as_object_mut().unwrap().remove("histogram").is_some());
        assert_eq!(single, *line);
    }
    for (key, value) in [
        ("condition", "overwritten:0.5".into()),
        ("fill", 0.9.into()),
        ("overwrites", 0.2.into()),
        ("warmup", 0.1.into()),
        ("request_bytes", 8192.into()),
        ("reads", 0.25.into()),
        ("trim", 0.05.into()),
        ("queue_depth", 4.into()),
        ("trace", Value::Null),
    ] {
        assert!(lines.iter().all(|line| line[key] == value), "{key}");
    }
    let of_pattern = |line: &Value| ["hot_writes", "hot_data", "skew"].map(|key| line[key].clone());
    let [uniform, _, hotcold, _, zipf, _] = &lines[..] else { unreachable!("six lines") };
    assert_eq!(of_pattern(uniform), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(of_pattern(hotcold), [0.7.into(), 0.1.into(), Value::Null]);
    assert_eq!(of_pattern(zipf), [Value::Null, Value::Null, 1.2.into()]);
}

#[test]
fn lines_have_the_columns_of_their_schema() {
    let place = Place::with(&[("point.toml", POINT), ("fio.log", FIO)]);
    let schema: Value = serde_json::from_str(&place.printed("schema simulation")).unwrap();
    let columns = schema["properties"].as_object().unwrap();
    let mut lines = place
        .lines("--drive point.toml --drive x25m-g1 --capacity 3GB --warmup 0.01 --overwrites 0.01");
    lines.extend(place.lines("--drive point.toml --trace fio.log"));
    for line in &lines {
        let line = line.as_object().unwrap();
        assert!(line.keys().all(|key| columns.contains_key(key)), "{line:?}");
        for column in columns.keys().filter(|column| *column != "series") {
            assert!(line.contains_key(column), "{column}");
        }
    }
}

#[test]
fn a_line_of_a_trace_names_the_trace_and_no_pattern() {
    let place = Place::with(&[("point.toml", POINT), ("fio.log", FIO)]);
    let lines = place.lines("--drive point.toml --trace fio.log --condition purged,filled");
    assert_eq!(
        lines.iter().map(|line| &line["condition"]).collect::<Vec<_>>(),
        ["purged", "filled"]
    );
    for line in &lines {
        assert_eq!(line["trace"]["files"], serde_json::json!(["fio.log"]));
        assert_eq!(line["trace"]["requests"], 4);
        for key in ["pattern", "overwrites", "warmup", "request_bytes", "reads", "queue_depth"] {
            assert_eq!(line[key], Value::Null, "{key}");
        }
    }
}

#[test]
fn lines_tell_drives_apart() {
    let other = POINT.replace("0.10", "0.20");
    let place = Place::with(&[("a.toml", POINT), ("b.toml", &other)]);
    let lines = place.lines("--drive a.toml --drive b.toml --overwrites 0.1");
    let drives: Vec<&Value> = lines.iter().map(|line| &line["drive"]).collect();
    assert_eq!(drives, ["point (a.toml)", "point (b.toml)"]);
    assert_eq!(place.lines("--drive a.toml --drive a.toml --overwrites 0.1").len(), 2);
}

/// Results before a simulation that fails are printed.
#[test]
fn lines_end_where_a_simulation_cannot_be_done() {
    let worn = format!("{POINT}\n[wear]\nendurance = 5\n").replace("\"point\"", "\"worn\"");
    let place = Place::with(&[("point.toml", POINT), ("worn.toml", &worn)]);
    let output = place.ssdlab(
        "simulate --json-lines --drive point.toml --drive worn.toml --capacity 32MiB --seed 1..4 \
         --condition overwritten:20",
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout.lines().count(), 4);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("worn: the drive cannot be preconditioned"), "{message}");
}

#[test]
fn an_interrupted_sweep_leaves_whole_lines() {
    let place = Place::with(&[("point.toml", POINT)]);
    let file = place.0.path().join("sweep.jsonl");
    for signal in [Signal::INT, Signal::TERM] {
        let mut sweep = place
            .command("simulate --drive point.toml --seed 1..100000 --json-lines")
            .stdout(File::create(&file).unwrap())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while fs::metadata(&file).unwrap().len() == 0 {
            assert!(started.elapsed() < Duration::from_mins(1), "no line comes");
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&sweep), signal).unwrap();
        assert_eq!(sweep.wait().unwrap().code(), Some(130));
        let mut message = String::new();
        sweep.stderr.take().unwrap().read_to_string(&mut message).unwrap();
        assert!(message.contains("interrupted"), "{message}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.ends_with('\n'), "a line is cut off");
        for (line, seed) in text.lines().zip(1..) {
            assert_eq!(serde_json::from_str::<Value>(line).unwrap()["seed"], seed);
        }
    }
}

/// nohup(1) and shells without job control start programs with ignored signals.
#[test]
fn a_signal_that_was_ignored_at_the_start_ends_nothing() {
    let place = Place::with(&[("point.toml", POINT)]);
    let path = place.0.path().join("sweep.jsonl");
    let mut sweep = place
        .started_with(
            "--ignore-signal=HUP,INT,QUIT",
            "simulate --drive point.toml --capacity 32MiB --seed 1..100000 --json-lines",
        )
        .stdout(File::create(&path).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(&path).unwrap().lines().count();
    let mut wait_for = |count: usize| {
        let started = Instant::now();
        while lines() < count {
            assert_eq!(sweep.try_wait().unwrap(), None, "it has ended");
            assert!(started.elapsed() < Duration::from_mins(5), "no line comes");
            std::thread::sleep(Duration::from_millis(5));
        }
        Pid::from_child(&sweep)
    };
    let pid = wait_for(1);
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT] {
        kill_process(pid, signal).unwrap();
        // More lines than simulations that can have been running.
        wait_for(lines() + 10 * std::thread::available_parallelism().unwrap().get());
    }
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(sweep.wait().unwrap().code(), Some(130));
}

/// `ssdlab simulate ... | head` does not wait for the other 99,999.
#[test]
fn a_sweep_ends_when_its_reader_goes_away() {
    let place = Place::with(&[("point.toml", POINT)]);
    let mut sweep = place
        .command("simulate --drive point.toml --capacity 32MiB --seed 1..100000 --json-lines")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(sweep.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"drive\":\"point\"") && line.ends_with("}\n"), "{line}");
    let started = Instant::now();
    while sweep.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_mins(1), "it goes on for nobody");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(sweep.wait().unwrap().code(), Some(0));
}

/// The manual's example: every number of the page-mapped drive; of the block-mapped one, which
/// takes long, only those that do not depend on how much is written.
#[test]
fn the_manual_shows_what_simulate_prints() {
    let manual = include_str!("../docs/how-to/simulate.md");
    let block = manual.split("$ ssdlab simulate --drive eeepc-4g").nth(1).unwrap();
    let (arguments, rows) = block.split("```").next().unwrap().split_once('\n').unwrap();
    let arguments = arguments.replace("\"3 GB\"", "3GB");
    let cells = |line: &str| -> Vec<String> {
        let line = line.replace(['│', '┆'], "  ");
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(String::from).collect()
    };
    let place = Place::with(&[]);
    let printed = |arguments: &str| -> Vec<Vec<String>> {
        place.printed(&format!("simulate {arguments}")).lines().map(cells).collect()
    };
    let by_page = printed(&arguments);
    let by_block = printed("--drive eeepc-4g --capacity 3GB --warmup 0.02 --overwrites 0.02");
    for row in rows.lines().skip(1).map(cells) {
        let [name, of_block, of_page] = &row[..] else { panic!("{row:?}") };
        assert!(by_page.contains(&vec![name.clone(), of_page.clone()]), "{row:?} {by_page:#?}");
        if name == "write amplification" || name == "writes a second" {
            let expected = vec![name.clone(), of_block.clone()];
            assert!(by_block.contains(&expected), "{row:?} {by_block:#?}");
        }
    }
}

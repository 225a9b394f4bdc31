//! Simulated drives on the command line: the contract of `ssdlab simulate --json`, drive files,
//! traces, and what is said about wrong ones.

use std::fs;
use std::process::{Command, Output, Stdio};

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

    fn ssdlab(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ssdlab"))
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
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

    /// Runs what is wrong; returns the message in one line.
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
        // What is measured on this machine.
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
        .json("--drive point.toml --drive x25m-g1 --drive ideal --capacity 1GiB --overwrites 0.1");
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
        "970-pro",
        "tlc-dramless",
        "datacenter",
        "ideal",
    ] {
        assert!(listed.contains(name), "{name}");
        let shown = place.printed(&format!("drive show {name}"));
        fs::write(place.0.path().join("copy.toml"), &shown).unwrap();
        // What is shown is a drive file, and the same drive.
        assert_eq!(
            place.printed("drive check copy.toml"),
            place.printed(&format!("drive check {name}"))
        );
    }
}

#[test]
fn impossible_drives_are_refused_at_their_place() {
    for (from, to, says) in [
        ("spare_factor = 0.10", "spare_factor = 0.0", "needs spare space"),
        ("spare_factor = 0.10", "spare_factor = 1.0", "needs spare space"),
        ("spare_factor = 0.10", "spare_factor = nan", "needs spare space"),
        ("spare_factor = 0.10", "spare_factor = 0.0001", "less than a block"),
        ("\"256 MiB\"", "\"0 MiB\"", "no multiple of the page"),
        ("\"256 MiB\"", "4097", "4096 bytes would be"),
        ("\"256 MiB\"", "\"1 EiB\"", "2^32 pages"),
        ("\"4 KiB\"", "\"5 KiB\"", "not a power of two"),
        ("pages_per_block = 64", "pages_per_block = 0", "pages_per_block is 0"),
        ("pages_per_block = 64", "pages_per_block = -1", "invalid value"),
        ("pages_per_block = 64", "pages_per_blok = 64", "unknown field `pages_per_blok`"),
        ("mapping = \"page\"", "mapping = \"pages\"", "unknown variant `pages`"),
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
    let few = POINT.replace("mapping = \"page\"", "mapping = \"fast\"").replace("0.03", "0.3");
    let message = Place::with(&[("point.toml", &few)]).wrong("simulate --drive point.toml");
    assert!(message.contains("the spare space has"), "{message}");
}

#[test]
fn a_drive_that_is_not_there_names_those_that_are() {
    let message = Place::new().wrong("simulate --drive x25m");
    assert!(message.contains("no drive `x25m`") && message.contains("x25m-g2"), "{message}");
    let message = Place::new().wrong("drive check nowhere/drive.toml");
    assert!(message.contains("nowhere/drive.toml"), "{message}");
}

#[test]
fn wrong_arguments_are_refused() {
    let place = Place::with(&[("point.toml", POINT), ("fio.log", "fio version 2 iolog\n")]);
    for (arguments, says) in [
        ("--overwrites=-1", "not a number"),
        ("--trim 1.5", "not a number from 0 to 1"),
        ("--fill 0", "leaves nothing"),
        ("--request 5000", "no multiple of a page"),
        ("--request 1GiB", "does not fit"),
        ("--condition old", "purged, filled"),
        ("--queue-depth 0", "not in 1"),
        ("--pattern zipf --trace fio.log", "cannot be used with"),
        ("--trace nowhere.log", "nowhere.log"),
        ("--trace point.toml", "blktrace"),
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

//! Drive files made from the ratings on a drive's box.

use std::fs;

use serde_json::Value;
use ssdlab_flash::bench::Bench;
use ssdlab_flash::drive_file::DriveFile;

use super::{HEAD, Place};

const BOX: [&str; 14] = [
    "drive",
    "new",
    "--like",
    "sata-tlc",
    "--capacity",
    "500GB",
    "--read",
    "560MB/s",
    "--write",
    "530MB/s",
    "--iops",
    "98k/88k",
    "--tbw",
    "300",
];

#[test]
fn a_drive_made_from_its_ratings_gives_them() {
    let place = Place::new();
    let made = place.ssdlab(&[&BOX[..], &["--out", "mine.toml"]].concat());
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success() && made.stdout.is_empty(), "{said}");
    assert!(said.contains("Use it with --drive mine.toml"), "{said}");
    let checked = place.ssdlab(&["drive", "check", "mine.toml"]);
    assert!(checked.status.success() && checked.stderr.is_empty(), "every value has evidence");

    let text = fs::read_to_string(place.0.path().join("mine.toml")).unwrap();
    let file = DriveFile::parse(&text).unwrap();
    assert_eq!(file.name, "mine");
    let written_tb = f64::from(file.resolve().unwrap().wear.endurance.unwrap()) * 0.5;
    assert!((written_tb / 300.0 - 1.0).abs() < 0.1, "{written_tb} TB");
    let mut bench = Bench::new(&file);
    assert_eq!(file.figures.len(), 4);
    for (name, figure) in &file.figures {
        let ratio = figure.compare(&mut bench).unwrap().unwrap();
        assert!((ratio - 1.0).abs() < 0.1, "{name}: {ratio}");
    }
    // `simulate` finds the same.
    for (pattern, request, rated_bytes_per_s) in
        [("sequential", "128KiB", 530e6), ("uniform", "4KiB", 88_000.0 * 4096.0)]
    {
        let simulate = ["simulate", "--drive", "mine.toml", "--condition", "purged", "--json"];
        let load = ["--pattern", pattern, "--request", request, "--overwrites", "0.001"];
        let found = place.ssdlab(&[&simulate[..], &load].concat());
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        let ratio = found["written_bytes_per_second"].as_f64().unwrap() / rated_bytes_per_s;
        assert!((ratio - 1.0).abs() < 0.1, "{pattern}: {ratio}");
    }
}

#[test]
fn a_drive_that_is_printed_is_the_one_that_is_saved() {
    let place = Place::new();
    let like = ["drive", "new", "--like", "sata-tlc", "--tbw", "300"];
    let printed = place.ssdlab(&like);
    assert!(String::from_utf8_lossy(&printed.stderr).contains("Use it with --drive FILE"));
    place.ssdlab(&[&like[..], &["--out", "my-drive.toml"]].concat());
    assert_eq!(printed.stdout, fs::read(place.0.path().join("my-drive.toml")).unwrap());
}

#[test]
fn ratings_that_no_such_drive_has_are_refused() {
    let place = Place::new();
    let cases: [(&[&str], &str); 6] = [
        (&[], "required arguments were not provided"),
        (&["--read", "560"], "is not a rate; write for example"),
        (&["--iops", "98k"], "such as 98k/88k"),
        (&["--read", "3500MB/s"], "SATA carries at most 600 MB/s"),
        (&["--iops", "98k/200k"], "does not reach 200000/s"),
        (&["--capacity", "8GB"], "give it a capacity of at least \"27.0 GB\""),
    ];
    for (ratings, expected) in cases {
        let more =
            [&["drive", "new", "--like", "sata-tlc", "--out", "mine.toml"], ratings].concat();
        let output = place.ssdlab(&more);
        let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{ratings:?}: {said}");
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(!place.0.path().join("mine.toml").exists(), "{ratings:?}");
    }
}

/// The shipped drive is not at fault if it cannot be as small as somebody asks.
#[test]
fn a_capacity_that_is_too_small_is_blamed_on_who_gave_it() {
    let place = Place::new();
    let work = "[workload]\ntree = { files = 10, size = \"100 kB\" }\n\
                phases = [{ do = \"unpack\", sync = true }]\n";
    fs::write(place.0.path().join("bare.toml"), format!("{HEAD}{work}")).unwrap();
    for (capacity, told) in [
        ("1 MB", "a size of 1.0 MB is too small for ext4"),
        ("17 MB", "with 17.0 MB the drive `sata-tlc` has fewer than 100 superblocks"),
    ] {
        let plan = format!("{HEAD}[virtual]\ncapacity = \"{capacity}\"\n{work}");
        fs::write(place.0.path().join("small.toml"), plan).unwrap();
        let cases: [&[&str]; 2] = [&["small.toml"], &["bare.toml", "--capacity", capacity]];
        for arguments in cases {
            for does in ["check", "run"] {
                let output = place.ssdlab(&[&[does], arguments].concat());
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(output.status.code(), Some(2), "{does} {arguments:?}: {said}");
                let said = said.replace('│', " ");
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                for told in [told, "--capacity", "`capacity` in [virtual]"] {
                    assert!(said.contains(told), "{does} {arguments:?}: {said}");
                }
                // No line of a file is shown, such as the drive's.
                assert!(!said.contains('╭') && !said.contains("kernel"), "{said}");
            }
        }
    }
}

//! What the kernel asks of a drive so that data are safe: flushes, writes with FUA, or neither.

use std::fs;

use serde_json::Value;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 2] = [
    ("a_commit_is_a_flush_and_a_write_with_fua_or_two_flushes_or_neither", commits),
    ("turso_1864_every_fsync_of_an_overwrite_commits", overwrites),
];

/// Those that need root, for the image lab.
pub const BESIDE_IMAGES: [(&str, fn()); 1] =
    [("as_many_fsyncs_of_paced_overwrites_commit_as_in_an_image", paced)];

/// A fast drive with a cache, as small as its kind of test.
const DRIVE: &str = "capacity = \"1 GiB\"\nspare_factor = 0.2\npower_loss_protection = true\n\
    write_buffer = { size = \"1 MiB\" }\n[timing]\nchannels = 2\ndies_per_channel = 2\n\
    read = \"50 us\"\nprogram = \"200 us\"\nerase = \"3 ms\"\nbus = \"400 MB/s\"\n\
    link_read = \"500 MB/s\"\nlink_write = \"500 MB/s\"\nflush_latency = \"600 us\"\n";

const APPENDS: &str = r#"
    name = "appends"
    question = "What does a commit ask of a drive?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext4"
    drive = ["./sata.toml", "./nvme.toml", "./through.toml"]
    [workload]
    phases = [{ do = "append", append = { records = 40, sync_every = 1, think = "0 s" } }]
"#;

const OVERWRITES: &str = r#"
    name = "overwrites"
    question = "Does each fsync of an overwrite commit?"
    source = "tursodatabase/turso#1864, June 2025: 1969 against 722 transactions a second"
    [target]
    lab = "virtual"
    size = "512 MiB"
    [factors]
    filesystem = ["ext4", "xfs"]
    drive = "./sata.toml"
    [workload]
    phases = [
        { do = "io", name = "fdatasync", io = { file = "wal", size = "1 MiB", pattern = "sequential", block = "4 KiB", sync = "every 1 write", sync_by = "fdatasync", operations = 60 } },
        { do = "io", name = "fsync", io = { file = "wal2", size = "1 MiB", pattern = "sequential", block = "4 KiB", sync = "every 1 write", sync_by = "fsync", operations = 60 } },
    ]
"#;

/// Runs a plan beside the drives' files, and returns each treatment's only trial.
fn trials(plan: &str, more: &[&str]) -> Vec<Value> {
    let place = Place::new();
    fs::write(place.path("plan.toml"), plan).unwrap();
    for (name, top, timing) in [
        ("sata", "", ""),
        ("nvme", "", "fua_latency = \"500 us\"\n"),
        ("through", "write_cache = \"through\"\n", "fua_latency = \"500 us\"\n"),
    ] {
        let text = format!("name = \"{name}\"\n{top}{DRIVE}{timing}");
        fs::write(place.path(&format!("{name}.toml")), text).unwrap();
    }
    let mut command = place.command(&["run"]);
    command.arg(place.path("plan.toml")).args(["--runs", "1", "--json"]).args(more);
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let trials = json["treatments"].as_array().unwrap().iter().map(|own| own["trials"][0].clone());
    trials.inspect(|trial| assert_eq!(trial["status"], "ok", "{trial}")).collect()
}

fn in_guests(plan: &str) -> Vec<Value> {
    trials(plan, &["--kernel", kernel().as_ref().unwrap().to_str().unwrap()])
}

fn flushes(trial: &Value, phase: usize) -> u64 {
    trial["phases"][phase]["flushes"].as_u64().unwrap()
}

/// Each record makes its file longer, so that each sync commits a transaction.
fn commits() {
    let trials = in_guests(APPENDS);
    let flushes: Vec<u64> = trials.iter().map(|trial| flushes(trial, 0)).collect();
    let [sata, nvme, through] = flushes[..] else { panic!("{flushes:?}") };
    assert!((80..90).contains(&sata), "{flushes:?}");
    assert!((40..45).contains(&nvme), "{flushes:?}");
    assert_eq!(through, 0, "{flushes:?}");
}

/// A sync takes more than a millisecond, in which a tick changes the file's times.
fn overwrites() {
    for trial in in_guests(OVERWRITES) {
        let [data, all] = [0, 1].map(|phase| flushes(&trial, phase));
        assert!((60..65).contains(&data), "{trial}");
        assert!((115..130).contains(&all), "{trial}");
    }
}

/// With 10 ms between them every overwrite is in a tick of its own, under any kernel.
fn paced() {
    let paced = OVERWRITES.replace("operations = 60", "rate = \"100/s\", operations = 60");
    let virtually = in_guests(&paced);
    let really = trials(&paced.replace("drive = \"./sata.toml\"", ""), &["--lab", "image"]);
    for (guest, image) in virtually.iter().zip(&really) {
        for phase in [0, 1] {
            let [guest, image] = [guest, image].map(|trial| flushes(trial, phase));
            assert!(guest.abs_diff(image) <= 6, "phase {phase}: {guest} in the lab, {image} here");
        }
    }
}

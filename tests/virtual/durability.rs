//! What the kernel asks of a drive so that data are safe: flushes, writes with FUA, or neither.

use std::fs;

use serde_json::Value;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 2] = [
    ("a_commit_is_a_flush_and_a_write_with_fua_or_two_flushes_or_neither", commits),
    ("case_fsync_timestamps_tick_turso_1864_every_fsync_of_an_overwrite_commits", overwrites),
];

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
    [[workload.phases]]
    do = "io"
    name = "fdatasync"
    [workload.phases.io]
    file = "wal"
    size = "1 MiB"
    pattern = "sequential"
    block = "4 KiB"
    sync = "every 1 write"
    sync_by = "fdatasync"
    operations = 60
    [[workload.phases]]
    do = "io"
    name = "fsync"
    [workload.phases.io]
    file = "wal2"
    size = "1 MiB"
    pattern = "sequential"
    block = "4 KiB"
    sync = "every 1 write"
    sync_by = "fsync"
    operations = 60
"#;

/// Runs a plan beside the drives' files, and returns each treatment's only trial.
fn trials(plan: &str) -> Vec<Value> {
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
    command.arg(place.path("plan.toml")).args(["--runs", "1", "--json"]);
    command.arg("--kernel").arg(kernel().as_ref().unwrap());
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let trials = json["treatments"].as_array().unwrap().iter().map(|own| own["trials"][0].clone());
    trials.inspect(|trial| assert_eq!(trial["status"], "ok", "{trial}")).collect()
}

fn flushes(trial: &Value, phase: usize) -> u64 {
    trial["phases"][phase]["flushes"].as_u64().unwrap()
}

/// Each record makes its file longer, so that each sync commits a transaction.
fn commits() {
    let trials = trials(APPENDS);
    let flushes: Vec<u64> = trials.iter().map(|trial| flushes(trial, 0)).collect();
    let [sata, nvme, through] = flushes[..] else { panic!("{flushes:?}") };
    assert!((80..90).contains(&sata), "{flushes:?}");
    assert!((40..45).contains(&nvme), "{flushes:?}");
    assert_eq!(through, 0, "{flushes:?}");
}

/// A sync takes more than a millisecond, in which a tick changes the file's times.
fn overwrites() {
    for trial in trials(OVERWRITES) {
        let [data, all] = [0, 1].map(|phase| flushes(&trial, phase));
        assert!((60..65).contains(&data), "{trial}");
        assert!((115..130).contains(&all), "{trial}");
    }
}

//! The replay of a recorded build in guests, and how closely the synthetic build resembles it.

use std::fs;

use serde_json::Value;

use super::support::Place;

pub const CASES: [(&str, fn()); 2] = [
    ("a_replay_of_a_log_is_the_same_whoever_runs_it_and_where", from_a_file),
    ("the_synthetic_build_costs_a_journal_what_a_recorded_one_does", synthetic),
];

/// ext4 with and without a journal, under a workload.
fn plan(workload: &str) -> String {
    format!(
        r#"
        name = "build"
        question = "What does a journal cost?"
        metric = "written_bytes"
        [target]
        lab = "virtual"
        size = "512 MiB"
        [factors]
        filesystem = "ext4"
        journal = ["off", "on"]
        atime = "strictatime"
        [baseline]
        journal = "off"
        [workload]
        {workload}
    "#
    )
}

/// The phases that replay three logs.
fn replayed(logs: [&str; 3]) -> String {
    let [clone, make, clean] = logs;
    format!(
        r#"phases = [
            {{ do = "replay", name = "clone", log = "{clone}", sync = true }},
            {{ do = "replay", name = "make", log = "{make}", sync = true }},
            {{ do = "replay", name = "clean", log = "{clean}", sync = true }},
        ]"#
    )
}

const SHIPPED: [&str; 3] = ["zstd-clone", "zstd-make", "zstd-clean"];

fn trials(json: &Value) -> Vec<&Value> {
    let treatments = json["treatments"].as_array().unwrap();
    let trials = treatments.iter().map(|treatment| &treatment["trials"][0]);
    trials.inspect(|trial| assert_eq!(trial["status"], "ok", "{json}")).collect()
}

fn fingerprints(json: &Value) -> Vec<&str> {
    trials(json).iter().map(|trial| trial["fingerprint"].as_str().unwrap()).collect()
}

fn from_a_file() {
    let names = SHIPPED.map(|name| format!("{name}.log.gz"));
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/plans/recorded");
    let run = |place: &Place| {
        for name in &names {
            fs::copy(format!("{from}/{name}"), place.path(name)).unwrap();
        }
        place.run(&plan(&replayed(names.each_ref().map(String::as_str))))
    };
    let [here, elsewhere] = [Place::new(), Place::of_nobody()].map(|place| run(&place));
    assert_eq!(fingerprints(&here), fingerprints(&elsewhere));
    // The log is read in another way, but its operations are the same.
    let shipped = Place::new().run(&plan(&replayed(SHIPPED)));
    for (of_file, shipped) in trials(&here).into_iter().zip(trials(&shipped)) {
        for phase in 0..SHIPPED.len() {
            let written = |trial: &Value| trial["phases"][phase]["application_bytes"].clone();
            assert_eq!(written(of_file), written(shipped));
        }
    }
}

/// A build with as many files and bytes as the recorded one. Its output is modelled on Linux's, so
/// its `make` writes another number of bytes; the journal's share of them is similar.
fn synthetic() {
    let phases = "phases = [{ do = \"clone\", sync = true }, { do = \"make\", sync = true }, \
                  { do = \"clean\", sync = true }]";
    let made_up = format!("build = {{ files = 608, size = \"9.7 MB\" }}\n{phases}");
    let [recorded, synthetic] =
        [replayed(SHIPPED), made_up].map(|workload| Place::new().run(&plan(&workload)));
    let ratio = |json: &Value, phase: usize| {
        let written = trials(json);
        let of = |trial: &Value| trial["phases"][phase]["written_bytes"].as_f64().unwrap();
        of(written[1]) / of(written[0])
    };
    for (phase, most_apart) in [(0, 0.03), (1, 0.06), (2, 0.2)] {
        let [recorded, synthetic] = [ratio(&recorded, phase), ratio(&synthetic, phase)];
        assert!(recorded > 1.005 && synthetic > 1.005, "{phase}: {recorded} {synthetic}");
        assert!((recorded - synthetic).abs() < most_apart, "{phase}: {recorded} {synthetic}");
    }
}

//! What a plan finds does not depend on the capacity that it gives to drives. All shipped plans at
//! full length are a test of hours (`make capacity-test`); these two are the ones that did.

use std::fs;

use serde_json::Value;
use ssdlab_plan::shipped;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 3] = [
    ("etcd_finds_the_same_on_larger_drives", etcd),
    ("sqlite_finds_the_same_on_larger_drives", sqlite),
    ("a_cache_that_was_cut_and_filled_leads_the_report", cut_cache),
];

/// Runs a plan, one trial of each treatment, on drives of a capacity; none for their own.
fn run(name: &str, [set, scale]: [&str; 2], capacity: Option<&str>) -> Value {
    let place = Place::new();
    let text = shipped::find(name).unwrap().text;
    let own = text.lines().find(|line| line.starts_with("capacity = ")).unwrap();
    let given = capacity.map_or(String::new(), |bytes| format!("capacity = \"{bytes}\""));
    fs::write(place.path("plan.toml"), text.replacen(own, &given, 1)).unwrap();
    let mut command = place.command(&["run", "--runs", "1", "--json", "--set", set]);
    command.args(["--scale", scale]);
    command.arg(place.path("plan.toml")).arg("--kernel").arg(kernel().as_ref().unwrap());
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)))
}

/// The claims on amounts, with the value that was found and whether it is within the bounds.
fn found(json: &Value) -> Vec<(String, f64, bool)> {
    let claims = json["claims"].as_array().unwrap().iter().filter(|one| one["ratio"].is_f64());
    let found = claims.map(|claim| {
        let value = claim["ratio"].as_f64().unwrap();
        let (least, most) = (claim["at_least"].as_f64(), claim["at_most"].as_f64());
        let is_true =
            least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most);
        (claim["id"].to_string(), value, is_true)
    });
    found.collect()
}

/// The claims are as true on a larger drive, and on the drive as it is.
fn is_the_same(name: &str, how: [&str; 2], shipped: &str) -> [Vec<(String, f64, bool)>; 3] {
    let [here, larger, own] =
        [Some(shipped), Some("512 GB"), None].map(|bytes| found(&run(name, how, bytes)));
    assert!(here.len() >= 5, "{here:?}");
    for other in [&larger, &own] {
        let truth = |of: &[(String, f64, bool)]| {
            of.iter().map(|(id, _, is_true)| (id.clone(), *is_true)).collect::<Vec<_>>()
        };
        assert_eq!(truth(other), truth(&here), "{other:?} {here:?}");
    }
    [here, larger, own]
}

/// The capacity that a plan gives.
fn capacity(name: &str) -> String {
    let text = shipped::find(name).unwrap().text;
    let line = text.lines().find_map(|line| line.strip_prefix("capacity = "));
    line.unwrap().trim_matches('"').to_owned()
}

/// Beside a writer, the 99th percentile was ten times as long at 8 GB. A fifth of the plan's
/// operations are enough to see that.
fn etcd() {
    let how = ["filesystem=ext4", "0.2"];
    let [here, larger, own] = is_the_same("etcd", how, &capacity("etcd"));
    let beside = |of: &[(String, f64, bool)]| {
        of.iter().find(|(id, ..)| id.contains("beside-under-10-ms")).unwrap().1
    };
    for other in [&larger, &own] {
        let ratio = beside(other) / beside(&here);
        assert!((0.75..=1.25).contains(&ratio), "{ratio}");
    }
}

fn sqlite() {
    is_the_same("sqlite", ["filesystem=ext4", "1"], &capacity("sqlite"));
}

/// On a drive with a quarter of its capacity of cache, which a third of a small one cannot hold.
fn cut_cache() {
    let place = Place::new();
    fs::write(place.path("small.toml"), SMALL).unwrap();
    fs::write(place.path("plan.toml"), FILLING).unwrap();
    let run = |capacity: &str| {
        let mut command = place.command(&["run", "--runs", "1", "--capacity", capacity]);
        command.arg("plan.toml").current_dir(place.path(""));
        let run = command.arg("--kernel").arg(kernel().as_ref().unwrap()).output().unwrap();
        // The screen's lines are broken at 80 columns.
        shown(&run).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let cut = run("300 MB");
    assert!(cut.contains("leaves 100") && cut.contains("of its SLC cache of 1.0 GB"), "{cut}");
    let whole = run("3500 MB");
    assert!(!whole.contains("of its SLC cache"), "{whole}");
    let mut check = place.command(&["drive", "check", "small.toml", "--capacity", "20 MB"]);
    let refused = shown(&check.current_dir(place.path("")).output().unwrap());
    assert!(refused.contains("give it a capacity of at least \"24.0 MB\""), "{refused}");
}

const SMALL: &str = r#"
    name = "small"
    capacity = "4 GB"
    spare_factor = 0.1
    pages_per_block = 64
    slc_cache = { size = "1 GB", bits_per_cell = 3 }
"#;

const FILLING: &str = r#"
    name = "filling"
    question = "Is the cache full?"
    [factors]
    filesystem = "ext4"
    drive = "./small.toml"
    [workload]
    [[workload.phases]]
    do = "io"
    sync = true
    io = { size = "150 MiB", pattern = "sequential", block = "1 MiB", amount = "150 MiB" }
"#;

//! Every shipped plan runs to its end at a small scale.

use std::fs;

use ssdlab_plan::{Schedule, estimate, shipped};
use ssdlab_results::Record;

use super::common::shown;
use super::support::{Place, kernel};

/// What no scale makes smaller in some plans, and what is run in its place: drives that are filled
/// sooner, a prefill that fits, fewer power cuts, one filesystem more than a step keeps, and fewer
/// looks at a device that is idle for minutes.
const SMALLER: [(&[&str], &str, &str); 5] = [
    (&USED, r#"capacity = "25 GB""#, r#"capacity = "4 GB""#),
    (&USED, r#"prefill = "10 GB""#, r#"prefill = "10 %""#),
    (&["trim-today"], "[workload]\n", "[workload]\nquiet = \"50 ms\"\n"),
    (&["power-loss"], "[cuts]\nnumber = 60\n", "[cuts]\nnumber = 6\n"),
    (
        &["tandem"],
        r#""ext4", "ext3", "ext2", "xfs", "btrfs", "reiserfs", "reiser4", "nilfs2", "zfs","#,
        r#""ext4", "ext3", "btrfs", "reiserfs", "reiser4","#,
    ),
];

/// Plans whose drive is used.
const USED: [&str; 4] = ["filesystems", "schedulers", "small-files", "tandem"];

/// The plan that another test runs: that of the README.
const ELSEWHERE: &str = "sqlite";

/// The page of the tutorial with a plan.
const TUTORIAL: &str = include_str!("../../docs/tutorial/own-plan.md");

/// The names of the plans to run.
pub fn plans() -> impl Iterator<Item = &'static str> {
    shipped::ALL.into_iter().map(|plan| plan.name).filter(|name| *name != ELSEWHERE)
}

/// Filesystems that the lab kernel lacks.
const LACKING: [&str; 2] = ["bcachefs", "reiser4"];

/// Runs a plan.
pub fn run(name: &str) {
    let mut text = shipped::find(name).unwrap().text.to_owned();
    for (_, long, short) in SMALLER.iter().filter(|(plans, ..)| plans.contains(&name)) {
        assert!(text.contains(long), "{name} has no {long}");
        text = text.replace(long, short);
    }
    perform(&text);
}

/// Runs the plan that the tutorial writes.
pub fn of_tutorial() {
    let (_, block) = TUTORIAL.split_once("```toml file=plan.toml\n").unwrap();
    perform(block.split_once("```").unwrap().0);
}

/// No trial fails, as much is written as was foreseen, and a claim without a value says why.
fn perform(text: &str) {
    let place = Place::new();
    fs::write(place.path("plan.toml"), text).unwrap();
    let mut command = place.command(&["run", "--lab", "virtual", "--json"]);
    command.args(["--scale", "0.005", "--runs", "1", "--plausible", "0", "--results"]);
    command.args([place.path("results"), place.path("plan.toml")]);
    let output = command.arg("--kernel").arg(kernel().as_ref().unwrap()).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    assert_eq!(json["ending"], "all_blocks", "{}", shown(&output));
    let mut measured = 0;
    for treatment in json["treatments"].as_array().unwrap() {
        match treatment["status"].as_str().unwrap() {
            "ok" => measured += 1,
            // Steps measure the combinations that earlier ones lead to.
            "unselected" => {}
            "unavailable" => {
                let filesystem = treatment["levels"]["filesystem"].as_str().unwrap();
                assert!(LACKING.contains(&filesystem), "{treatment}");
                assert_eq!(treatment["reason"], format!("the lab kernel has no {filesystem}"));
            }
            _ => panic!("{treatment}"),
        }
    }
    assert!(measured >= 2, "{measured}");
    let run = fs::read_dir(place.path("results")).unwrap().next().unwrap().unwrap().path();
    let read = |name| fs::read_to_string(run.join(name)).unwrap();
    let schedule: Schedule = serde_json::from_str(&read("schedule.json")).unwrap();
    assert_foreseen(&schedule, &read("records.jsonl"));
    let claims = json["claims"].as_array().unwrap();
    assert!(!claims.is_empty());
    for claim in claims {
        assert!(claim["ratio"].is_f64() || claim["reason"].is_string(), "{claim}");
    }
}

/// What was written is within a factor of two of what `ssdlab check` says.
pub fn assert_foreseen(schedule: &Schedule, records: &str) {
    let foreseen = estimate(schedule).unwrap();
    assert!(foreseen.open.is_empty(), "{foreseen:?}");
    let records: Vec<Record> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written: u64 = records.iter().map(|record| record.written_bytes).sum();
    let ratio = (foreseen.written_bytes + foreseen.made_bytes.unwrap()) as f64 / written as f64;
    let trials = records.len() as f64 / schedule.expected_trials() as f64;
    assert!((0.5..=2.0).contains(&(ratio * trials)), "{foreseen:?}, but {written} bytes");
}

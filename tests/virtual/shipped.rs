//! Every shipped plan runs to its end at a small scale.

use std::fs;

use ssdlab_plan::shipped;

use super::common::shown;
use super::support::{Place, kernel};

/// What no scale makes smaller in some plans, and what is run in its place: drives that are filled
/// sooner, a prefill that fits, fewer power cuts, and one filesystem more than a step keeps.
const SMALLER: [(&[&str], &str, &str); 4] = [
    (&["schedulers", "small-files", "tandem"], r#"capacity = "25 GB""#, r#"capacity = "4 GB""#),
    (&["schedulers", "small-files", "tandem"], r#"prefill = "10 GB""#, r#"prefill = "10 %""#),
    (&["power-loss"], "[cuts]\nnumber = 60\n", "[cuts]\nnumber = 6\n"),
    (
        &["tandem"],
        r#""ext4", "ext3", "ext2", "xfs", "btrfs", "reiserfs", "reiser4", "nilfs2", "zfs","#,
        r#""ext4", "ext3", "btrfs", "reiserfs", "reiser4","#,
    ),
];

/// Plans that other tests run: that of all filesystems, and that of the README.
const ELSEWHERE: [&str; 2] = ["filesystems", "discard"];

/// The names of the plans to run.
pub fn plans() -> impl Iterator<Item = &'static str> {
    shipped::ALL.into_iter().map(|plan| plan.name).filter(|name| !ELSEWHERE.contains(name))
}

/// What treatments may lack: the lab kernel has no reiser4.
const LACKING: &str = "the lab kernel has no reiser4";

/// Runs a plan: no trial fails, and a claim without a value says why.
pub fn run(name: &str) {
    let place = Place::new();
    let mut text = shipped::find(name).unwrap().text.to_owned();
    for (_, long, short) in SMALLER.iter().filter(|(plans, ..)| plans.contains(&name)) {
        assert!(text.contains(long), "{name} has no {long}");
        text = text.replace(long, short);
    }
    fs::write(place.path("plan.toml"), text).unwrap();
    let mut command = place.command(&["run", "--lab", "virtual", "--json"]);
    command.args(["--scale", "0.005", "--runs", "1", "--plausible", "0"]);
    command.arg(place.path("plan.toml"));
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
            "unavailable" => assert_eq!(treatment["reason"], LACKING, "{treatment}"),
            _ => panic!("{treatment}"),
        }
    }
    assert!(measured >= 2, "{measured}");
    let claims = json["claims"].as_array().unwrap();
    assert!(!claims.is_empty());
    for claim in claims {
        assert!(claim["ratio"].is_f64() || claim["reason"].is_string(), "{claim}");
    }
}

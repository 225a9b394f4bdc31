//! The lab kernel as a factor: each treatment runs under its own, and what is missing is refused
//! before anything runs.

use std::fs;

use serde_json::Value;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 1] =
    [("treatments_run_under_the_kernels_that_their_levels_name", levels)];

const PLAN: &str = r#"
    name = "kernels"
    question = "Does the kernel matter?"
    [factors]
    filesystem = "ext4"
    [virtual]
    capacity = "5 GB"
    [virtual.factors]
    drive = "vertex-le"
    kernel = ["./first", "./second"]
    [workload]
    tree = { files = 50, size = "1 MB" }
    phases = [{ do = "unpack", sync = true }]
    [[claims]]
    id = "slower"
    says = "the second is slower"
    phases = ["unpack"]
    compare = { kernel = "./second" }
    at_least = 1.1
"#;

fn levels() {
    let place = Place::new();
    let kernel = kernel().as_ref().unwrap();
    fs::write(place.path("plan.toml"), PLAN).unwrap();
    fs::copy(kernel, place.path("first")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = place.command(&["run", "--runs", "1", "--json"]);
        command.arg(place.path("plan.toml")).args(arguments).output().unwrap()
    };
    let missing = run(&[]);
    assert_eq!(missing.status.code(), Some(2), "{}", shown(&missing));
    assert!(shown(&missing).contains("second: No such file"), "{}", shown(&missing));
    assert!(!place.path("data").exists(), "no run was begun");
    // Behind what is run, the same program with another identity.
    let mut other = fs::read(kernel).unwrap();
    other.push(0);
    fs::write(place.path("second"), other).unwrap();
    fs::set_permissions(place.path("second"), fs::metadata(kernel).unwrap().permissions()).unwrap();
    let both = run(&[]);
    let json: Value = serde_json::from_slice(&both.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&both)));
    assert_eq!(json["claims"][0]["verdict"], "identical", "{json}");
    let folder = place.path("data/ssdlab").join(json["run"].as_str().unwrap());
    let records = fs::read_to_string(folder.join("records.jsonl")).unwrap();
    let records: Vec<Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| {
        let is_own = |record: &&Value| {
            let level = record["levels"]["kernel"].as_str();
            level.is_some_and(|level| level.ends_with(&format!("/{name}")))
        };
        records.iter().find(is_own).unwrap()
    };
    let [first, second] = ["first", "second"].map(of);
    assert_eq!(first["fingerprint"], second["fingerprint"]);
    assert_ne!(first["applied"]["lab_kernel"], second["applied"]["lab_kernel"]);
    // A mixture is only what one treatment has.
    let method = json["warnings"].to_string();
    assert!(!method.contains("mixed"), "{method}");
    let refused = run(&["--kernel", kernel.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(shown(&refused).contains("--kernel is for plans that name no kernel"));
}

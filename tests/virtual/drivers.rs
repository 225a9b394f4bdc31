//! ext2 by its own driver and by that of ext4: what is asked for is what runs.

use std::fs;

use serde_json::Value;

use super::support::Place;

pub const CASES: [(&str, fn()); 2] = [
    ("ext2_flushes_for_every_fsync_by_its_own_driver", flushes),
    ("discards_of_ext2_need_the_driver_of_ext4", discards),
];

/// Small commits, each of which has to be on the drive.
const COMMITS: &str = r#"
    name = "commits"
    question = "What does a commit cost ext2?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext2"
    filesystem_driver = ["ext2", "ext4"]
    [workload]
    phases = [{ do = "transactions", transactions = { number = 60 } }]
"#;

const DISCARDS: &str = r#"
    name = "discards"
    question = "Which driver of ext2 discards?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext2"
    filesystem_driver = "ext4"
    discard = ["off", "on"]
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
"#;

/// Runs a plan of two treatments; returns the first trial's record of a level of each.
fn records(plan: &str, factor: &str, levels: [&str; 2]) -> [Value; 2] {
    let place = Place::new();
    let name = place.run(plan)["run"].as_str().unwrap().to_owned();
    let text = fs::read_to_string(place.path(&format!("data/ssdlab/{name}/records.jsonl")));
    let records: Vec<Value> =
        text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    levels.map(|level| {
        let of = |record: &&Value| record["levels"][factor] == level;
        records.iter().find(of).unwrap().clone()
    })
}

/// A commit is four times fsync(2). The driver of ext4 flushes for each of them only since "ext4:
/// fix fsync(2) for nojournal mode", which 6.12 has and 6.1 has not.
fn flushes() {
    let drivers = ["ext2", "ext4"];
    let records = records(COMMITS, "filesystem_driver", drivers);
    let [by_own, by_ext4] = &records;
    for (record, driver) in records.iter().zip(drivers) {
        assert_eq!(record["applied"]["driver"], driver, "{record}");
        assert_eq!(record["applied"]["mount_type"], driver, "{record}");
    }
    let flushes = |record: &Value| record["phases"][0]["flushes"].as_u64().unwrap();
    let is_fixed = !by_ext4["environment"]["kernel"].as_str().unwrap().starts_with("6.1.");
    assert_eq!(flushes(by_own), 240, "{by_own}");
    assert_eq!(flushes(by_ext4), if is_fixed { 240 } else { 60 }, "{by_ext4}");
}

fn discards() {
    let [off, on] = records(DISCARDS, "discard", ["off", "on"]);
    let discards = |record: &Value| record["phases"][1]["discard_requests"].as_u64().unwrap();
    assert_eq!((discards(&off), discards(&on) > 0), (0, true), "{on}");
    let own = DISCARDS.replace("filesystem_driver = \"ext4\"", "");
    let [off, on] = records(&own, "discard", ["off", "on"]);
    assert_eq!(off["applied"]["driver"], "ext2", "{off}");
    let reason = on["reason"].as_str().unwrap();
    assert!(reason.contains("filesystem_driver = \"ext4\""), "{on}");
}

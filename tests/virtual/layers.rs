//! Layers between the drive and the filesystem: what they cost, what they drop, and that they do
//! the same again.

use std::fs;

use serde_json::Value;

use super::support::Place;

pub const CASES: [(&str, fn()); 3] = [
    ("dm_crypt_costs_time_and_passes_discards_only_if_told_to", crypt),
    ("a_thin_pool_and_an_image_write_more_than_their_filesystem", stores),
    ("fstrim_through_dm_crypt_without_discards_is_refused", trimming),
];

/// Deletes a tree under a filesystem that discards.
const PLAN: &str = r#"
    name = "layers"
    question = "What does a layer cost?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext4"
    discard = "on"
    layer = LAYERS
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
"#;

const CRYPT: &str = r#"["none", "crypt", "crypt allow_discards no_write_workqueue"]"#;

const STORES: &str = r#"["none", "thin", "image on ext4"]"#;

/// Runs the plan on these layers; returns the first trial of each, in order.
fn trials(place: &Place, layers: &str) -> Vec<Value> {
    let json = place.run_on(&PLAN.replace("LAYERS", layers), "256MiB");
    let name = json["run"].as_str().unwrap();
    let text = fs::read_to_string(place.path(&format!("data/ssdlab/{name}/records.jsonl")));
    let records: Vec<Value> =
        text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let layers: Vec<String> = serde_json::from_str(layers).unwrap();
    let of = |layer: &String| {
        let found = records.iter().find(|record| record["levels"]["layer"] == **layer);
        found.unwrap_or_else(|| panic!("{json}")).clone()
    };
    layers.iter().map(of).collect()
}

fn sum(record: &Value, count: &str) -> u64 {
    let phases = record["phases"].as_array().unwrap_or_else(|| panic!("{record}"));
    phases.iter().map(|phase| phase[count].as_u64().unwrap()).sum()
}

fn crypt() {
    let place = Place::new();
    let [plain, crypt, passing] = trials(&place, CRYPT).try_into().unwrap();
    let discards = |record| sum(record, "discard_requests");
    assert!(discards(&plain) > 0, "{plain}");
    assert_eq!(discards(&crypt), 0, "{crypt}");
    assert!(discards(&passing) > 0, "{passing}");
    let processor = |record: &Value| sum(record, "cpu_ns") + sum(record, "kernel_threads_ns");
    assert!(processor(&crypt) > processor(&plain), "{crypt}");
    // The table, as the kernel has it, without the key.
    let table = passing["applied"]["layer"].as_str().unwrap();
    assert!(table.ends_with("2 allow_discards no_write_workqueue"), "{table}");
    let reason = crypt["phases"][0]["ledger"]["reason"].as_str().unwrap();
    assert!(reason.contains("dm-crypt"), "{reason}");
    let again = trials(&place, CRYPT);
    for (first, second) in [plain, crypt, passing].iter().zip(&again) {
        assert_eq!(first["fingerprint"], second["fingerprint"]);
    }
}

fn stores() {
    let place = Place::new();
    let [plain, thin, image] = trials(&place, STORES).try_into().unwrap();
    for store in [&thin, &image] {
        assert_eq!(store["status"], "ok", "{store}");
        let written = |record| sum(record, "written_bytes");
        assert!(written(store) > written(&plain), "{store}");
    }
    assert!(image["applied"]["layer"].as_str().unwrap().contains("ext4"), "{image}");
    let again = trials(&place, STORES);
    for (first, second) in [plain, thin, image].iter().zip(&again) {
        assert_eq!(first["fingerprint"], second["fingerprint"]);
    }
}

fn trimming() {
    let plan = PLAN.replace("discard = \"on\"", "discard = \"fstrim\"");
    let place = Place::new();
    fs::write(place.path("plan.toml"), plan.replace("LAYERS", CRYPT)).unwrap();
    let mut command = place.command(&["run"]);
    let output = command.arg(place.path("plan.toml")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("dm-crypt takes no discards"), "{said}");
    assert!(said.contains("exclude = [{ layer = \"crypt\", discard = \"fstrim\" }]"), "{said}");
}

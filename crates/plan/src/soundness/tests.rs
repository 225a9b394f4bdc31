//! Schedules whose numbers were edited.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::{LabKind, Overrides, estimate, schedule};

const PLAN: &str = r#"
    name = "t"
    question = "?"
    [target]
    size = "64 GB"
    [factors]
    filesystem = ["ext4", "xfs"]
    [workload]
    tree = { files = 100, size = "1 MB" }
    build = { files = 100, size = "1 MB" }
    bonnie = { size = "16 MiB", files = "1:4096:0:2" }
    phases = [
        { do = "unpack" },
        { do = "clone" },
        { do = "make" },
        { do = "clean" },
        { do = "io", io = { size = "1 MiB", time = "1 s", rate = "100/s" } },
        { do = "io", name = "b", io = { size = "1 MiB", amount = "1 MiB" } },
        { do = "transactions", transactions = { time = "9 s", rate = "9/s", beside = "1 MB/s" } },
        { do = "transactions", name = "t", transactions = { number = 5 } },
        { do = "bonnie" },
        { do = "idle" },
        { do = "delete" },
        { do = "replay", log = "zstd-clone" },
    ]
    [[steps]]
    name = "one"
    keep = { filesystem = 1 }
    [[steps]]
    name = "two"
"#;

fn stored() -> Value {
    let overrides = Overrides { lab: Some(LabKind::Image), ..Overrides::default() };
    let schedule = schedule("t.toml", PLAN, &overrides, Path::new("/")).unwrap();
    assert_eq!(schedule.fault(), None);
    serde_json::to_value(&schedule).unwrap()
}

/// The places of all numbers, as JSON pointers; of lists the first and the last.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(all) => {
            let ends = [0, all.len().saturating_sub(1)];
            for index in ends.iter().take(all.len().min(2)) {
                numbers(&all[*index], &format!("{at}/{index}"), found);
            }
        }
        Value::Object(all) => {
            all.iter().for_each(|(key, value)| numbers(value, &format!("{at}/{key}"), found));
        }
        _ => {}
    }
}

/// Computes everything that is computed from a schedule that was read. Overflowing arithmetic
/// panics here.
fn use_it(schedule: &Schedule) {
    let _ = estimate(schedule);
    let _ = (schedule.expected_trials(), schedule.blocks(), schedule.phase_names());
    let _ = schedule.workload.files();
}

#[test]
fn a_number_that_somebody_has_changed_is_refused_or_harmless() {
    let stored = stored();
    let mut all = Vec::new();
    numbers(&stored, "", &mut all);
    // All phases, of which a list shows but its ends.
    for phase in 0..stored["workload"]["phases"].as_array().unwrap().len() {
        let at = format!("/workload/phases/{phase}");
        numbers(stored.pointer(&at).unwrap(), &at, &mut all);
    }
    assert!(all.len() > 60, "{all:?}");
    let mut refused = 0;
    for place in &all {
        for number in [json!(0), json!(1), json!(u32::MAX), json!(u64::MAX)] {
            let mut changed = stored.clone();
            *changed.pointer_mut(place).unwrap() = number;
            match serde_json::from_value::<Schedule>(changed) {
                Ok(schedule) if schedule.fault().is_none() => use_it(&schedule),
                _ => refused += 1,
            }
        }
    }
    assert!(refused > 40, "{refused}");
}

#[test]
fn what_no_plan_can_say_is_named() {
    let stored = stored();
    let io = "/workload/phases/4/action/io";
    let cases = [
        ("/workload/tree/synthetic/files".to_owned(), json!(u64::MAX), "where 1 to 5000000"),
        ("/workload/build/synthetic/bytes".to_owned(), json!(u64::MAX), "exceed the maximum"),
        ("/workload/bonnie/chunk_bytes".to_owned(), json!(0), "a chunk's size"),
        ("/workload/bonnie/files".to_owned(), json!(u64::MAX), "files"),
        (format!("{io}/file"), json!("../../etc/passwd"), "not a valid file name"),
        (format!("{io}/depth"), json!(0), "depth"),
        (format!("{io}/blocks/0/bytes"), json!(0), "a block's size"),
        (format!("{io}/period_ns"), json!(0), "rate"),
        ("/workload/phases/6/action/transactions/pages".to_owned(), json!(4000), "number of pages"),
        (
            "/workload/phases/6/action/transactions/database_pages".to_owned(),
            json!(u64::MAX),
            "maximum",
        ),
        (
            "/workload/phases/6/action/transactions/beside_bytes_per_second".to_owned(),
            json!(0),
            "rate of `beside`",
        ),
        ("/repetitions/least".to_owned(), json!(0), "number of blocks"),
        ("/steps/1/blocks".to_owned(), json!(u32::MAX), "steps overlap"),
        ("/trials/0/block".to_owned(), json!(u32::MAX), "block's number"),
        ("/trials/0/treatment".to_owned(), json!(9), "treatment does not exist"),
    ];
    let mut cut_off = stored.clone();
    // The image lab has no drive that can be cut off.
    cut_off["cuts"] = json!({ "of_trial": 10, "survivors": 1 });
    let schedule: Schedule = serde_json::from_value(cut_off).unwrap();
    assert!(schedule.fault().unwrap().contains("power cuts"));
    for (place, value, told) in cases {
        let mut changed = stored.clone();
        *changed.pointer_mut(&place).unwrap() = value;
        let schedule: Schedule = serde_json::from_value(changed).unwrap();
        let fault = schedule.fault().unwrap_or_default();
        assert!(fault.contains(told), "{place}: {fault}");
    }
    let mut changed = stored;
    let phases = changed["workload"]["phases"].as_array_mut().unwrap();
    phases.last_mut().unwrap()["action"]["replay"]["log"]["shipped"] = json!("none-such");
    let schedule: Schedule = serde_json::from_value(changed).unwrap();
    assert!(schedule.fault().unwrap().contains("no such log"));
}

//! The environments of a run's trials, which a reader compares before comparing numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ssdlab_plan::{CAPACITY_BYTES, Schedule};
use ssdlab_results::Record;

/// Each field of the records' environments, with every value that it had.
pub(super) fn of(records: &[Record]) -> BTreeMap<String, BTreeSet<String>> {
    let mut facts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut environments: Vec<_> = records.iter().map(|record| &record.environment).collect();
    // Runs are long, and their trials mostly ran on one machine.
    environments.dedup();
    for environment in environments {
        let environment = serde_json::to_value(environment).expect("it is plain data");
        let Value::Object(fields) = environment else { continue };
        for (name, value) in fields {
            let value = worded(&value);
            if !value.is_empty() {
                facts.entry(name).or_default().insert(value);
            }
        }
    }
    facts
}

/// The capacities in bytes of the devices that trials ran on; without records, the target's.
pub(super) fn capacities(schedule: &Schedule, records: &[Record]) -> BTreeSet<u64> {
    let of = |record: &Record| record.applied.get(CAPACITY_BYTES)?.parse().ok();
    let mut capacities: BTreeSet<u64> = records.iter().filter_map(of).collect();
    if capacities.is_empty() {
        capacities.extend(schedule.capacity_bytes());
    }
    capacities
}

/// Each setting for which the kernel reported the same value in every trial that has it.
pub(super) fn applied(records: &[Record]) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<&String, Option<&String>> = BTreeMap::new();
    for (name, value) in records.iter().flat_map(|record| &record.applied) {
        let known = settings.entry(name).or_insert(Some(value));
        *known = known.filter(|known| *known == value);
    }
    let alike = |(name, value): (&String, Option<&String>)| Some((name.clone(), value?.clone()));
    settings.into_iter().filter_map(alike).filter(|(_, value)| !value.is_empty()).collect()
}

fn worded(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(worded).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

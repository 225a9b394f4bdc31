//! Tests of the hosts that come with the program.

use super::*;
use ssdlab_flash::evidence::Value;

/// The values of a host file by their dotted keys.
fn values(text: &str) -> BTreeMap<String, Value> {
    let table: Table = toml::from_str(text).unwrap();
    let mut values = BTreeMap::new();
    for (key, value) in &table {
        match (key.as_str(), value) {
            ("description" | "evidence", _) => {}
            (_, toml::Value::Table(inner)) => values
                .extend(inner.iter().map(|(name, value)| (format!("{key}.{name}"), figure(value)))),
            (_, value) => {
                values.insert(key.clone(), figure(value));
            }
        }
    }
    values
}

fn figure(value: &toml::Value) -> Value {
    Value::of(value).unwrap()
}

#[test]
fn every_value_of_a_real_host_has_evidence_that_fits_it() {
    for preset in PRESETS.iter().filter(|preset| preset.name != "infinite") {
        let file: HostFile = toml::from_str(preset.text).unwrap();
        let values = values(preset.text);
        let with_evidence: Vec<&String> = file.evidence.keys().collect();
        assert_eq!(with_evidence, values.keys().collect::<Vec<_>>(), "{}", preset.name);
        for (key, value) in &values {
            let fault = file.evidence[key].get_ref().fault(key, value);
            assert_eq!(fault, None, "{}", preset.name);
        }
    }
}

#[test]
fn costs_are_told_to_the_kernel_in_its_units_and_order() {
    let text = "description = \"x\"\nns_per_block = 0.75\nns_per_call = 2\nmemory = \"1 GiB\"\n\
                [ns_per_kib]\ncopy = 3\ncrc32 = 4\nxxhash = 5\nsha256 = 6\nblake2 = 7\n";
    let host = toml::from_str::<HostFile>(text).unwrap().model("tried");
    assert_eq!(host.costs.to_string(), "750,2,3,4,5,6,7");
    assert_eq!(host.memory_bytes, 1 << 30);
}

#[test]
fn an_infinite_host_takes_no_time() {
    assert_eq!(find("infinite").unwrap().costs.to_string(), "0,0,0,0,0,0,0");
    assert!(find("abacus").is_none());
}

#[test]
fn values_of_a_host_are_shown_with_their_evidence() {
    let phenom = find("phenom-ii-x4-965").unwrap();
    let values = phenom.grounded();
    let copy = values.iter().find(|value| value.key == "ns_per_kib.copy").unwrap();
    assert_eq!(copy.value, "960");
    assert!(copy.evidence.is_some());
    assert_eq!(values.len(), 8);
}

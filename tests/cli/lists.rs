//! `ssdlab list`: what a plan can use, and all of it.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::Place;

#[test]
fn lists_name_what_a_plan_can_use() {
    let output = Place::new().ssdlab(&["list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["discard", "journal", "btrfs", "mq-deadline", "unpack, delete", "settled_ns"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn every_verb_of_a_plan_is_in_the_list_of_workloads() {
    let place = Place::new();
    let schema: Value = serde_json::from_slice(&place.ssdlab(&["schema"]).stdout).unwrap();
    let text = String::from_utf8(place.ssdlab(&["list", "workloads"]).stdout).unwrap();
    let rows = text.lines().filter_map(|line| line.trim_start().split_once("  "));
    let listed: BTreeSet<&str> = rows.flat_map(|(names, _)| names.split(", ")).collect();
    let verbs = schema["$defs"]["Verb"]["oneOf"].as_array().unwrap().iter();
    let verbs: BTreeSet<&str> = verbs.map(|verb| verb["const"].as_str().unwrap()).collect();
    assert_eq!(verbs.difference(&listed).collect::<Vec<_>>(), [] as [&&str; 0], "{text}");
}

/// Shipped plans are grouped by when their questions were asked; plan files in the folder follow.
#[test]
fn plans_are_listed_by_group() {
    let place = Place::new();
    let mine = "name = \"mine\"\nquestion = \"Is mine listed?\"\n\
                [workload]\nphases = [{ do = \"sync\" }]\n";
    fs::write(place.0.path().join("mine.toml"), mine).unwrap();
    fs::write(place.0.path().join("other.toml"), "[package]\nname = \"other\"\n").unwrap();
    let text = String::from_utf8(place.ssdlab(&["list", "plans"]).stdout).unwrap();
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
    let order = ["founding: ", " discard ", "yours: ", " mine.toml "].map(at);
    assert!(order.is_sorted(), "{text}");
    assert!(!text.contains("other.toml"), "{text}");

    let output = place.ssdlab(&["list", "plans", "--json"]);
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let plans = listed["lists"]["plans"].as_array().unwrap();
    let group = |name: &str| &plans.iter().find(|plan| plan["name"] == name).unwrap()["group"];
    assert_eq!((group("wear"), group("mine.toml")), (&"founding".into(), &"yours".into()));
}

//! `ssdlab who` on the machine of the tests, as whoever runs them; `since_boot/tests.rs` of the
//! command has other machines.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use super::Place;

#[test]
fn it_succeeds_on_any_machine_and_adds_up() {
    let place = Place::new();
    for format in [&["who"][..], &["who", "--markdown"]] {
        let output = place.ssdlab(format);
        assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    }
    let found: Value = serde_json::from_slice(&place.ssdlab(&["who", "--json"]).stdout).unwrap();
    for drive in found["devices"].as_array().unwrap() {
        let rows = drive["rows"].as_array().unwrap().iter();
        let rows: u64 = rows.map(|row| row["bytes"].as_u64().unwrap()).sum();
        assert_eq!(drive["attributed_bytes"].as_u64(), Some(rows));
    }
}

#[test]
fn a_target_without_a_drive_is_a_wrong_argument() {
    let place = Place::new();
    for target in ["/dev/nowhere", "nowhere", "/proc"] {
        let output = place.ssdlab(&["who", target]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(target) && text.contains("help:"), "{text}");
    }
}

/// `node_exporter` would read half a file.
#[test]
fn the_file_for_prometheus_is_whole_or_not_there() {
    let place = Place::new();
    let file = place.0.path().join("ssdlab.prom");
    let write = || place.ssdlab(&["who", "--prometheus", "ssdlab.prom"]);
    assert!(write().status.success() && file.exists());
    // Each line is a comment or a sample.
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.lines().all(|line| line.starts_with("# ") || line.starts_with("ssdlab_")));
    fs::remove_file(&file).unwrap();
    symlink("elsewhere", &file).unwrap();
    assert_eq!(write().status.code(), Some(1));
    let left = fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(left, 1, "only the link is there");
    let missing = place.ssdlab(&["who", "--prometheus", "nowhere/ssdlab.prom"]);
    assert_eq!(missing.status.code(), Some(1));
}

//! Questions without a plan file: the plan that they make, and what is refused.

use std::fs;

use super::Place;

const TREATMENTS: [&str; 2] = ["ext4:noatime,commit=60", "xfs:noatime"];

fn asked(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = place.ssdlab(&[&["ask"], arguments].concat());
    let [out, err] = [output.stdout, output.stderr].map(|of| String::from_utf8(of).unwrap());
    (output.status.code(), out, err)
}

#[test]
fn the_plan_that_a_question_makes_is_printed_and_can_be_checked() {
    let place = Place::new();
    let options = ["--do", "maildir", "--drive", "sata-tlc", "--print"];
    let (code, plan, told) = asked(&place, &[&TREATMENTS[..], &options[..]].concat());
    assert!(code == Some(0) && told.is_empty(), "{told}");
    insta::assert_snapshot!(plan);
    place.right(&plan);
    let checked = String::from_utf8(place.ssdlab(&["check", "plan.toml"]).stdout).unwrap();
    assert!(checked.contains("mount = noatime  against filesystem = ext4"), "{checked}");
}

#[test]
fn a_question_may_be_about_drives_and_metrics() {
    let place = Place::new();
    fs::write(
        place.0.path().join("mine.toml"),
        place.ssdlab(&["drive", "show", "sata-tlc"]).stdout,
    )
    .unwrap();
    let options = [
        "--do",
        "random-writes",
        "--drive",
        "./mine.toml,sata-tlc",
        "--metric",
        "flushes,written_bytes",
        "--print",
    ];
    let (code, plan, told) = asked(&place, &[&["ext4"], &options[..]].concat());
    assert_eq!(code, Some(0), "{told}");
    // From the root, so that the plan can be kept anywhere.
    assert!(plan.contains("/mine.toml\", \"sata-tlc\"]"), "{plan}");
    assert!(!plan.contains("./mine.toml"), "{plan}");
    assert!(plan.contains("metrics = [\"flushes\", \"written_bytes\"]"), "{plan}");
    place.right(&plan);
}

/// The messages are those of plans.
#[test]
fn what_cannot_be_asked_is_refused_with_what_can() {
    let place = Place::new();
    for (arguments, says) in [
        (&["--do", "maildir"][..], "FILESYSTEM[:OPTION,...]"),
        (&["ext4", "xfs"], "--do <WORK>"),
        (&["ext4", "--do", "mailbox"], "maildir, database, sqlite, kernel-tree, kernel-build"),
        (&["ext5", "xfs", "--do", "log"], "`ext5` is not a level of `filesystem`"),
        (&["xfs:commit=60", "--do", "log"], "xfs has no mount option"),
        (&["ext4", "ext4", "--do", "log"], "is listed twice"),
        (&["ext4", "--do", "log", "--metric", "writen_bytes"], "did you mean `written_bytes`?"),
        (&["ext4", "--do", "log", "--metric", "flushes,flushes"], "`flushes` is named twice"),
        (&["ext4", "--do", "log", "--metric", "reader.p99_ns"], "no phase has `reader.p99_ns`"),
        (&["ext4", "--do", "log", "--drive", "sata-tlx"], "sata-tlc"),
        (&["ext4", "--do", "log", "--drive", "sata-tlc", "--lab", "image"], "virtual lab"),
        (&["ext4:sync", "--do", "log", "--set", "mount=noatime"], "are those of [[treatments]]"),
        (&["ext4", "--do", "log", "--print", "--capacity", "64GB"], "'--capacity <SIZE>'"),
    ] {
        let (code, out, told) = asked(&place, arguments);
        assert!(code == Some(2) && out.is_empty() && told.contains(says), "{arguments:?}: {told}");
    }
}

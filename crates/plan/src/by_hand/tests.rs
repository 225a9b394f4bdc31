//! Tests of treatments that a plan lists.

use std::path::Path;

use crate::{Overrides, Schedule, schedule};

const LISTED: &str = r#"
    [[treatments]]
    filesystem = "ext4"
    [[treatments]]
    filesystem = "xfs"
    mount = "logbsize=256k"
    [[treatments]]
    filesystem = "ext4"
    mount = "commit=60"
"#;

fn read(factors: &str, listed: &str, set: &[&str]) -> Result<Schedule, String> {
    let text = format!(
        r#"
        name = "by-hand"
        question = "Which is faster?"
        {factors}
        [workload]
        tree = {{ files = 100, size = "1 MB" }}
        phases = [{{ do = "unpack" }}]
        {listed}
        "#
    );
    let set = set.iter().map(|own| (*own).to_owned()).collect();
    let overrides = Overrides { set, ..Overrides::default() };
    schedule("plan.toml", &text, &overrides, Path::new("/")).map_err(|error| error.to_string())
}

/// What was asked most: xfs as it is beside ext4 with an option that xfs does not have.
#[test]
fn treatments_are_those_of_the_list_and_compared_with_the_first() {
    let schedule = read("", LISTED, &[]).unwrap();
    let levels: Vec<String> = schedule.treatments.iter().map(|of| of.levels.to_string()).collect();
    assert_eq!(
        levels,
        [
            "filesystem = ext4, mount = defaults",
            "filesystem = xfs, mount = logbsize=256k",
            "filesystem = ext4, mount = commit=60",
        ]
    );
    let baselines: Vec<_> = schedule.treatments.iter().map(|of| of.baseline).collect();
    assert_eq!(baselines, [None, Some(0), Some(0)]);
}

#[test]
fn other_factors_are_combined_with_the_list() {
    let schedule = read("factors.atime = [\"noatime\", \"relatime\"]", LISTED, &[]).unwrap();
    assert_eq!(schedule.treatments.len(), 6);
    let second = schedule.treatments.iter().filter(|of| of.baseline.is_some()).count();
    assert_eq!(second, 4);
}

#[test]
fn what_contradicts_the_list_is_refused() {
    let one = "[[treatments]]\natime = \"noatime\"\n[[treatments]]";
    let twice = "[[treatments]]\n[[treatments]]\nmkfs = \"-b 1024\"\n[[treatments]]";
    let unknown = "[[treatments]]\nfilesystem = \"exfour\"";
    let cases: [(&str, &str, &[&str], &str); 5] = [
        ("factors.mount = \"defaults\"", LISTED, &[], "are those of [[treatments]]"),
        ("", LISTED, &["filesystem=xfs"], "are those of [[treatments]]"),
        ("", one, &[], "has no `atime`"),
        ("", twice, &[], "listed twice"),
        ("", unknown, &[], "exfour"),
    ];
    for (factors, listed, set, message) in cases {
        let said = read(factors, listed, set).map(|_| ()).unwrap_err();
        assert!(said.contains(message), "{said}");
    }
}

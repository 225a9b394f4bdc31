use std::ffi::OsStr;

use std::fs;

use super::*;

/// Without a name it is the last of three runs, with `discard` the last of its two.
#[test]
fn the_last_of_three_runs_and_the_last_of_discards_two_are_found() {
    let place = tempfile::tempdir().unwrap();
    let results = ResultsArguments { results: Some(place.path().to_owned()) };
    assert!(results.find_or_last(None).is_err());
    for run in ["discard-20261127-235959", "discard-20261128-000001", "journal-20261128-000002"] {
        fs::create_dir(place.path().join(run)).unwrap();
        fs::write(place.path().join(run).join("schedule.json"), "{}").unwrap();
    }
    fs::create_dir(place.path().join("discard-20261129-000000")).unwrap();
    let found = |named: Option<&str>| {
        let path = results.find_or_last(named.map(Path::new)).unwrap();
        path.file_name().and_then(OsStr::to_str).unwrap().to_owned()
    };
    assert_eq!(found(None), "journal-20261128-000002");
    assert_eq!(found(Some("discard")), "discard-20261128-000001");
    assert_eq!(found(Some("discard-20261127-235959")), "discard-20261127-235959");
    assert_eq!(found(Some("wear")), "wear");
}

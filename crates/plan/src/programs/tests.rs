//! Programs are found by name in the virtual lab.

use std::path::Path;

use crate::Overrides;
use crate::lab_kind::LabKind;
use crate::schedule::Schedule;

fn schedule(keys: &str, lab: LabKind) -> Result<Schedule, String> {
    let plan = format!(
        r#"
        name = "programs"
        question = "Which programs?"
        factors = {{ filesystem = "ext4" }}
        {keys}
        "#
    );
    let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
    crate::schedule("plan.toml", &plan, &overrides, Path::new("/"))
        .map_err(|error| format!("{:?}", miette::Report::new(error)))
}

const WORK: &str = r#"
    [workload]
    programs = ["sqlite3"]
    phases = [{ do = "command", run = "sh -c 'sqlite3 db <work.sql'" }]
"#;

#[test]
fn all_programs_of_a_plan_are_known() {
    let schedule = schedule(WORK, LabKind::Virtual).unwrap();
    assert_eq!(schedule.programs().into_iter().collect::<Vec<_>>(), ["sh", "sqlite3"]);
    assert_eq!(schedule.fault(), None);
    let edited = serde_json::to_string(&schedule).unwrap().replace("\"sh\"", "\"/bin/sh\"");
    let edited: Schedule = serde_json::from_str(&edited).unwrap();
    assert!(edited.fault().unwrap().contains("no name that guests can find"));
}

#[test]
fn the_virtual_lab_takes_names_and_no_paths() {
    let keys = "[workload]\nphases = [{ do = \"command\", run = \"./work\" }]";
    let error = schedule(keys, LabKind::Virtual).unwrap_err();
    assert!(error.contains("not by a path: `./work`") && error.contains("PATH"), "{error}");
    schedule(keys, LabKind::Image).unwrap();
}

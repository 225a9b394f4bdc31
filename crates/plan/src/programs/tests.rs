//! Programs are found by name in the virtual lab, and a check needs something to check.

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
    crate::schedule("plan.toml", &plan, &overrides, Path::new("/")).map_err(|error| {
        let mut text = String::new();
        // Complete and unwrapped, whatever the terminal's width.
        miette::JSONReportHandler::new().render_report(&mut text, &error).unwrap();
        text
    })
}

const WORK: &str = r#"
    [workload]
    programs = ["sqlite3"]
    phases = [{ do = "command", run = "sh -c 'sqlite3 db <work.sql'" }]
"#;

#[test]
fn all_programs_of_a_plan_are_known() {
    let keys = format!("cuts = {{ number = 10, check = \"git fsck\" }}\n{WORK}");
    let schedule = schedule(&keys, LabKind::Virtual).unwrap();
    assert_eq!(schedule.programs().into_iter().collect::<Vec<_>>(), ["git", "sh", "sqlite3"]);
    assert_eq!(schedule.fault(), None);
    let edited = serde_json::to_string(&schedule).unwrap().replace("\"git\"", "\"/bin/git\"");
    let edited: Schedule = serde_json::from_str(&edited).unwrap();
    assert!(edited.fault().unwrap().contains("no name that guests can find"));
}

#[test]
fn the_virtual_lab_takes_names_and_no_paths() {
    let keys = "[workload]\nphases = [{ do = \"command\", run = \"./work\" }]";
    let error = schedule(keys, LabKind::Virtual).unwrap_err();
    assert!(error.contains("not by a path: `./work`") && error.contains("PATH"), "{error}");
    schedule(keys, LabKind::Image).map(drop).unwrap();
}

#[test]
fn power_cuts_need_something_to_judge() {
    let error = schedule(&format!("cuts = {{ number = 10 }}\n{WORK}"), LabKind::Virtual);
    let error = error.unwrap_err();
    assert!(error.contains("nothing says what files must hold"), "{error}");
    let error =
        schedule(&format!("cuts = {{ number = 10, check = [] }}\n{WORK}"), LabKind::Virtual);
    assert!(error.unwrap_err().contains("no program is given"));
}

#[test]
fn claims_are_about_what_the_plan_judges() {
    let of = |cuts: &str, metric: &str, phase: &str| {
        let claim = format!(
            "[[claims]]\nid = \"c\"\nsays = \"?\"\nmetric = \"{metric}\"\n\
             phases = [\"{phase}\"]\ncompare = {{ filesystem = \"ext4\" }}\nat_most = 0"
        );
        let work = if phase == "append" {
            "[workload]\nphases = [{ do = \"append\", append = { records = 10 } }]"
        } else {
            WORK
        };
        schedule(&format!("cuts = {{ {cuts} }}\n{work}\n{claim}"), LabKind::Virtual)
    };
    let check = "number = 10, check = \"true\"";
    of(check, "rejected", "command").map(drop).unwrap();
    of(check, "unmountable", "command").map(drop).unwrap();
    of("number = 10", "damaged", "append").map(drop).unwrap();
    let error = of("number = 10", "rejected", "append").unwrap_err();
    assert!(error.contains("what the plan's own check says, and it has none"), "{error}");
    let error = of(check, "broken_promises", "command").unwrap_err();
    assert!(error.contains("needs files that record what they must hold"), "{error}");
}

//! Words that are almost right: what is suggested instead, and what never is.

use std::fs;

use super::Place;

fn told(place: &Place, arguments: &[&str]) -> String {
    let output = place.ssdlab(arguments);
    let says = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {says}");
    says.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_that_does_not_exist_is_told_with_the_latest_of_a_similar_name() {
    let place = Place::new();
    for run in ["discard-20260101-120000", "discard-20260202-120000", "journal-20260303-120000"] {
        let folder = place.0.path().join("runs").join(run);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("schedule.json"), "").unwrap();
    }
    let says = told(&place, &["report", "discard-9", "--results", "runs"]);
    assert!(says.contains("did you mean `discard-20260202-120000`?"), "{says}");
    let says = told(&place, &["report", "quite-another", "--results", "runs"]);
    assert!(!says.contains("did you mean"), "{says}");
}

#[test]
fn a_plan_without_a_name_is_told_what_can_be_named() {
    let says = told(&Place::new(), &["check", ""]);
    assert!(says.contains("the name of the plan is empty"), "{says}");
    assert!(says.contains("name a TOML file or a shipped plan: "), "{says}");
}

#[test]
fn commands_that_ssdlab_runs_itself_are_never_suggested() {
    let place = Place::new();
    for word in ["guess", "nod"] {
        let says = told(&place, &[word]);
        let hidden = ["guest", "node"].iter().find(|name| {
            says.contains(&format!("'{name}'")) || says.contains(&format!("`{name}`"))
        });
        assert_eq!(hidden, None, "{says}");
    }
    assert!(told(&place, &["reprot"]).contains("'report'"));
    assert!(told(&place, &["schema", "plans"]).contains("'plan'"));
    // They still work.
    assert!(place.ssdlab(&["names", "plans"]).status.success());
}

use std::path::Path;

use super::*;
use crate::{LabKind, Overrides, PlanError, schedule};

fn of(rest: &str, lab: LabKind) -> Result<Schedule, PlanError> {
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n{rest}\n[workload]\nphases = [{{ do = \"sync\" }}]\n"
    );
    let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
    schedule("p.toml", &plan, &overrides, Path::new("/"))
}

fn features(schedule: &Schedule, treatment: usize) -> Vec<String> {
    schedule.features(treatment).into_iter().collect()
}

#[test]
fn a_treatment_needs_what_the_plan_and_its_own_levels_say() {
    let rest = "[needs]\nfeatures = [\"big\"]\n[factors]\nnode_feature = [\"ssd=a\", \"ssd=b\"]";
    let schedule = of(rest, LabKind::Image).unwrap();
    assert_eq!(features(&schedule, 0), ["big", "ssd=a"]);
    assert_eq!(features(&schedule, 1), ["big", "ssd=b"]);
    assert_eq!(schedule.needed_drive(1).unwrap(), "b");
    let schedule = of("[needs]\ndrive = \"x25m\"", LabKind::Device).unwrap();
    assert_eq!(schedule.needed_drive(0).unwrap(), "x25m");
}

#[test]
fn what_no_node_can_have_is_refused() {
    for rest in [
        "[needs]\ndrive = \"a&b\"",
        "[needs]\nfeatures = [\"\"]",
        "[needs]\nfeature = [\"typo\"]",
        "[factors]\nnode_feature = [\"a b\"]",
        "[needs]\ndrive = \"a\"\n[factors]\nnode_feature = [\"ssd=a\", \"ssd=b\"]",
    ] {
        assert!(of(rest, LabKind::Image).is_err(), "{rest}");
    }
    assert!(of("[needs]\nfeatures = [\"big\"]", LabKind::Device).is_err());
}

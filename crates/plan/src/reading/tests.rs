use super::*;
use crate::schedule::Action;

/// Resolves a plan with these phases; the error is its message.
fn plan(phases: &str) -> Result<Vec<Action>, String> {
    let text = format!("name = \"x\"\nquestion = \"?\"\n[workload]\nphases = [{phases}]\n");
    let base = std::path::Path::new("/");
    let schedule = crate::schedule("plan.toml", &text, &crate::Overrides::default(), base);
    let phases = schedule.map_err(|error| error.to_string())?.0.workload.phases;
    Ok(phases.into_iter().map(|phase| phase.action).collect())
}

#[test]
fn a_tree_is_read_in_the_order_of_its_directories_by_default() {
    let unpacked = "{ do = \"unpack\" }, ";
    let order = |read: &str| plan(&format!("{unpacked}{read}")).unwrap().pop();
    let directory = Some(Action::Read { order: ReadOrder::Directory });
    assert_eq!(order("{ do = \"read\" }"), directory);
    let random = Some(Action::Read { order: ReadOrder::Random });
    assert_eq!(order("{ do = \"read\", order = \"random\" }"), random);
}

#[test]
fn what_is_not_there_cannot_be_read() {
    for (phases, told) in [
        ("{ do = \"read\" }", "no tree to read"),
        ("{ do = \"clone\" }, { do = \"read\" }", "no tree to read"),
        ("{ do = \"unpack\" }, { do = \"delete\" }, { do = \"read\" }", "no tree to read"),
        ("{ do = \"unpack\", order = \"random\" }", "`order` does not apply"),
    ] {
        let message = plan(phases).unwrap_err();
        assert!(message.contains(told), "{phases}: {message}");
    }
}

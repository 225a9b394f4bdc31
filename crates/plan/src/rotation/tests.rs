use super::*;
use crate::schedule::Action;

/// Resolves a plan with this phase at half its scale; the error is its message.
fn plan_of(phases: &str) -> Result<Rotate, String> {
    let text = format!("name = \"x\"\nquestion = \"?\"\n[workload]\nphases = [{phases}]\n");
    let overrides = crate::Overrides { scale: Some(0.5), ..Default::default() };
    let schedule = crate::schedule("plan.toml", &text, &overrides, std::path::Path::new("/"));
    let schedule = schedule.map_err(|error| error.to_string())?;
    match &schedule.workload.phases[0].action {
        Action::Rotate(work) => Ok(*work),
        other => panic!("{other:?}"),
    }
}

fn plan(rotate: &str) -> Result<Rotate, String> {
    plan_of(&format!("{{ do = \"rotate\", rotate = {{ {rotate} }} }}"))
}

#[test]
fn defaults_are_explicit_and_only_records_are_scaled() {
    let rotate = plan("records = 1000").unwrap();
    assert_eq!((rotate.records, rotate.size_bytes, rotate.keep), (500, 1 << 20, 4));
    assert_eq!((rotate.compress, rotate.written_bytes()), (false, 250_000));
    let rotate = plan("records = 2, size = \"500 B\", keep = 1, compress = true").unwrap();
    assert!(rotate.compress);
}

#[test]
fn what_cannot_be_rotated_is_refused() {
    for (rotate, told) in [
        ("records = 0", "1 to 100000000 records"),
        ("records = 1, size = 499", "at least one record's 500 B"),
        ("records = 1, size = \"2 PiB\"", "exceed the maximum"),
        ("records = 1, keep = 0", "1 to 1000 old logs"),
        ("size = 1000", "missing field `records`"),
    ] {
        let message = plan(rotate).unwrap_err();
        assert!(message.contains(told), "{rotate}: {message}");
    }
}

#[test]
fn a_workload_has_one_such_phase_with_its_table() {
    let phase = "{ do = \"rotate\", rotate = { records = 1 } }";
    let again = phase.replace("{ do", "{ name = \"again\", do");
    for (phases, told) in [
        ("{ do = \"rotate\" }", "needs `rotate`"),
        ("{ do = \"sync\", rotate = { records = 1 } }", "`rotate` does not apply"),
        (&format!("{phase}, {again}"), "the phase `rotate` already has these files"),
    ] {
        let message = plan_of(phases).unwrap_err();
        assert!(message.contains(told), "{phases}: {message}");
    }
}

use super::*;

#[test]
fn a_runs_name_tells_its_plan_and_its_time() {
    let of = |plan: &str, number: u64| {
        Some(RunName { plan: plan.to_owned(), began: (20_261_128, 174_007, number) })
    };
    for (name, run) in [
        ("discard-20261128-174007", of("discard", 1)),
        ("my-own-20261128-174007", of("my-own", 1)),
        ("discard-20261128-174007-12", of("discard", 12)),
    ] {
        assert_eq!(RunName::parse(name), run);
        assert_eq!(run.unwrap().to_string(), name);
    }
    for other in ["discard", "discard-20261128", "discard-20261128-174007-shrunk", "a-b-c"] {
        assert_eq!(RunName::parse(other), None, "{other}");
    }
    let now = RunName::now("p-1");
    assert_eq!(RunName::parse(&now.to_string()), Some(now));
}

use super::{Moment, Outcome};
use crate::Verdict;

fn outcome() -> Outcome {
    Outcome {
        cut: 3,
        survivor: 0,
        at_ns: 10,
        moment: Moment::Event,
        phase: "append".to_owned(),
        unmountable: None,
        recovery_ns: Some(1000),
        amiss: None,
        unchecked: false,
        verdict: Some(Verdict::default()),
    }
}

#[test]
fn outcomes_agree_on_what_was_found_and_not_on_how_long_it_took_or_was_put() {
    let other_time = Outcome { recovery_ns: Some(1001), ..outcome() };
    assert!(outcome().agrees_with(&other_time));
    let amiss = |says: &str| Outcome { amiss: Some(says.to_owned()), ..outcome() };
    assert!(amiss("block 7").agrees_with(&amiss("block 8")));
    assert!(!outcome().agrees_with(&amiss("block 7")));
    assert!(!outcome().agrees_with(&Outcome { at_ns: 11, ..outcome() }));
    let broken = Verdict { broken_promises: 1, ..Verdict::default() };
    assert!(!outcome().agrees_with(&Outcome { verdict: Some(broken), ..outcome() }));
}

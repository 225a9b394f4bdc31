use super::{CutMoment, CutOutcome, DataVerdict, Finding};
use crate::cuts::{CutVerdict, Damage};

fn outcome() -> CutOutcome {
    CutOutcome {
        cut: 3,
        survivor: 0,
        state: None,
        at_ns: 10,
        moment: CutMoment::Event,
        phase: "append".to_owned(),
        unmountable: None,
        recovery_ns: Some(1000),
        amiss: None,
        unchecked: false,
        checked_before: None,
        unpromised: None,
        verdict: Some(CutVerdict::default()),
        data: None,
    }
}

#[test]
fn outcomes_agree_on_what_was_found_and_not_on_how_long_it_took_or_was_put() {
    let other_time = CutOutcome { recovery_ns: Some(1001), ..outcome() };
    assert!(outcome().agrees_with(&other_time));
    let amiss = |says: &str| CutOutcome { amiss: Some(says.to_owned()), ..outcome() };
    assert!(amiss("block 7").agrees_with(&amiss("block 8")));
    assert!(!outcome().agrees_with(&amiss("block 7")));
    assert!(!outcome().agrees_with(&CutOutcome { at_ns: 11, ..outcome() }));
    let data = |data| CutOutcome { data: Some(data), ..outcome() };
    let rejected = |says: &str| data(DataVerdict::Rejected(says.to_owned()));
    assert!(rejected("row 7").agrees_with(&rejected("row 8")));
    assert!(!rejected("row 7").agrees_with(&data(DataVerdict::Accepted)));
    let broken = CutVerdict { broken_promises: 1, ..CutVerdict::default() };
    assert!(!outcome().agrees_with(&CutOutcome { verdict: Some(broken), ..outcome() }));
}

#[test]
fn the_worst_finding_is_the_one_that_nothing_forgives() {
    let with = |broken_promises, damaged: u32| CutVerdict {
        broken_promises,
        damaged: (damaged > 0).then_some((Damage::Empty, damaged)).into_iter().collect(),
        ..CutVerdict::default()
    };
    let found = |verdict| CutOutcome { verdict: Some(verdict), ..outcome() };
    let amiss = CutOutcome { amiss: Some("block 7".to_owned()), ..found(with(0, 0)) };
    let gone = CutOutcome { unmountable: Some("?".to_owned()), verdict: None, ..amiss.clone() };
    assert_eq!(outcome().worst(), None);
    assert_eq!(amiss.worst(), Some(Finding::Amiss));
    assert_eq!(gone.worst(), Some(Finding::Unmountable));
    assert_eq!(found(with(0, 2)).worst(), Some(Finding::Damaged));
    assert_eq!(found(with(1, 2)).worst(), Some(Finding::BrokenPromise));
    let data = |data| CutOutcome { data: Some(data), ..found(with(0, 2)) };
    let rejected = data(DataVerdict::Rejected("row 7".to_owned()));
    assert_eq!(rejected.worst(), Some(Finding::Rejected));
    assert_eq!(data(DataVerdict::Accepted).worst(), Some(Finding::Damaged));
    assert_eq!(outcome().has(Finding::Rejected), None, "there is no check");
    assert_eq!(gone.has(Finding::BrokenPromise), None, "nobody could look");
    let unchecked = CutOutcome { unchecked: true, ..outcome() };
    assert_eq!(unchecked.has(Finding::Amiss), None);
}

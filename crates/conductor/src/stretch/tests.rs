//! Tests of when a treatment hurts.

use ssdlab_plan::Factor;

use super::*;

fn levels(mount: &str) -> Levels {
    Levels(BTreeMap::from([(Factor::Mount, mount.to_owned())]))
}

fn burden(ms: f64, full_percent: f64) -> Burden {
    Burden { requests: 1_000, request_ns: ms * 1e6, full_percent }
}

fn history(others: &[Burden]) -> StretchHistory {
    StretchHistory { burdens: BTreeMap::from([(levels("defaults"), others.to_vec())]) }
}

#[test]
fn a_treatment_hurts_if_requests_take_ten_times_as_long() {
    let before = history(&[burden(1.0, 0.0), burden(2.0, 0.0)]);
    let harm = |own| before.harm(&levels("commit=1"), own);
    assert_eq!(harm(burden(19.0, 0.0)), None);
    let says = harm(burden(21.0, 0.0)).unwrap();
    assert!(says.contains("21 ms") && says.contains("10 times"), "{says}");
    assert_eq!(harm(Burden { requests: 5, ..burden(21.0, 0.0) }), None);
}

#[test]
fn a_treatment_hurts_if_everybody_waits() {
    let before = history(&[burden(1.0, 1.0), burden(1.0, 5.5)]);
    let harm = |own| before.harm(&levels("commit=1"), own);
    assert_eq!(harm(burden(1.0, 54.0)), None);
    assert!(harm(burden(1.0, 56.0)).unwrap().contains("56 %"));
}

#[test]
fn what_is_not_long_or_has_nothing_to_compare_with_does_not_hurt() {
    let quick = history(&[burden(0.1, 0.0), burden(0.1, 0.0)]);
    assert_eq!(quick.harm(&levels("commit=1"), burden(9.0, 0.0)), None);
    let own = history(&[burden(1.0, 0.0), burden(1.0, 0.0)]);
    assert_eq!(own.harm(&levels("defaults"), burden(100.0, 0.0)), None);
    let once = history(&[burden(1.0, 0.0)]);
    assert_eq!(once.harm(&levels("commit=1"), burden(100.0, 0.0)), None);
}

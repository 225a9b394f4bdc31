//! Tests of where verdicts flip.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

#[test]
fn a_flip_is_reported_where_trials_between_failed_at_a_value_that_was_tried() {
    let parameter = Parameter {
        model: Model::Drive("any".to_owned()),
        key: "nand.program_latency".to_owned(),
        published: Value::Number(10.0),
        is_amount: true,
        ends: Vec::new(),
    };
    let (id, claim, treatments) = ("slow".to_owned(), "slow".to_owned(), BTreeSet::new());
    let standing = CaseByBlock {
        subject: CaseSubject { id, claim, treatments },
        holds: BTreeMap::from([(0, true)]),
        values: BTreeMap::new(),
    };
    let [same, other] = [10.0, 1000.0].map(Value::Number);
    let mut bracket =
        Bracket { parameter: &parameter, standing: &standing, same, other, has_failed: false };
    bracket.narrow(Value::Number(100.0), Some(false));
    assert_eq!(bracket.other, Value::Number(100.0));
    assert!(bracket.middle().is_some());
    bracket.narrow(Value::Number(30.0), None);
    assert_eq!((bracket.middle(), bracket.other), (None, Value::Number(100.0)));
}

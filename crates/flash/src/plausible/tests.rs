//! Tests of the values between two ends.

use super::{PlausibleValues, Range};
use crate::evidence::Value;

fn between(least: &Value, most: &Value) -> PlausibleValues {
    let ((unit, least), (_, most)) = (least.amount().unwrap(), most.amount().unwrap());
    PlausibleValues::Range(Range { unit, least, most })
}

fn texts(least: &str, most: &str) -> PlausibleValues {
    between(&Value::Text(least.to_owned()), &Value::Text(most.to_owned()))
}

#[test]
fn the_logarithm_is_spread_evenly_and_the_unit_kept() {
    for (least, most, middle) in [
        ("50 us", "5 ms", "500000 ns"),
        ("1 MiB", "4 MiB", "2097000 B"),
        ("100 MB/s", "400 MB/s", "200000000 B/s"),
        ("1 %", "4 %", "2 %"),
    ] {
        assert_eq!(texts(least, most).at(1 << 31), Value::Text(middle.to_owned()), "{least}");
    }
    let spread = between(&Value::Number(0.03), &Value::Number(0.12));
    assert_eq!(spread.at(1 << 31), Value::Number(0.06));
    let from_zero = between(&Value::Number(0.0), &Value::Number(0.5));
    assert_eq!(from_zero.at(1 << 31), Value::Number(0.25));
}

#[test]
fn ends_are_kept_to_and_reached() {
    let spread = texts("29760 ns", "41761 ns");
    assert_eq!(spread.at(0), Value::Text("29760 ns".to_owned()));
    assert_eq!(spread.at(u32::MAX), Value::Text("41760 ns".to_owned()));
    let whole = between(&Value::Integer(1), &Value::Integer(3));
    let all: Vec<Value> = (0..8).map(|part| whole.at(part << 29)).collect();
    assert_eq!(all.first(), Some(&Value::Integer(1)));
    assert_eq!(all.last(), Some(&Value::Integer(3)));
    assert!(all.contains(&Value::Integer(2)));
}

#[test]
fn choices_take_turns() {
    let spread =
        PlausibleValues::Choices(vec![Value::Integer(10), Value::Integer(20), Value::Integer(40)]);
    let found = [0, 1 << 31, u32::MAX].map(|part| spread.at(part));
    assert_eq!(found, [Value::Integer(10), Value::Integer(20), Value::Integer(40)]);
}

use super::*;

#[test]
fn a_value_is_shown_without_errors_of_rounding() {
    let shown = |number: f64| value(&Value::Number(number));
    assert_eq!(shown(0.05 * 1.04), "0.052");
    assert_eq!(
        [shown(1.0 / 3.0), shown(1e9), shown(-2.5)],
        ["0.333333333333", "1000000000", "-2.5"]
    );
}

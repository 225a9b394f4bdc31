use super::*;

#[test]
fn bars_are_drawn_to_an_eighth_and_never_vanish() {
    assert_eq!(drawn(1.0, 4), "████");
    assert_eq!(drawn(0.5, 5), "██▌");
    assert_eq!(drawn(0.001, 8), "▏");
    assert_eq!(drawn(0.0, 8), "");
}

#[test]
fn numbers_of_bars_differ_where_the_bars_do() {
    assert_eq!(distinct_digits(&[218.0, 211.0, 50.0]), 3);
    assert_eq!(distinct_digits(&[41.0, 0.57]), 2);
    // Nobody sees a difference of a thousandth.
    assert_eq!(distinct_digits(&[1000.0, 1001.0]), 2);
}

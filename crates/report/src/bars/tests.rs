use super::*;

#[test]
fn bars_are_drawn_to_an_eighth_and_never_vanish() {
    assert_eq!(drawn(1.0, 4), "████");
    assert_eq!(drawn(0.5, 5), "██▌");
    assert_eq!(drawn(0.001, 8), "▏");
    assert_eq!(drawn(0.0, 8), "");
}

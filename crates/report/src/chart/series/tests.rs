use super::*;

#[test]
fn steps_are_taken_together_until_they_are_few() {
    assert_eq!(coarse_enough(10, 640.0, 64.0), 10);
    assert_eq!(coarse_enough(10, 641.0, 64.0), 20);
    assert_eq!(coarse_enough(10, 1e300, 64.0), 10 << 60);
}

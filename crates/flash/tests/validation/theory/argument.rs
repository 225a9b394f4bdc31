//! Defines the checks of arguments that the formulae share.

/// Panics unless `value` lies strictly between 0 and 1.
pub fn assert_fraction(name: &str, value: f64) {
    assert!(value > 0.0 && value < 1.0, "{name} must lie strictly between 0 and 1, but is {value}");
}

/// Panics unless `pages_per_block` is at least 1.
pub fn assert_block(pages_per_block: u32) {
    assert!(pages_per_block > 0, "a block must have at least 1 page");
}

//! Defines the searches for a root and for a minimum that several formulae end in.
//!
//! Both only ever halve or shrink a bracket, so they cannot run away and need no derivative.

/// More halvings than a bracket of ordinary numbers can take before it is as narrow as rounding.
const HALVINGS: u32 = 100;

/// Where `falling`, which is above 0 at `low` and below 0 at `high`, changes sign.
pub fn of_falling(mut low: f64, mut high: f64, falling: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if falling(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The place of the minimum of `valley`, which has only one, between `low` and `high`.
///
/// Golden-section search (Kiefer 1953, "Sequential minimax search for a maximum", Proceedings of
/// the American Mathematical Society 4). The flatter the minimum, the less exact is its place, but
/// the value there is exact to about 12 digits. Of equally low places it is any.
pub fn of_minimum(mut low: f64, mut high: f64, valley: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (valley(left), valley(right));
    while high - low > 1e-13 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = valley(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = valley(right);
        }
    }
    f64::midpoint(low, high)
}

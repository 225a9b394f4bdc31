use super::*;
use proptest::prelude::*;

fn ramp() -> SizeQuantiles {
    SizeQuantiles(std::array::from_fn(|entry| entry_position(entry) >> 12))
}

#[test]
fn values_lie_on_the_lines_between_quantiles() {
    let ramp = ramp();
    for position in [0, 1 << 12, END / 3, END - (1 << 20), END] {
        assert_eq!(ramp.at(position), position >> 12);
    }
}

#[test]
fn a_spread_follows_the_distribution() {
    let values: Vec<u64> = ramp().spread(4).collect();
    assert_eq!(values, [1 << 17, 3 << 17, 5 << 17, 7 << 17]);
}

proptest! {
    #[test]
    fn shares_add_up(
        total in 0..u64::MAX / 2,
        weights in prop::collection::vec(0_u64..1 << 40, 1..50),
    ) {
        let shares = apportion(total, &weights);
        let sum: u64 = shares.iter().sum();
        let expected = if weights.iter().any(|&w| w > 0) { total } else { 0 };
        prop_assert_eq!(sum, expected);
    }
}
